package published

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/internal/rows"
	"deem/internal/words"
	"deem/judge"
)

// A Set is the content of files of results: items and their recorded verdicts.
type Set struct {
	// Shape is the recognised form of the files, and Columns the columns of each part.
	Shape   string
	Columns []string

	// Benchmark is the benchmark of the items, "" if none was recognised.
	Benchmark string

	// Rule describes when a row counts as right, "" if the files have no verdicts.
	Rule string

	// JudgeModel and SystemModel are the models that the files name.
	JudgeModel  string
	SystemModel string

	// LeftOut describes the rows that were left out, and why.
	LeftOut []string

	// Sum is the SHA-256 of the files' bytes.
	Sum string

	// Claims are the numbers that the files claim for their rows.
	Claims []Claim

	items    []deem.Item
	places   []place       // of the rows of the items; empty if the shape has no places
	records  []deem.Record // by position, then by trial
	names    []string
	files    int // that the names refer to
	notes    []string
	findings []Finding
	rerun    map[int]bool // positions of rows marked as run again
	hash     string
	trials   int
	replies  int
	aspects  []string // names in the order of the file

	categoryNames map[string]string // the file's name of a category

	unanswered     map[int]bool // positions of items without a response, as opposed to an empty one
	lacksResponses bool         // no column contains responses
	columnList     string       // the columns of the rows with an example each, for messages

	formula   bool                       // the verdicts are results of a formula
	elsewhere map[string][]*deem.Verdict // by column and position: the verdicts in other columns

	truth    []*deem.Verdict   // by position; nil if the rows have none
	asRows   bool              // the files are rows, which Only, Split and truth apply to
	identity map[string]string // the rule for counting labels

	judgePrompt string             // the SHA-256 of the judge's prompt, if the files contain it
	stats       map[string]float64 // numbers of the benchmark's own metrics, by the name of their claim
}

// Open reads the files of one system. For files of an unknown shape, the error describes
// what was looked for; for invalid rows, it is a [*deem.Problems].
func Open(ctx context.Context, src Source) (*Set, error) {
	if err := src.Map.check(); err != nil {
		return nil, err
	}
	c, err := src.read(ctx)
	if err != nil {
		return nil, err
	}
	s := &Set{names: src.Names, files: len(c.files), notes: c.notes, Sum: c.sum, rerun: map[int]bool{}, unanswered: map[int]bool{}}
	if c.broken > 0 {
		s.leave("%s left out because they cannot be read", words.Count(c.broken, "row"))
	}
	if len(c.pieces) == 0 {
		return nil, fmt.Errorf("%s: there is nothing in it", strings.Join(s.names, ", "))
	}
	if i := slices.IndexFunc(shapes, func(sh shape) bool { return sh.recognise(c) }); i >= 0 {
		err = shapes[i].read(s, ctx, src, c)
	} else {
		err = s.readAny(src, c)
	}
	if err != nil {
		return nil, err
	}
	// Ignoring an option that the shape does not support would give a different number than
	// the one requested.
	refused := ""
	switch {
	case s.asRows:
	case len(src.Only) > 0:
		refused = "choosing rows by a column"
	case src.Split != "":
		refused = "splitting references"
	case src.Map[partTruth] != "":
		refused = "taking a column as the truth"
	case src.Benchmark != "" && src.Benchmark != s.Benchmark:
		refused = "choosing the benchmark"
	}
	if refused != "" {
		return nil, fmt.Errorf("%s: %s, for which there is no way of %s", strings.Join(s.names, ", "), s.Shape, refused)
	}
	if src.Pick != All { // systems answer the same questions
		s.lintTwice()
	}
	if err := s.finish(); err != nil {
		return nil, err
	}
	s.dropDoubts()
	s.lint()
	return s, nil
}

