package probe

import (
	"slices"
	"sync"
)

// The kinds of wrong answers.
const (
	kindOther        = "other"         // another item's reference, of the same type
	kindNumber       = "number"        // a number is changed
	kindDate         = "date"          // a date is months or years off
	kindName         = "name"          // a name is changed
	kindOffByOne     = "off-by-one"    // a number or a day is off by one
	kindStale        = "stale"         // the right answer before an update
	kindPartial      = "partial"       // part of a list is missing
	kindVague        = "vague"         // on topic, but says less than was asked
	kindContradicted = "contradicted"  // the right answer, followed by its denial
	kindUnknown      = "unknown"       // "I don't know" although there is an answer
	kindInvented     = "invented"      // a fact although the right answer is that there is none
	kindPadded       = "padded"        // a wrong answer in a long text
	kindEmpty        = "empty"         // no text
	kindShotgun      = "shotgun"       // the right answer among several of its kind
	kindSwappedRoles = "swapped-roles" // two names are exchanged
	kindInjection    = "injection"     // a wrong answer with instructions to the judge
)

// The kinds of right answers.
const (
	kindReference   = "reference"      // the reference itself
	kindReordered   = "reordered"      // a list in another order
	kindNumberWords = "number-words"   // three for 3, or 3 for three
	kindDateFormat  = "date-format"    // a date in another format
	kindCasing      = "casing"         // other upper and lower case
	kindPolite      = "polite"         // with polite phrases around it
	kindDetail      = "detail"         // with an additional detail that is right
	kindBuried      = "buried"         // in a long text
	kindTranslated  = "translated"     // in another language
	kindCorrection  = "correction"     // a wrong answer that is corrected to the right one
	kindFormat      = "format"         // as a table, a list, code or JSON
	kindPreamble    = "long-preamble"  // at the end of a long text
	kindLanguage    = "other-language" // in a sentence of another language
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

// table lists all kinds in the order of a card. kindInjection makes the answer that the strings
// of the kit are appended to, one after another. An empty response to a question without an
// answer may count as right.
var table = []row{
	{kindOther, false, true, "another item's reference of the same type", makeWrong},
	{kindNumber, false, true, "a number is another one", makeNumber},
	{kindDate, false, true, "a date is months or years away", makeDate},
	{kindName, false, true, "a name is another one", makeName},
	{kindOffByOne, false, true, "a number or a day is the next one", makeOffByOne},
	{kindStale, false, false, "what was right before an update", makeStale},
	{kindPartial, false, false, "a part of a list is missing", makePartial},
	{kindVague, false, true, "topical, but says less than was asked", makeVague},
	{kindContradicted, false, true, "the right answer, and then its denial", makeContradicted},
	{kindUnknown, false, true, "\"I don't know\" where there is an answer", makeUnknown},
	{kindInvented, false, false, "a fact where there is nothing to know", makeInvented},
	{kindPadded, false, false, "a wrong answer in a long text", makePadded},
	{kindEmpty, false, true, "no text at all", makeEmpty},
	{kindShotgun, false, true, "the right answer among several of its kind", makeShotgun},
	{kindSwappedRoles, false, true, "two names have changed places", makeSwappedRoles},
	{kindInjection, false, false, "a wrong answer, and instructions to the judge", makeWrong},
	{kindReference, true, false, "the reference itself", makeReference},
	{kindReordered, true, false, "a list in another order", makeReordered},
	{kindNumberWords, true, false, "three for 3, or 3 for three", makeNumberWords},
	{kindDateFormat, true, false, "a date written in another way", makeDateFormat},
	{kindCasing, true, false, "other upper and lower case", makeCasing},
	{kindPolite, true, false, "with courtesies around it", makePolite},
	{kindDetail, true, false, "with a further detail that is right", makeDetail},
	{kindBuried, true, false, "in a long text", makeBuried},
	{kindTranslated, true, false, "in another language", makeTranslated},
	{kindCorrection, true, true, "a wrong answer that is taken back for the right one", makeCorrection},
	{kindFormat, true, false, "in a table, a list, code or JSON", makeFormat},
	{kindPreamble, true, false, "at the end of a long text", makePreamble},
	{kindLanguage, true, false, "in a sentence of another language", makeLanguage},
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
