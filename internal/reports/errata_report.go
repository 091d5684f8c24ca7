package reports

import (
	"cmp"
	"fmt"
	"slices"

	"deem/internal/doc"
	"deem/internal/words"
	"deem/report"
	"deem/stat"
)

// ErrataVersion is the version of the JSON form of an [ErrataReport].
const ErrataVersion = "deem.errata/1"

// An ErrataReport is the effect of the known errors of an answer key on the numbers of a run.
type ErrataReport struct {
	Version string `json:"version"`
	File    string `json:"file"` // the name of the list
	Hash    string `json:"hash"` // of its content

	Known      int `json:"known"`      // errata in the list
	Corrupting int `json:"corrupting"` // those that can change a score
	Absent     int `json:"absent"`     // those of them that match no item of the run
	Corrected  int `json:"corrected"`  // items whose reference is already corrected

	Kinds []ErrataKind `json:"kinds"` // of the errors in the run, most frequent first

	Overall ErrataLine `json:"overall"`

	// Categories are those with a wrong reference, sorted by name. Whole counts the others,
	// whose numbers do not change and whose ceiling is 1.
	Categories []ErrataLine `json:"categories"`
	Whole      int          `json:"whole"`

	Rejudged ErrataRejudged `json:"rejudged"`

	// Accepted counts the items with a wrong reference that were judged right. Examples are
	// the ids of the first ten.
	Accepted int      `json:"accepted"`
	Examples []string `json:"examples"`

	Notes []string `json:"notes"`
}

// An ErrataKind is a kind of error with the number of items that have it.
type ErrataKind struct {
	Kind string `json:"kind"`
	N    int    `json:"n"`
}

// An ErrataLine is the numbers of one category, or of all items.
type ErrataLine struct {
	Category string `json:"category,omitempty"` // "" for all items
	Items    int    `json:"items"`
	Faulty   int    `json:"faulty"` // items with a wrong reference

	Published report.Figures `json:"published"` // with the original key

	// Sound is the score over the items with a right reference, and Wrong over the others.
	// A system that answers correctly gains nothing in the latter.
	Sound report.Figures `json:"sound"`
	Wrong report.Figures `json:"wrong"`

	// Corrected is the score with corrected references. Items that were not judged again
	// are unjudged in it, and items without a known correct answer are left out.
	Corrected report.Figures `json:"corrected"`

	// Ceiling is the score of a system that answers everything right.
	Ceiling stat.Estimate `json:"ceiling"`
}

// Above reports whether the score is above the ceiling.
func (l ErrataLine) Above() bool {
	return l.Faulty > 0 && l.Published.Judged != nil && l.Published.Judged.Value > l.Ceiling.Value
}

// ErrataRejudged counts the results of the items with corrected references.
type ErrataRejudged struct {
	Items    int `json:"items"`    // with a wrong reference and a known correct answer
	Judged   int `json:"judged"`   // of them, judged again
	Better   int `json:"better"`   // with a higher score than before
	Worse    int `json:"worse"`    // with a lower one
	Unjudged int `json:"unjudged"` // the judge was asked and gave no verdict

	// Unasked counts the items that need a model call. CostMicros is what the same items
	// cost the first time; Unpriced reports that the cost of some of them is unknown.
	Unasked    int   `json:"unasked"`
	CostMicros int64 `json:"cost_micros,omitempty"`
	Unpriced   bool  `json:"unpriced,omitempty"`

	NoReference int `json:"no_reference"` // items without a known correct answer
}

// Report returns the report of the records so far.
func (b *ErrataBuilder) Report() ErrataReport {
	e := b.matched.errata
	r := ErrataReport{
		Version: ErrataVersion, File: e.name, Hash: e.hash, Known: len(e.list),
		Absent: b.matched.absent, Corrected: b.matched.mended,
		Kinds: b.kindRows(), Rejudged: b.again,
		Accepted: b.met.n, Examples: append([]string{}, b.met.ids...),
		Categories: []ErrataLine{},
	}
	for _, x := range e.list {
		if x.Corrupts {
			r.Corrupting++
		}
	}
	b.lines(&r)
	r.Notes = r.notes()
	return r
}

// kindRows returns the kinds of errors, most frequent first.
func (b *ErrataBuilder) kindRows() []ErrataKind {
	rows := make([]ErrataKind, 0, len(b.kinds))
	for kind, n := range b.kinds {
		rows = append(rows, ErrataKind{doc.OrNone(kind), n})
	}
	slices.SortFunc(rows, func(x, y ErrataKind) int {
		return cmp.Or(cmp.Compare(y.N, x.N), cmp.Compare(x.Kind, y.Kind))
	})
	return rows
}

