// Package probe stresses a judge with answers whose worth is known.
//
// From the user's own items [Make] makes answers that are wrong in a certain way
// (another item's reference, a number off by one, half of a list, a vague phrase,
// an instruction to the judge) and answers that are right though they look
// different (other order, other spelling, more words). Each is an ordinary item
// with another response, so it is judged, kept and paid for like any other. A
// [Builder] then makes a [Card] of the records: which wrong answers the judge
// accepts, and which right ones it rejects.
//
//	set, err := probe.Make(items, probe.Options{Seed: 1})
//	for rec, err := range deem.Run(ctx, set.Items(), j, deem.Options{}) {
//		b.Add(rec)
//	}
//	card := b.Card()
//
// No model is asked to make a probe, and the same seed makes the same probes. A
// generator that cannot be sure of what it makes says that it does not apply:
// few probes that mean something are worth more than many that may not.
package probe
