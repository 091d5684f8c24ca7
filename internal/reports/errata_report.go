package reports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/internal/store"
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

// unasked is the kind of failure of an item for which no verdict was requested. A judge that
// would have to call a model, and may not, returns it too.
const unasked deem.Kind = "unasked"

// An ErrataBuilder takes the records of a run and compares its numbers with those that account for
// the errata. Each of these comes from a separate report over modified records, so that all
// have the same kind of interval. An ErrataBuilder is not safe for concurrent use.
type ErrataBuilder struct {
	matched *Matched
	judge   deem.Judge // nil if nothing can be judged again

	published, sound, faulty, corrected, ceiling *report.Builder

	kinds    map[string]int
	again    ErrataRejudged
	accepted int
	examples []string // the first accepted ones
}

// maxExamples is the maximum number of ids in a report.
const maxExamples = 10

// NewErrata returns a builder with the head of the run's own report. The judge grades items with
// corrected references. It must be the judge of the run and must cost nothing; it returns a
// failure of kind "unasked" if it would have to call a model. It is nil if the run's judge is
// not available.
func NewErrata(m *Matched, h report.Head, judge deem.Judge) *ErrataBuilder {
	h.Trials, h.UpstreamName = 1, ""
	all := h
	h.Items = 0 // A subset of the items is not an unfinished run.
	return &ErrataBuilder{
		matched: m, judge: judge, kinds: map[string]int{},
		published: report.New(all), ceiling: report.New(all),
		sound: report.New(h), faulty: report.New(h), corrected: report.New(h),
	}
}

// Add adds a record of the run. If an item was judged several times, only the first trial
// counts. An error comes from the judge or from ctx.
func (b *ErrataBuilder) Add(ctx context.Context, rec deem.Record) error {
	if rec.Trial != 0 {
		return nil
	}
	calls := rec.Calls
	rec.Calls = nil
	b.published.Add(rec)
	x, faulty := b.matched.Of(rec.Item)

	// The ceiling is that of a system that answers everything right.
	best := deem.Verdict{Label: "right", Score: 1}
	if faulty {
		best = deem.Verdict{Label: "wrong"}
	}
	if rec.Verdict != nil && rec.Verdict.Pass != nil {
		best.Pass = new(!faulty)
	}
	perfect := rec
	perfect.Verdict, perfect.Failure = &best, nil
	b.ceiling.Add(perfect)
	if !faulty {
		b.sound.Add(rec)
		b.corrected.Add(rec)
		return nil
	}

	b.kinds[x.Kind]++
	b.faulty.Add(rec)
	if rec.Verdict != nil && rec.Verdict.Yes() {
		b.accepted++
		if len(b.examples) < maxExamples {
			b.examples = append(b.examples, rec.Item.ID)
		}
	}
	return b.rejudge(ctx, rec, calls)
}

// rejudge adds the verdict with corrected references. An item without a known correct
// answer cannot be judged and is left out.
func (b *ErrataBuilder) rejudge(ctx context.Context, rec deem.Record, calls []deem.Call) error {
	it, ok := b.matched.Correct(rec.Item)
	if !ok {
		b.again.NoReference++
		return nil
	}
	b.again.Items++
	before := rec.Verdict
	rec.Item, rec.Verdict, rec.Failure = it, nil, nil
	if b.judge == nil {
		rec.Failure = deem.Failf(unasked, "the judge of the run is not available")
	} else if v, err := b.judge.Judge(ctx, it); err == nil {
		rec.Verdict = &v
	} else if rec.Failure, ok = errors.AsType[*deem.Failure](err); !ok {
		return err
	}
	b.corrected.Add(rec)
	switch {
	case rec.Failure != nil && rec.Failure.Kind == unasked:
		b.again.Unasked++
		for _, c := range calls {
			if c.Reply != nil {
				b.again.CostMicros += c.Reply.CostMicros
				b.again.Unpriced = b.again.Unpriced || c.Reply.Unpriced || c.Reply.Cached
			}
		}
		return nil
	case rec.Failure != nil:
		b.again.Unjudged++
		return nil //nolint:nilerr // the failure is counted
	}
	b.again.Judged++
	switch {
	case before == nil:
	case rec.Verdict.Score > before.Score:
		b.again.Better++
	case rec.Verdict.Score < before.Score:
		b.again.Worse++
	}
	return nil
}

