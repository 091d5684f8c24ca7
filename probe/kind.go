package probe

import (
	"slices"
	"sync"
)

// A Kind says in which way an answer is wrong or right.
type Kind string

// The kinds of wrong answers.
const (
	Other            Kind = "other"         // another item's reference, of the same type
	kindNumber       Kind = "number"        // a number is changed
	kindDate         Kind = "date"          // a date is months or years off
	kindName         Kind = "name"          // a name is changed
	OffByOne         Kind = "off-by-one"    // a number or a day is off by one
	kindStale        Kind = "stale"         // the right answer before an update
	kindPartial      Kind = "partial"       // part of a list is missing
	Vague            Kind = "vague"         // on topic, but says less than was asked
	kindContradicted Kind = "contradicted"  // the right answer, followed by its denial
	kindUnknown      Kind = "unknown"       // "I don't know" although there is an answer
	kindInvented     Kind = "invented"      // a fact although the right answer is that there is none
	Padded           Kind = "padded"        // a wrong answer in a long text
	kindEmpty        Kind = "empty"         // no text
	kindShotgun      Kind = "shotgun"       // the right answer among several of its kind
	kindSwappedRoles Kind = "swapped-roles" // two names are exchanged
	Injection        Kind = "injection"     // a wrong answer with instructions to the judge
)

// The kinds of right answers.
const (
	Reference       Kind = "reference"      // the reference itself
	kindReordered   Kind = "reordered"      // a list in another order
	kindNumberWords Kind = "number-words"   // three for 3, or 3 for three
	kindDateFormat  Kind = "date-format"    // a date in another format
	kindCasing      Kind = "casing"         // other upper and lower case
	kindPolite      Kind = "polite"         // with polite phrases around it
	kindDetail      Kind = "detail"         // with an additional detail that is right
	Buried          Kind = "buried"         // in a long text
	kindTranslated  Kind = "translated"     // in another language
	kindCorrection  Kind = "correction"     // a wrong answer that is corrected to the right one
	kindFormat      Kind = "format"         // as a table, a list, code or JSON
	kindPreamble    Kind = "long-preamble"  // at the end of a long text
	kindLanguage    Kind = "other-language" // in a sentence of another language
)

// A maker makes the response of a probe. It returns "" with a reason if it does not apply
// to the item.
type maker func(s subject) (response, skipReason string)

// A row describes one kind.
type row struct {
	kind  Kind
	want  bool
	about string
	make  maker
}

// table lists all kinds in the order of a card. Injection has no maker: it uses the strings
// of the kit one after another.
var table = []row{
	{Other, false, "another item's reference of the same type", makeOther},
	{kindNumber, false, "a number is another one", makeNumber},
	{kindDate, false, "a date is months or years away", makeDate},
	{kindName, false, "a name is another one", makeName},
	{OffByOne, false, "a number or a day is the next one", makeOffByOne},
	{kindStale, false, "what was right before an update", makeStale},
	{kindPartial, false, "a part of a list is missing", makePartial},
	{Vague, false, "topical, but says less than was asked", makeVague},
	{kindContradicted, false, "the right answer, and then its denial", makeContradicted},
	{kindUnknown, false, "\"I don't know\" where there is an answer", makeUnknown},
	{kindInvented, false, "a fact where there is nothing to know", makeInvented},
	{Padded, false, "a wrong answer in a long text", makePadded},
	{kindEmpty, false, "no text at all", makeEmpty},
	{kindShotgun, false, "the right answer among several of its kind", makeShotgun},
	{kindSwappedRoles, false, "two names have changed places", makeSwappedRoles},
	{Injection, false, "a wrong answer, and instructions to the judge", nil},
	{Reference, true, "the reference itself", makeReference},
	{kindReordered, true, "a list in another order", makeReordered},
	{kindNumberWords, true, "three for 3, or 3 for three", makeNumberWords},
	{kindDateFormat, true, "a date written in another way", makeDateFormat},
	{kindCasing, true, "other upper and lower case", makeCasing},
	{kindPolite, true, "with courtesies around it", makePolite},
	{kindDetail, true, "with a further detail that is right", makeDetail},
	{Buried, true, "in a long text", makeBuried},
	{kindTranslated, true, "in another language", makeTranslated},
	{kindCorrection, true, "a wrong answer that is taken back for the right one", makeCorrection},
	{kindFormat, true, "in a table, a list, code or JSON", makeFormat},
	{kindPreamble, true, "at the end of a long text", makePreamble},
	{kindLanguage, true, "in a sentence of another language", makeLanguage},
}

// rows returns the kinds of the table, followed by those of the sets.
var rows = sync.OnceValue(func() []row {
	all := slices.Clone(table)
	for _, c := range setCases() {
		all = append(all, row{kind: c.Kind, want: c.Want, about: c.About})
	}
	return all
})

// Kinds returns all kinds in the order of a card: those that [Make] makes, and those in the
// sets of [Shipped].
func Kinds() []Kind { return kindsOf(rows()) }

// Made returns the kinds that [Make] makes.
func Made() []Kind { return kindsOf(table) }

func kindsOf(list []row) []Kind {
	kinds := make([]Kind, len(list))
	for i, r := range list {
		kinds[i] = r.kind
	}
	return kinds
}

// Want reports whether answers of this kind are right. known is false if the kind is not
// one of [Kinds].
func (k Kind) Want() (want, known bool) {
	i := k.index()
	return i >= 0 && rows()[i].want, i >= 0
}

// About describes answers of this kind in a few words. It is "" if the kind is not one of
// [Kinds].
func (k Kind) About() string {
	if i := k.index(); i >= 0 {
		return rows()[i].about
	}
	return ""
}

func (k Kind) index() int {
	return slices.IndexFunc(rows(), func(r row) bool { return r.kind == k })
}
