// Package contexts reads what memory systems retrieved: a question with the passages that a
// reader answers it from.
//
// Programs write such files in many shapes: a text or a list of passages for each question,
// in lists, in lists for each conversation, or in a file for each question. [Open] finds the
// rows with package rows, and makes an item of each whose fields are those that package
// reader needs. The answer key, which most files keep beside the contexts, becomes the
// references of an item, and nothing of it becomes a field.
package contexts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"deem"
	"deem/internal/dataset"
	"deem/internal/rows"
	"deem/internal/words"
)

// Fields with measurements of the retrieval.
const (
	FieldTokens  = "retrieval_tokens" // of the contexts, as the system counted them
	FieldLatency = "retrieval_ms"
)

// A Source selects files with contexts.
type Source struct {
	Names  []string // files, folders, patterns or addresses; "-" is Stdin
	Stdin  io.Reader
	Format string // a format of package dataset; "" detects it

	// Map assigns columns to parts of an item, if their names do not. The part of the
	// contexts is field.contexts, and that of the date field.question_date.
	Map dataset.Mapping
}

// A Set is the contexts of a system, as items without responses.
type Set struct {
	items []deem.Item
	names []string
	notes []string
	hash  string
}

// Open reads all contexts. If the files have none that can be read, the error says what they
// have instead.
func Open(ctx context.Context, src Source) (*Set, error) {
	files, err := dataset.OpenFiles(ctx, dataset.Input{
		Names: src.Names, Stdin: src.Stdin, Format: src.Format, Whole: func([]string) bool { return true },
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = files.Close() }()
	values, err := readValues(ctx, files)
	if err != nil {
		return nil, err
	}
	name := strings.Join(src.Names, ", ")
	if len(values) == 0 {
		return nil, fmt.Errorf("%s: there is nothing in it", name)
	}
	b := &builder{mapping: src.Map, values: values, seen: map[string]string{}, placed: map[string]int{}}
	found := rows.Finder{
		Grade: b.grade,
		Same:  func(o rows.Node) string { return string(o.AppendJSON(nil)) },
		Question: func(o rows.Node) string {
			return b.part(o, rows.Question).Str()
		},
	}.Find(values)
	if len(found.Rows) == 0 {
		return nil, refusal(name, values, found.Opaque)
	}
	b.learn(found.Rows)
	for _, r := range found.Rows {
		if err := b.add(r); err != nil {
			return nil, err
		}
	}
	s := &Set{items: b.items, names: src.Names, notes: slices.Concat(files.Notes(), found.LeftOut, b.notes())}
	s.hash, err = deem.DatasetHash(s.Items())
	return s, err
}

// readValues reads the values of all files.
func readValues(ctx context.Context, files *dataset.Files) ([]rows.Value, error) {
	var values []rows.Value
	var problems deem.Problems
	for v, err := range files.Values(ctx) {
		if p, ok := errors.AsType[deem.Problem](err); ok {
			problems.Add(p)
			continue
		}
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, problems.Err()
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

// Len returns the number of items.
func (s *Set) Len() int { return len(s.items) }

// Hash returns the hash of the items.
func (s *Set) Hash() string { return s.hash }

// Names returns the names of the files.
func (s *Set) Names() []string { return slices.Clone(s.names) }

// Notes returns what the user should know about the files.
func (s *Set) Notes() []string { return slices.Clone(s.notes) }

// Close does nothing, because the files are in memory.
func (s *Set) Close() error { return nil }

// Asked returns an error unless every item has a question.
func (s *Set) Asked() error {
	n := 0
	for _, it := range s.items {
		if it.Question == "" {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return deem.WithHint(fmt.Errorf("%s: %s of %s no question", strings.Join(s.names, ", "), words.Comma(n), words.Plural(len(s.items), "context has", "contexts have")),
		"name the file that has the questions: --data FILE; or their column: --map question=COLUMN")
}

// Judgeable returns an error unless some item has a reference.
func (s *Set) Judgeable() error {
	if slices.ContainsFunc(s.items, func(it deem.Item) bool { return len(it.References) > 0 }) {
		return nil
	}
	return deem.WithHint(fmt.Errorf("%s: there are no references to judge answers by", strings.Join(s.names, ", ")),
		"name the file that has them: --data FILE; or their column: --map references=COLUMN")
}

// refusal says why files have no contexts that can be read.
func refusal(name string, values []rows.Value, questions []rows.Row) error {
	if col := idColumn(questions); col != "" {
		return deem.WithHint(fmt.Errorf("%s: %s has the ids of passages and not their texts, so there is nothing to answer from", name, col),
			"write the text of each passage next to its question, under contexts")
	}
	if rankingOnly(values) {
		return deem.WithHint(fmt.Errorf("%s: it is a ranking, with the ids of passages for each question and not their texts, so there is nothing to answer from", name),
			"write a row for each question with question, and the texts of the passages under contexts")
	}
	if counts := countColumns(values); len(counts) > 0 {
		return deem.WithHint(fmt.Errorf("%s: it counts what was retrieved (%s) and does not have the texts, so there is nothing to answer from", name, strings.Join(counts, ", ")),
			"write the text that the reader saw in each row, under contexts")
	}
	return deem.WithHint(fmt.Errorf("%s: no row has a question, or an id, and contexts", name),
		"contexts are read from %s; --map %s=COLUMN names another column", strings.Join(contextNames[:6], ", "), contextsPart)
}