// Report returns the report of the records so far.
func (b *ErrataBuilder) Report() ErrataReport {
	e := b.matched.Errata
	r := ErrataReport{
		Version: ErrataVersion, File: e.Name, Hash: e.Hash, Known: len(e.List),
		Absent: b.matched.absent, Corrected: b.matched.mended,
		Kinds: []ErrataKind{}, Rejudged: b.again,
		Accepted: b.accepted, Examples: append([]string{}, b.examples...),
		Categories: []ErrataLine{},
	}
	for _, x := range e.List {
		if x.Corrupts {
			r.Corrupting++
		}
	}
	for kind, n := range b.kinds {
		r.Kinds = append(r.Kinds, ErrataKind{doc.OrNone(kind), n})
	}
	slices.SortFunc(r.Kinds, func(x, y ErrataKind) int {
		return cmp.Or(cmp.Compare(y.N, x.N), cmp.Compare(x.Kind, y.Kind))
	})
	published, ceiling := b.published.Report(), b.ceiling.Report()
	sound, faulty, corrected := b.sound.Report(), b.faulty.Report(), b.corrected.Report()
	line := func(name string, of report.Figures, figures func(report.Report) report.Figures) ErrataLine {
		wrong := figures(faulty)
		return ErrataLine{
			Category: name, Items: of.Items, Faulty: wrong.Items, Published: of, Sound: figures(sound), Wrong: wrong,
			Corrected: figures(corrected), Ceiling: figures(ceiling).Strict,
		}
	}
	r.Overall = line("", published.Metrics[0], func(of report.Report) report.Figures { return of.Metrics[0] })
	for _, c := range published.Categories {
		l := line(c.Name, c.Figures, func(of report.Report) report.Figures { return categoryFigures(of, c.Name) })
		if l.Faulty == 0 {
			r.Whole++
			continue
		}
		r.Categories = append(r.Categories, l)
	}
	r.Notes = r.notes()
	return r
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
	notes := []string{}
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if r.Overall.Faulty == 0 {
		add("no item of the run has a reference that the list calls wrong: it may be of another dataset, or number its items otherwise")
	}
	for _, l := range append([]ErrataLine{r.Overall}, r.Categories...) {
		if l.Above() { // right answers cannot reach such a score
			add("the score%s, %.2f%%, lies above its ceiling of %.2f%%: wrong references were met, or the judge is generous",
				doc.Prefix(" of ", doc.Clip(l.Category, 32)), 100*l.Published.Judged.Value, 100*l.Ceiling.Value)
		}
	}
	if r.Accepted > 0 {
		add("%s of %s with a wrong reference %s taken for right: %s",
			words.Comma(r.Accepted), words.Count(r.Overall.Faulty, "item"), words.Form(r.Accepted, "was", "were"), doc.IDs(r.Examples, r.Accepted))
	}
	if n := r.Rejudged.Unasked; n > 0 {
		cost := ""
		if r.Rejudged.CostMicros > 0 && !r.Rejudged.Unpriced {
			cost = ", which cost " + words.Dollars(r.Rejudged.CostMicros) + " the first time"
		}
		add("%s would have to be judged again for a corrected score%s: deem run with --errata and --corrected does so, and takes the sound items from what is kept",
			words.Count(n, "item"), cost)
	}
	if n := r.Rejudged.NoReference; n > 0 {
		add("the list does not say what is right for %s: left out of the corrected score", words.Count(n, "item"))
	}
	if n := r.Corrected; n > 0 {
		add("%s %s the corrected reference already, and %s as sound", words.Count(n, "item"), words.Form(n, "has", "have"), words.Form(n, "counts", "count"))
	}
	if r.Overall.Faulty > 0 {
		if r.Absent > 0 {
			add("%s that can move a score %s no item of the run", words.Count(r.Absent, "fault"), words.Form(r.Absent, "concerns", "concern"))
		}
		add("the ceiling counts known faults: those that nobody has found yet lower it further, and a judge that gives part of the score may exceed it a little")
	}
	return notes
}

// maxKinds is the number of kinds of errors in the text; JSON has them all.
const maxKinds = 6