// finish checks the set and computes derived values.
func (s *Set) finish() error {
	seen := map[string]int{}
	for i := range s.items {
		id := s.items[i].ID
		if seen[id]++; seen[id] > 1 {
			s.items[i].ID = fmt.Sprintf("%s~%d", id, seen[id])
		}
		if s.unanswered[i] {
			s.items[i].Fields = maps.Clone(s.items[i].Fields)
			if s.items[i].Fields == nil {
				s.items[i].Fields = map[string]string{}
			}
			s.items[i].Fields[rows.NoResponse] = "true"
		}
	}
	for i := range s.records {
		rec := &s.records[i]
		rec.Item, rec.Judge = s.items[rec.Position], s.JudgeName()
		s.trials = max(s.trials, rec.Trial+1)
		s.replies += len(rec.Calls)
		for j := range rec.Calls {
			rec.Calls[j].Model = s.JudgeModel
		}
		if rec.Verdict != nil && rec.Verdict.Label == "" {
			rec.Verdict.Label = fmt.Sprint(rec.Verdict.Score)
		}
	}
	var err error
	s.hash, err = deem.DatasetHash(s.Items())
	return err
}

// Items yields the items in the order of the files.
func (s *Set) Items() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for _, it := range s.items {
			if !yield(it, nil) {
				return
			}
		}
	}
}

// Records yields the recorded verdicts, as records of the judge [Set.JudgeName]. There is
// none for an item without a verdict column, and there are several trials if the file has
// several verdicts on one response.
func (s *Set) Records() iter.Seq[deem.Record] { return slices.Values(s.records) }

// Len returns the number of items.
func (s *Set) Len() int { return len(s.items) }

// Hash returns the hash of the items.
func (s *Set) Hash() string { return s.hash }

// Names returns the names of the files as they were given.
func (s *Set) Names() []string { return slices.Clone(s.names) }

// Notes returns information about the files for the user.
func (s *Set) Notes() []string { return slices.Clone(s.notes) }

// Close does nothing: a set is in memory.
func (s *Set) Close() error { return nil }

// CheckResponses returns an error if no column contains responses, because the items cannot
// be judged again.
func (s *Set) CheckResponses() error {
	if !s.lacksResponses {
		return nil
	}
	return deem.WithHint(fmt.Errorf("%s: no column holds what the system answered, so there is nothing to judge", strings.Join(s.names, ", ")),
		"the columns are %s; --map response=COLUMN says which of them it is", s.columnList)
}

// Trials returns the maximum number of verdicts of an item; 0 if the files have none.
func (s *Set) Trials() int { return s.trials }

// Replies returns the number of judge replies in the files.
func (s *Set) Replies() int { return s.replies }

// Stem returns the name of the first file without its folder and extensions.
func (s *Set) Stem() string {
	base := filepath.Base(s.names[0])
	if base == "-" {
		return "stdin"
	}
	for _, ext := range []string{".gz", ".zst", ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".eval"} {
		base = strings.TrimSuffix(base, ext)
	}
	return base
}

// JudgeName returns the name of the judge whose verdicts were recorded.
func (s *Set) JudgeName() string { return JudgePrefix + s.Stem() }

// JudgePrefix is the prefix of the name of a recorded judge.
const JudgePrefix = "recorded:"

// Identity returns the [judge.Spec] of the recorded judge: the bytes of the files and the
// rule for counting labels.
func (s *Set) Identity() any {
	spec := judge.Spec{Kind: judge.KindRecorded, Name: judge.KindRecorded, Model: s.JudgeModel, Options: map[string]string{"file": s.Sum, "shape": s.Shape}}
	if s.judgePrompt != "" {
		spec.Options["prompt"] = s.judgePrompt
	}
	for name, value := range s.identity {
		spec.Options["rule."+name] = value
	}
	return spec
}

// WithoutCategory removes the items of a category and their recorded verdicts.
func (s *Set) WithoutCategory(category, why string) error {
	var items []deem.Item
	var found []int
	for i, it := range s.items {
		if it.Category != category {
			items, found = append(items, it), append(found, i)
		}
	}
	if n := len(s.items) - len(items); n > 0 {
		s.leave("%s of category %s left out, as %s says", words.Count(n, "row"), category, why)
	}
	if len(items) == 0 {
		return fmt.Errorf("%s: every row is of category %s, and %s leaves it out", strings.Join(s.names, ", "), category, why)
	}
	return s.replace(items, found)
}

