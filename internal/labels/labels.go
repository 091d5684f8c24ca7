// Package labels reads what people said about items: one label or score for each item
// and annotator, from CSV, JSONL, JSON, Parquet or YAML.
//
// [Read] returns a [Set]. What several annotators say of one item becomes an
// [Opinion], by majority; where they are evenly split, there is none. A set is also a
// [deem.Judge], so that verdicts which were recorded elsewhere, by people or by
// another program, become a run like any other. [ReadKnown] reads a registry of
// disagreements that are known, and [Bind] writes into a file which judge it was
// made for.
package labels

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/judge"
)

// A Label is what one annotator said of one item.
type Label struct {
	Item      string `json:"item"`                // the item's id
	Annotator string `json:"annotator,omitempty"` // "" when nobody said who it was

	// Yes is the decision. Label is how the file spells it, and Score how it counts,
	// from 0 to 1.
	Yes   bool    `json:"yes"`
	Label string  `json:"label"`
	Score float64 `json:"score"`

	// Graded says that the decision was made from a score.
	Graded bool `json:"graded,omitempty"`

	// Confidence is how sure the annotator was, nil when they did not say.
	Confidence *float64 `json:"confidence,omitempty"`
	Reason     string   `json:"reason,omitempty"`

	// Response is what was labelled, nil when the file does not repeat it. A label is
	// about a response, and another response to the same question has none.
	Response *string `json:"response,omitempty"`

	// Drawn says how a plan drew the item; zero when the file does not say.
	Drawn Drawn `json:"-"`

	File string `json:"-"`
	Line int    `json:"-"`
}

// Drawn says that N items were drawn at random of the Of items of a stratum. The name of
// the stratum begins with that of the plan and a hyphen.
type Drawn struct {
	Stratum string
	N, Of   int
}

// String returns what a plan writes into the column drawn, as "8c1f-2 5/340", or "" when
// nobody says how the item was drawn.
func (d Drawn) String() string {
	if d == (Drawn{}) {
		return ""
	}
	return fmt.Sprintf("%s %d/%d", d.Stratum, d.N, d.Of)
}

// ReadDrawn reads what String returns. Other texts say nothing about how an item was drawn.
func ReadDrawn(text string) Drawn {
	var d Drawn
	n, err := fmt.Sscanf(strings.Replace(strings.TrimSpace(text), "/", " ", 1), "%s %d %d", &d.Stratum, &d.N, &d.Of)
	if err != nil || n != 3 || d.N < 1 || d.Of < d.N {
		return Drawn{}
	}
	return d
}

// A Source says which files to read, and how.
type Source struct {
	Names  []string  // "-" is standard input
	Stdin  io.Reader // what "-" reads
	Format string    // a format of package dataset, or "yaml"; "" decides by name and first bytes

	// Columns says which column holds which [Parts]. Others are found under the names
	// that people use.
	Columns map[string]string

	// Scale is the largest score. 0 means what the file says, else 1.
	Scale float64

	// Pass is the share of the scale from which a score says yes; 0 means one half.
	Pass float64

	// Labels are those of the judge that people are compared with. They go before the words
	// for yes and no.
	Labels []judge.Label

	// Yes and No are further words for yes and no.
	Yes, No []string

	// Annotator is who labelled, where the file does not say.
	Annotator string
}

// A Set is all labels of some files.
type Set struct {
	Names  []string
	Labels []Label // in the order of the files, each item and annotator once

	// JudgeHash is the hash of the judge that the labels are bound to, or its
	// beginning; "" when they are bound to none.
	JudgeHash string

	// Blank is how many rows have no label yet.
	Blank int

	// Notes are what the user should know about the files.
	Notes []string
}

// Read reads all labels. What is wrong in the files comes as *[deem.Problems].
func Read(ctx context.Context, src Source) (*Set, error) {
	if err := src.check(); err != nil {
		return nil, err
	}
	r := &reader{src: src, set: &Set{Names: src.Names}, seen: map[string]int{}}
	r.take = r.row
	if err := r.files(ctx); err != nil {
		return nil, err
	}
	if len(r.set.Labels) == 0 && r.set.Blank == 0 {
		return nil, deem.WithHint(fmt.Errorf("%s: there are no labels in it", strings.Join(src.Names, ", ")),
			"a label is a row with an item's id and yes or no, as id,label")
	}
	return r.set, nil
}

