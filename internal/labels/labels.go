// Package labels reads human labels: one label or score for each item and annotator, from
// CSV, JSONL, JSON, Parquet or YAML.
//
// [Read] returns a [Set]. The labels of several annotators on one item become an [Opinion]
// by majority; a tie has no decision. A set can also be used as a [deem.Judge], so that
// verdicts recorded elsewhere, by people or by another program, become a run like any
// other. [ReadKnown] reads a registry of known disagreements, and [Bind] writes into a file
// which judge it was made for.
package labels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/rows"
	"deem/judge"
)

// A Label is the label of one annotator on one item.
type Label struct {
	Item      string `json:"item"`                // the item's id
	Annotator string `json:"annotator,omitempty"` // "" if unknown

	// Yes is the decision. Label is its spelling in the file, and Score its value from
	// 0 to 1.
	Yes   bool    `json:"yes"`
	Label string  `json:"label"`
	Score float64 `json:"score"`

	// Graded means that the decision was derived from a score.
	Graded bool `json:"graded,omitempty"`

	// Confidence is that of the annotator, nil if not given.
	Confidence *float64 `json:"confidence,omitempty"`
	Reason     string   `json:"reason,omitempty"`

	// Response is the labelled response, nil if the file does not contain it. A label
	// is about one response; another response to the same question has none.
	Response *string `json:"response,omitempty"`

	// Drawn says how a plan drew the item; zero if unknown.
	Drawn Drawn `json:"-"`

	File string `json:"-"`
	Line int    `json:"-"`
}

// Drawn says that N of the Of items of a stratum were drawn at random. The name of the
// stratum begins with that of the plan and a hyphen.
type Drawn struct {
	Stratum string
	N, Of   int
}

// String returns the value of the column drawn, for example "8c1f-2 5/340", or "" if it is
// unknown how the item was drawn.
func (d Drawn) String() string {
	if d == (Drawn{}) {
		return ""
	}
	return fmt.Sprintf("%s %d/%d", d.Stratum, d.N, d.Of)
}

// ReadDrawn parses the result of String. It returns the zero value for other texts.
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
	Stdin  io.Reader // the input for "-"
	Format string    // a format of package dataset, or "yaml"; "" detects it by name and content

	// Columns maps [Parts] to columns. Other parts are found by the usual names.
	Columns map[string]string

	// Scale is the largest score. 0 means the scale stated in the file, else 1.
	Scale float64

	// Pass is the share of the scale from which a score means yes; 0 means one half.
	Pass float64

	// Labels are those of the judge that people are compared with. They take precedence
	// over the words for yes and no.
	Labels []judge.Label

	// Yes and No are additional words for yes and no.
	Yes, No []string

	// Annotator is the annotator if the file does not name one.
	Annotator string
}

// A Set contains all labels of some files.
type Set struct {
	Names  []string
	Labels []Label // in file order, each item and annotator once

	// JudgeHash is the hash, or a prefix of the hash, of the judge that the labels are
	// bound to; "" if there is none.
	JudgeHash string

	// Blank is the number of rows without a label.
	Blank int

	// Notes are remarks about the files for the user.
	Notes []string
}

// Read reads all labels. Errors in the files are returned as *[deem.Problems].
func Read(ctx context.Context, src Source) (*Set, error) {
	if len(src.Names) == 0 {
		return nil, errors.New("no file of labels is named")
	}
	if src.Scale < 0 {
		return nil, fmt.Errorf("the scale %v is not positive", src.Scale)
	}
	for part := range src.Columns {
		if !slices.Contains(Parts(), part) {
			return nil, deem.WithHint(fmt.Errorf("a label has no part %q", part), "there are: %s", strings.Join(Parts(), ", "))
		}
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

// A reader collects the labels of several files.
type reader struct {
	src      Source
	set      *Set
	problems deem.Problems
	hint     string // of the first problem that has one

	take func(rows.Row) // called for each row

	scale     float64 // of this file, 0 for none
	annotator string

	lacks map[string]*lack // parts that rows of this file lack, by part

	seen map[string]int // index of the label by item and annotator
}

// files reads all files. An error has the first hint.
func (r *reader) files(ctx context.Context) error {
	for _, name := range r.src.Names {
		r.scale, r.annotator, r.lacks = r.src.Scale, r.src.Annotator, map[string]*lack{"item": {}, "label": {}}
		if err := r.file(ctx, name); err != nil {
			return err
		}
		for _, part := range []string{"item", "label"} { // that no row of the file had
			switch l := r.lacks[part]; {
			case l.found || l.problems.Total == 0:
			case l.problems.Total == 1:
				r.spell(part, l)
			default:
				says := map[string]string{"item": "names an item", "label": "has a label"}[part]
				r.bad(l.first.File, 0, partHints[part], "none of the %d rows %s (columns here: %s)", l.problems.Total, says, strings.Join(l.first.Keys, ", "))
			}
		}
	}
	if err := r.problems.Err(); err != nil && r.hint != "" {
		return deem.WithHint(err, "%s", r.hint)
	}
	return r.problems.Err()
}

// bad records a problem at a location, and the first hint.
func (r *reader) bad(file string, line int, hint, format string, args ...any) {
	r.problems.Add(deem.Problem{File: file, Line: line, Message: fmt.Sprintf(format, args...)})
	r.hint = cmp.Or(r.hint, hint)
}

// bind records which judge the file was made for.
func (r *reader) bind(file string, line int, hash string) {
	switch hash = strings.TrimSpace(hash); {
	case hash == "" || hash == r.set.JudgeHash:
	case len(hash) < shortest:
		r.bad(file, line, "deem runs shows the hashes", "the judge hash %q is too short: it has at least %d digits", hash, shortest)
	case r.set.JudgeHash != "":
		r.bad(file, line, "give the files one by one", "these labels are bound to judge %s, and others to %s", hash, r.set.JudgeHash)
	default:
		r.set.JudgeHash = hash
	}
}

// shortest is the minimum number of digits of a hash that identifies a judge.
const shortest = 8

// Annotators returns the annotators, sorted. All labels without an annotator count as one
// annotator, "".
func (s *Set) Annotators() []string {
	names := map[string]bool{}
	for _, l := range s.Labels {
		names[l.Annotator] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Hash returns the hash of the labels, independent of the file format.
func (s *Set) Hash() (string, error) {
	list := slices.Clone(s.Labels)
	slices.SortFunc(list, func(a, b Label) int {
		return cmp.Or(cmp.Compare(a.Item, b.Item), cmp.Compare(a.Annotator, b.Annotator))
	})
	return deem.Hash(list)
}
