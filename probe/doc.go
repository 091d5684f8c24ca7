// Package probe tests a judge with answers that are known to be right or wrong.
//
// From the user's items, [Make] makes answers that are wrong in a certain way (another
// item's reference, a number off by one, half of a list, a vague phrase, an instruction to
// the judge) and answers that are right but look different (other order, other spelling,
// more words). Each is an ordinary item with a different response, so it is judged, stored
// and paid for like any other. [NewCard] then makes a [Card] from the records: which wrong
// answers the judge accepts, and which right ones it rejects.
//
//	set, err := probe.Make(items, probe.Options{Seed: 1})
//	card, err := probe.NewCard(probe.Head{Judge: j.Name()}, deem.Run(ctx, set.Items(), j, deem.Options{}))
//
// Probes are made without a model, and the same seed makes the same probes. A generator
// that cannot be certain of its result does not apply to the item: a few reliable probes
// are better than many doubtful ones.
package probe