// AddTo adds the report to a document: the numbers of all items, then of the categories
// with a wrong reference.
func (r ErrataReport) AddTo(d *doc.Document) {
	var kinds []string
	for i, k := range r.Kinds {
		if i == maxKinds {
			kinds = append(kinds, fmt.Sprintf("and %d more kinds", len(r.Kinds)-i))
			break
		}
		kinds = append(kinds, fmt.Sprintf("%s %s", doc.Clip(k.Kind, 32), words.Comma(k.N)))
	}
	if len(r.Kinds) == 1 && r.Kinds[0].Kind == doc.None {
		kinds = nil // the list has no kinds
	}
	facts := doc.Facts{
		{Name: "errata", Text: fmt.Sprintf("%s, hash %s, %s known, %s can move a score", r.File, deem.ShortHash(r.Hash), words.Comma(r.Known), words.Comma(r.Corrupting))},
		{Name: "items", Text: fmt.Sprintf("%s of %s %s a wrong reference%s", words.Comma(r.Overall.Faulty), words.Count(r.Overall.Items, "item"),
			words.Form(r.Overall.Faulty, "has", "have"), doc.Prefix(": ", strings.Join(kinds, ", ")))},
	}
	t := doc.Table{Columns: []doc.Column{doc.Col(""), doc.Est("value [95%]"), doc.Num("n"), doc.Num("unjudged"), doc.Col("")}}
	whole := ""
	if r.Overall.Faulty > 0 {
		t.Rows = append(t.Rows, r.block(d, "all items", r.Overall)...)
		for _, l := range r.Categories {
			t.Rows = append(t.Rows, r.block(d, l.Category, l)...)
		}
		if r.Whole > 0 {
			whole = fmt.Sprintf("No wrong reference in %s %s: the numbers stay as published.", words.Comma(r.Whole), words.Form(r.Whole, "other category", "other categories"))
		}
	}
	d.Add(doc.Section{ID: "errata", Blocks: []doc.Block{facts, t, doc.Paragraph{Text: whole}}})
	d.Mark(r.Notes...)
}

// block returns the numbers of one line as rows. A withheld corrected number is replaced by
// its band.
func (r ErrataReport) block(d *doc.Document, title string, l ErrataLine) [][]doc.Cell {
	row := func(name string, f report.Figures, remark string) []doc.Cell {
		n := f.Items - f.Unjudged
		value := doc.T(doc.Absent(n > 0))
		if f.Judged != nil {
			value = d.Share(*f.Judged)
		}
		return []doc.Cell{doc.T(name), value, doc.N(n), doc.N(f.Unjudged), doc.T(remark)}
	}
	rows := [][]doc.Cell{
		{doc.T(title)},
		row("as published", l.Published, l.Published.Metric),
		row("sound items", l.Sound, ""),
		row("wrong reference", l.Wrong, ""),
	}
	if r.Rejudged.Items > 0 {
		band := ""
		if f := l.Corrected; f.Judged == nil && f.Items > 0 {
			band = fmt.Sprintf("between %s and %s", doc.Percent(f.Band.Lo), doc.Percent(f.Band.Hi))
		}
		rows = append(rows, row("corrected", l.Corrected, band))
	}
	return append(rows, []doc.Cell{doc.T("ceiling"), d.Share(l.Ceiling), doc.N(l.Ceiling.N)})
}

// ErrNoErrata is returned if the errata file of a run is missing. The run itself can still
// be shown.
var ErrNoErrata = errors.New("the errata are not there any more")

// Errata returns the effect of known errors in the answer key on the numbers of a run. The
// errors come from file or, by default, from the run's settings. It returns nil if there
// are none, and [ErrNoErrata] if the file of the run is missing. again returns the judge of
// the run if it can be asked again without cost, or nil.
func Errata(ctx context.Context, st store.Store, run store.Run, h report.Head, file string, again func(store.Store, store.Run) (deem.Judge, error)) (*ErrataReport, error) {
	b, set, err := Benchmark(run)
	if err != nil {
		return nil, err
	}
	named := cmp.Or(file, set.Errata)
	if named == "" {
		return nil, nil
	}
	if _, err := os.Stat(named); file == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("run %s was told of %s: %w", run.ID, named, ErrNoErrata)
	}
	e, err := ReadErrata(ctx, named, b)
	if err != nil {
		return nil, err
	}
	m, err := e.Match(func(yield func(deem.Item, error) bool) {
		for rec, err := range store.Ahead(st.Records(ctx, run.ID, store.Query{Trial: new(int)})) {
			if !yield(rec.Item, err) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	j, err := again(st, run)
	if err != nil {
		return nil, err
	}
	builder := NewErrata(m, h, j)
	records := st.Records(ctx, run.ID, store.Query{Trial: new(int), WithCalls: true})
	for rec, err := range store.Ahead(records) {
		if err == nil {
			err = builder.Add(ctx, rec)
		}
		if err != nil {
			return nil, err
		}
	}
	r := builder.Report()
	return &r, nil
}

// AddErrata adds the errata to the head of a report.
func AddErrata(r *report.Report, faults *ErrataReport) {
	if faults == nil || r.Head.Harness == nil {
		return
	}
	h := *r.Head.Harness
	h.Errata = &doc.ErrataFile{File: faults.File, Hash: faults.Hash, Faulty: faults.Overall.Faulty}
	r.Head.Harness = &h
}
