package errata

import (
	"cmp"
	"fmt"
	"slices"

	"deem/internal/doc"
	"deem/internal/words"
	"deem/report"
	"deem/stat"
)

// Version is the version of the JSON form of a [Report].
const Version = "deem.errata/1"

// A Report is what the known faults of an answer key do to the numbers of a run.
type Report struct {
	Version string `json:"version"`
	File    string `json:"file"` // the name of the list
	Hash    string `json:"hash"` // of its content

	Known      int `json:"known"`      // errata in the list
	Corrupting int `json:"corrupting"` // those that can move a score
	Absent     int `json:"absent"`     // those of them that name no item of the run
	Mended     int `json:"mended"`     // items whose reference is corrected already

	Kinds []Kind `json:"kinds"` // of the faults in the run, the most frequent first

	Overall Line `json:"overall"`

	// Categories are those with a wrong reference, sorted by name. Whole counts the
	// others, whose numbers stay as they are and whose ceiling is 1.
	Categories []Line `json:"categories"`
	Whole      int    `json:"whole"`

	Rejudged Rejudged `json:"rejudged"`

	// Accepted counts the items with a wrong reference that were taken for right.
	// Examples are the ids of the first ten.
	Accepted int      `json:"accepted"`
	Examples []string `json:"examples"`

	Notes []string `json:"notes"`
}

// A Kind is a kind of fault with the number of items that have it.
type Kind struct {
	Kind string `json:"kind"`
	N    int    `json:"n"`
}

// A Line is the numbers of one category, or of all items.
type Line struct {
	Category string `json:"category,omitempty"` // "" for all items
	Items    int    `json:"items"`
	Faulty   int    `json:"faulty"` // items with a wrong reference

	Published report.Figures `json:"published"` // with the key as it is

	// Sound is over the items with a right reference, and Wrong over the others. A
	// system that answers rightly has nothing to gain in the latter.
	Sound report.Figures `json:"sound"`
	Wrong report.Figures `json:"wrong"`

	// Corrected is with the references corrected. Items for which nobody has asked the
	// judge again are unjudged in it, and items for which the list does not say what is
	// right are left out.
	Corrected report.Figures `json:"corrected"`

	// Ceiling is what a system would score that answers everything rightly.
	Ceiling stat.Estimate `json:"ceiling"`
}

// Above reports whether the score lies above the ceiling.
func (l Line) Above() bool {
	return l.Faulty > 0 && l.Published.Judged != nil && l.Published.Judged.Value > l.Ceiling.Value
}

// Rejudged is what became of the items whose references were corrected.
type Rejudged struct {
	Items    int `json:"items"`    // with a wrong reference, for which the list says what is right
	Judged   int `json:"judged"`   // of them, judged again
	Better   int `json:"better"`   // with a higher score than before
	Worse    int `json:"worse"`    // with a lower one
	Unjudged int `json:"unjudged"` // the judge was asked and gave no verdict

	// Unasked counts the items about which a model would have to be asked. CostMicros
	// is what the same items cost the first time; Unpriced says that this is not known
	// of all of them.
	Unasked    int   `json:"unasked"`
	CostMicros int64 `json:"cost_micros,omitempty"`
	Unpriced   bool  `json:"unpriced,omitempty"`

	NoReference int `json:"no_reference"` // items for which the list does not say what is right
}