// replace replaces the items. Each takes over what was recorded for the row of the same
// index in rows, which is the position of an item so far, or -1 for none.
func (s *Set) replace(items []deem.Item, found []int) error {
	recorded := map[int][]deem.Record{}
	for _, rec := range s.records {
		recorded[rec.Position] = append(recorded[rec.Position], rec)
	}
	var records []deem.Record
	var truth []*deem.Verdict
	var places []place
	unanswered, elsewhere := map[int]bool{}, map[string][]*deem.Verdict{}
	for i, row := range found {
		for _, rec := range recorded[row] {
			rec.Position = i
			records = append(records, rec)
		}
		if s.unanswered[row] {
			unanswered[i] = true
		}
		if s.truth != nil {
			var v *deem.Verdict
			if row >= 0 && row < len(s.truth) {
				v = s.truth[row]
			}
			truth = append(truth, v)
		}
		if s.places != nil {
			at := place{value: -1}
			if row >= 0 {
				at = s.places[row]
			}
			places = append(places, at)
		}
		for column, verdicts := range s.elsewhere {
			elsewhere[column] = append(elsewhere[column], verdicts[row])
		}
	}
	s.items, s.places, s.records, s.truth, s.unanswered, s.elsewhere, s.trials, s.replies = items, places, records, truth, unanswered, elsewhere, 0, 0
	return s.finish()
}

// Adopt replaces the items of the rows by those of a benchmark's own reader, if they are
// about the same response: by id, else by question and response. Items without a row have
// no verdict; recorded verdicts of rows without an item are dropped, and counted.
func (s *Set) Adopt(items iter.Seq2[deem.Item, error]) (dropped int, err error) {
	byID, byText := map[string]int{}, map[string][]int{}
	for i, it := range s.items {
		byID[it.ID] = i
		byText[it.Question+"\x00"+it.Response] = append(byText[it.Question+"\x00"+it.Response], i)
	}
	var adopted []deem.Item
	var found []int
	taken := map[int]bool{}
	for it, err := range items {
		if err != nil {
			return 0, err
		}
		row := -1
		if i, ok := byID[it.ID]; ok && s.items[i].Response == it.Response && !taken[i] {
			row = i
		}
		key := it.Question + "\x00" + it.Response
		for _, i := range byText[key] {
			if row < 0 && !taken[i] {
				row = i
			}
		}
		if row >= 0 {
			taken[row] = true
		}
		adopted, found = append(adopted, it), append(found, row)
	}
	dropped = len(s.items) - len(taken)
	s.elsewhere = nil
	return dropped, s.replace(adopted, found)
}

// Truth returns the truth about each item, nil for an item without one, and whether a
// column for it was mapped at all.
func (s *Set) Truth() ([]*deem.Verdict, bool) { return slices.Clone(s.truth), s.truth != nil }

// Know adds numbers computed from the rows, so that a [Claim] can refer to them by name.
func (s *Set) Know(stats map[string]float64) {
	if s.stats == nil {
		s.stats = map[string]float64{}
	}
	maps.Copy(s.stats, stats)
}

// A place is the location of a row or of a section: a value of the files, and a path in it.
type place struct {
	value int
	path  string
}

func (p place) within(section place) bool {
	return rows.Row{Value: p.value, Path: p.path}.Within(section.value, section.path)
}

// count returns the number of items in a section; nil means all.
func (s *Set) count(in *place) int {
	if in == nil {
		return len(s.items)
	}
	n := 0
	for _, p := range s.places {
		if p.within(*in) {
			n++
		}
	}
	return n
}

// leave records that rows were left out.
func (s *Set) leave(format string, args ...any) {
	s.LeftOut = append(s.LeftOut, fmt.Sprintf(format, args...))
}

// Note adds a note for the user.
func (s *Set) Note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}