func (src Source) check() error {
	if len(src.Names) == 0 {
		return fmt.Errorf("no file of labels is named")
	}
	if src.Scale < 0 {
		return fmt.Errorf("the scale %v is not positive", src.Scale)
	}
	for part := range src.Columns {
		if !slices.Contains(Parts(), part) {
			return deem.WithHint(fmt.Errorf("a label has no part %q", part), "there are: %s", strings.Join(Parts(), ", "))
		}
	}
	return nil
}

// A reader gathers the labels of several files.
type reader struct {
	src      Source
	set      *Set
	problems deem.Problems
	hint     string // for the first problem that has one

	take func(row) // what becomes of a row

	scale     float64 // of this file, 0 for none
	annotator string

	lacks map[string]*lack // parts that rows of this file do not have, by part

	seen map[string]int // item and annotator to the place of the label
}

// files reads all files. What is wrong in them comes with the first advice.
func (r *reader) files(ctx context.Context) error {
	for _, name := range r.src.Names {
		r.scale, r.annotator, r.lacks = r.src.Scale, r.src.Annotator, map[string]*lack{}
		if err := r.file(ctx, name); err != nil {
			return err
		}
		r.lacking()
	}
	if err := r.problems.Err(); err != nil && r.hint != "" {
		return deem.WithHint(err, "%s", r.hint)
	}
	return r.problems.Err()
}

// file reads one file.
func (r *reader) file(ctx context.Context, name string) error {
	if r.src.Format == formatYAML || r.src.Format == "" && isYAML(name) {
		return r.yamlFile(name)
	}
	return r.rowsFile(ctx, name)
}

func isYAML(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// bad notes what is wrong at a place, and the first advice.
func (r *reader) bad(file string, line int, hint, format string, args ...any) {
	r.problems.Add(deem.Problem{File: file, Line: line, Message: fmt.Sprintf(format, args...)})
	r.hint = cmp.Or(r.hint, hint)
}

// bind notes which judge the file was made for.
func (r *reader) bind(file string, line int, hash string) {
	switch hash = strings.TrimSpace(hash); {
	case hash == "" || hash == r.set.JudgeHash:
	case len(hash) < shortest:
		r.bad(file, line, "deem list runs shows the hashes", "the judge hash %q is too short: it has at least %d digits", hash, shortest)
	case r.set.JudgeHash != "":
		r.bad(file, line, "give the files one by one", "these labels are bound to judge %s, and others to %s", hash, r.set.JudgeHash)
	default:
		r.set.JudgeHash = hash
	}
}

// shortest is how many digits of a hash tell one judge from another.
const shortest = 8

// add enters a label, once for each item and annotator.
func (r *reader) add(l Label) {
	key := l.Item + "\x00" + l.Annotator
	at, known := r.seen[key]
	if !known {
		r.seen[key] = len(r.set.Labels)
		r.set.Labels = append(r.set.Labels, l)
		return
	}
	old := r.set.Labels[at]
	if old.Yes == l.Yes && old.Score == l.Score {
		return // said twice
	}
	who := l.Annotator
	hint := ""
	if who == "" {
		who, hint = "somebody", "when several people labelled, say who in a column annotator"
	}
	r.bad(l.File, l.Line, hint, "item %q is labelled twice by %s: %s in line %d, and %s here", l.Item, who, old.Label, old.Line, l.Label)
}

// Annotators returns who labelled, sorted. Labels of nobody in particular count as
// one annotator, "".
func (s *Set) Annotators() []string {
	names := map[string]bool{}
	for _, l := range s.Labels {
		names[l.Annotator] = true
	}
	list := make([]string, 0, len(names))
	for name := range names {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// Hash returns the hash of what was said, whatever the form of the files.
func (s *Set) Hash() (string, error) {
	list := slices.Clone(s.Labels)
	slices.SortFunc(list, func(a, b Label) int {
		return cmp.Or(cmp.Compare(a.Item, b.Item), cmp.Compare(a.Annotator, b.Annotator))
	})
	return deem.Hash(list)
}