// lines sets the numbers of all items and of each category.
func (b *ErrataBuilder) lines(r *ErrataReport) {
	published, ceiling := b.published.Report(), b.ceiling.Report()
	sound, faulty, corrected := b.sound.Report(), b.faulty.Report(), b.corrected.Report()
	r.Overall = errataLine("", published.Metrics[0], sound.Metrics[0], faulty.Metrics[0], corrected.Metrics[0], ceiling.Metrics[0])
	for _, c := range published.Categories {
		wrong := categoryFigures(faulty, c.Name)
		if wrong.Items == 0 {
			r.Whole++
			continue
		}
		r.Categories = append(r.Categories,
			errataLine(c.Name, c.Figures, categoryFigures(sound, c.Name), wrong, categoryFigures(corrected, c.Name), categoryFigures(ceiling, c.Name)))
	}
}

func errataLine(name string, published, sound, wrong, corrected, ceiling report.Figures) ErrataLine {
	return ErrataLine{
		Category: name, Items: published.Items, Faulty: wrong.Items,
		Published: published, Sound: sound, Wrong: wrong, Corrected: corrected, Ceiling: ceiling.Strict,
	}
}

// categoryFigures returns the figures of a category. A report on items without categories has
// none.
func categoryFigures(r report.Report, name string) report.Figures {
	for _, c := range r.Categories {
		if c.Name == name {
			return c.Figures
		}
	}
	if name == doc.None && len(r.Categories) == 0 {
		return r.Metrics[0]
	}
	return report.Figures{}
}

// notes returns the notes on the numbers, most serious first.
func (r ErrataReport) notes() []string {
	all := []string{r.noteNothing()}
	for _, l := range append([]ErrataLine{r.Overall}, r.Categories...) {
		all = append(all, noteAbove(l))
	}
	all = append(all, r.noteAccepted(), r.noteNotAsked(), r.noteNoReference(), r.noteCorrected(), r.noteAbsent(), r.noteCeiling())
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

func (r ErrataReport) noteNothing() string {
	if r.Overall.Faulty > 0 {
		return ""
	}
	return "no item of the run has a reference that the list calls wrong: it may be of another dataset, or number its items otherwise"
}

// noteAbove warns of a score that right answers cannot reach.
func noteAbove(l ErrataLine) string {
	if !l.Above() {
		return ""
	}
	name := "the score"
	if l.Category != "" {
		name = "the score of " + doc.Clip(l.Category, 32)
	}
	return fmt.Sprintf("%s, %s, lies above its ceiling of %s: wrong references were met, or the judge is generous",
		name, twoDecimals(l.Published.Judged.Value), twoDecimals(l.Ceiling.Value))
}

func (r ErrataReport) noteAccepted() string {
	if r.Accepted == 0 {
		return ""
	}
	ids := doc.IDs(r.Examples, 0)
	if r.Accepted > len(r.Examples) {
		ids += ", ..."
	}
	return fmt.Sprintf("%s of %s with a wrong reference %s taken for right: %s",
		words.Comma(r.Accepted), words.Count(r.Overall.Faulty, "item"), wasWere(r.Accepted), ids)
}

// noteNotAsked describes what judging again would need.
func (r ErrataReport) noteNotAsked() string {
	n := r.Rejudged.Unasked
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("%s would have to be judged again for a corrected score", words.Count(n, "item"))
	if cost := r.Rejudged.CostMicros; cost > 0 && !r.Rejudged.Unpriced {
		text += ", which cost " + words.Dollars(cost) + " the first time"
	}
	return text + ": deem run with --errata and --corrected does so, and takes the sound items from what is kept"
}

func (r ErrataReport) noteNoReference() string {
	if n := r.Rejudged.NoReference; n > 0 {
		return fmt.Sprintf("the list does not say what is right for %s: left out of the corrected score", words.Count(n, "item"))
	}
	return ""
}

func (r ErrataReport) noteCorrected() string {
	if r.Corrected > 0 {
		return fmt.Sprintf("%s %s the corrected reference already, and %s as sound", words.Count(r.Corrected, "item"), hasHave(r.Corrected), counts(r.Corrected))
	}
	return ""
}

func (r ErrataReport) noteAbsent() string {
	if r.Absent > 0 && r.Overall.Faulty > 0 {
		return fmt.Sprintf("%s that can move a score %s no item of the run", words.Count(r.Absent, "fault"), concerns(r.Absent))
	}
	return ""
}

func (r ErrataReport) noteCeiling() string {
	if r.Overall.Faulty == 0 {
		return ""
	}
	return "the ceiling counts known faults: those that nobody has found yet lower it further, and a judge that gives part of the score may exceed it a little"
}

// twoDecimals formats a share with two decimals, like the published ceilings.
func twoDecimals(x float64) string { return fmt.Sprintf("%.2f%%", 100*x) }

func wasWere(n int) string { return pick(n, "was", "were") }
func hasHave(n int) string { return pick(n, "has", "have") }
func counts(n int) string  { return pick(n, "counts", "count") }
func concerns(n int) string {
	return pick(n, "concerns", "concern")
}

// pick returns the word form for n.
func pick(n int, singular, plural string) string {
	if n == 1 {
		return singular
	}
	return plural
}
