package probe

import (
	"slices"
	"sync"
)

// The kinds that the code names.
const (
	kindOther        = "other"
	kindContradicted = "contradicted"
	kindInvented     = "invented"
	kindPadded       = "padded"
	kindShotgun      = "shotgun"
	kindInjection    = "injection"
	kindReference    = "reference"
	kindBuried       = "buried"
)

// A row describes one kind. make makes the response of a probe, and reports whether the kind
// applies to the item.
type row struct {
	kind     string
	want     bool
	answered bool // applies only to items that have an answer
	about    string
	make     func(s subject) (response string, ok bool)
}

// table lists all kinds in the order of a card, wrong answers first. kindInjection makes the
// answer that the strings of the kit are appended to, one after another. An empty response
// to a question without an answer may count as right, so "empty" wants an answer.
var table = []row{
	{kindOther, false, true, "another item's reference of the same type", makeWrong},
	{"number", false, true, "a number is another one", makeNumber},
	{"date", false, true, "a date is months or years away", makeDate},
	{"name", false, true, "a name is another one", makeName},
	{"off-by-one", false, true, "a number or a day is the next one", makeOffByOne},
	{"stale", false, false, "what was right before an update", makeStale},
	{"partial", false, false, "a part of a list is missing", makePartial},
	{"vague", false, true, "topical, but says less than was asked", makeVague},
	{kindContradicted, false, true, "the right answer, and then its denial", makeContradicted},
	{"unknown", false, true, "\"I don't know\" where there is an answer", makeUnknown},
	{kindInvented, false, false, "a fact where there is nothing to know", makeInvented},
	{kindPadded, false, false, "a wrong answer in a long text", makePadded},
	{"empty", false, true, "no text at all", makeEmpty},
	{kindShotgun, false, true, "the right answer among several of its kind", makeShotgun},
	{"swapped-roles", false, true, "two names have changed places", makeSwappedRoles},
	{kindInjection, false, false, "a wrong answer, and instructions to the judge", makeWrong},
	{kindReference, true, false, "the reference itself", makeReference},
	{"reordered", true, false, "a list in another order", makeReordered},
	{"number-words", true, false, "three for 3, or 3 for three", makeNumberWords},
	{"date-format", true, false, "a date written in another way", makeDateFormat},
	{"casing", true, false, "other upper and lower case", makeCasing},
	{"polite", true, false, "with courtesies around it", makePolite},
	{"detail", true, false, "with a further detail that is right", makeDetail},
	{kindBuried, true, false, "in a long text", makeBuried},
	{"translated", true, false, "in another language", makeTranslated},
	{"correction", true, true, "a wrong answer that is taken back for the right one", makeCorrection},
	{"format", true, false, "in a table, a list, code or JSON", makeFormat},
	{"long-preamble", true, false, "at the end of a long text", makePreamble},
	{"other-language", true, false, "in a sentence of another language", makeLanguage},
}

// rows returns the kinds of the table, followed by those of the sets.
var rows = sync.OnceValue(func() []row {
	all := slices.Clone(table)
	for _, c := range setCases() {
		all = append(all, row{kind: c.Kind, want: c.Want, about: c.About})
	}
	return all
})

// Kinds returns the names of all kinds of probes in the order of a card: those that [Make]
// makes, and those in the sets of [Shipped].
func Kinds() []string { return kindsOf(rows()) }

func kindsOf(list []row) []string {
	kinds := make([]string, len(list))
	for i, r := range list {
		kinds[i] = r.kind
	}
	return kinds
}

// place returns the row of a kind, or -1 if there is no such kind.
func place(kind string) int {
	return slices.IndexFunc(rows(), func(r row) bool { return r.kind == kind })
}