// Report returns the report of the records so far.
func (b *Builder) Report() Report {
	e := b.matched.errata
	r := Report{
		Version: Version, File: e.name, Hash: e.hash, Known: len(e.list),
		Absent: b.matched.absent, Mended: b.matched.mended,
		Kinds: b.kindRows(), Rejudged: b.again,
		Accepted: b.met.n, Examples: append([]string{}, b.met.ids...),
		Categories: []Line{},
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

// kindRows returns the kinds of faults, the most frequent first.
func (b *Builder) kindRows() []Kind {
	rows := make([]Kind, 0, len(b.kinds))
	for kind, n := range b.kinds {
		rows = append(rows, Kind{doc.OrNone(kind), n})
	}
	slices.SortFunc(rows, func(x, y Kind) int {
		return cmp.Or(cmp.Compare(y.N, x.N), cmp.Compare(x.Kind, y.Kind))
	})
	return rows
}

// lines fills in the numbers of all items and of each category.
func (b *Builder) lines(r *Report) {
	published, ceiling := b.published.Report(), b.ceiling.Report()
	sound, faulty, corrected := b.sound.Report(), b.faulty.Report(), b.corrected.Report()
	r.Overall = line("", published.Metrics[0], sound.Metrics[0], faulty.Metrics[0], corrected.Metrics[0], ceiling.Metrics[0])
	for _, c := range published.Categories {
		wrong := category(faulty, c.Name)
		if wrong.Items == 0 {
			r.Whole++
			continue
		}
		r.Categories = append(r.Categories,
			line(c.Name, c.Figures, category(sound, c.Name), wrong, category(corrected, c.Name), category(ceiling, c.Name)))
	}
}

func line(name string, published, sound, wrong, corrected, ceiling report.Figures) Line {
	return Line{
		Category: name, Items: published.Items, Faulty: wrong.Items,
		Published: published, Sound: sound, Wrong: wrong, Corrected: corrected, Ceiling: ceiling.Strict,
	}
}

// category returns the figures of a category. A report in which no item has one lists
// none.
func category(r report.Report, name string) report.Figures {
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

// notes returns what a reader must know beside the numbers, the gravest first.
func (r Report) notes() []string {
	all := []string{r.noteNothing()}
	for _, l := range append([]Line{r.Overall}, r.Categories...) {
		all = append(all, noteAbove(l))
	}
	all = append(all, r.noteAccepted(), r.noteUnasked(), r.noteNoReference(), r.noteMended(), r.noteAbsent(), r.noteCeiling())
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

func (r Report) noteNothing() string {
	if r.Overall.Faulty > 0 {
		return ""
	}
	return "no item of the run has a reference that the list calls wrong: it may be of another dataset, or number its items otherwise"
}

// noteAbove warns of a score that right answers cannot give.
func noteAbove(l Line) string {
	if !l.Above() {
		return ""
	}
	name := "the score"
	if l.Category != "" {
		name = "the score of " + doc.Clip(l.Category, 32)
	}
	return fmt.Sprintf("%s, %s, lies above its ceiling of %s: wrong references were met, or the judge is generous",
		name, percent(l.Published.Judged.Value), percent(l.Ceiling.Value))
}

func (r Report) noteAccepted() string {
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

// noteUnasked says what judging again would need.
func (r Report) noteUnasked() string {
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

func (r Report) noteNoReference() string {
	if n := r.Rejudged.NoReference; n > 0 {
		return fmt.Sprintf("the list does not say what is right for %s: left out of the corrected score", words.Count(n, "item"))
	}
	return ""
}

func (r Report) noteMended() string {
	if r.Mended > 0 {
		return fmt.Sprintf("%s %s the corrected reference already, and %s as sound", words.Count(r.Mended, "item"), hasHave(r.Mended), counts(r.Mended))
	}
	return ""
}

func (r Report) noteAbsent() string {
	if r.Absent > 0 && r.Overall.Faulty > 0 {
		return fmt.Sprintf("%s that can move a score %s no item of the run", words.Count(r.Absent, "fault"), concerns(r.Absent))
	}
	return ""
}

func (r Report) noteCeiling() string {
	if r.Overall.Faulty == 0 {
		return ""
	}
	return "the ceiling counts known faults: those that nobody has found yet lower it further, and a judge that gives part of the score may exceed it a little"
}

// percent returns a share with two decimals, as the published ceilings have.
func percent(x float64) string { return fmt.Sprintf("%.2f%%", 100*x) }

func wasWere(n int) string { return pick(n, "was", "were") }
func hasHave(n int) string { return pick(n, "has", "have") }
func counts(n int) string  { return pick(n, "counts", "count") }
func concerns(n int) string {
	return pick(n, "concerns", "concern")
}

// pick returns the word that goes with n.
func pick(n int, singular, plural string) string {
	if n == 1 {
		return singular
	}
	return plural
}
