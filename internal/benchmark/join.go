package benchmark

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/dataset"
	"deem/internal/rows"
)

// A Join builds items from questions and responses in separate files, or in one file. They
// are joined by the id of the question, and items come in the order of the responses.
type Join struct {
	// Options says what to read: Data are the files with the questions, and Responses
	// those with the system's answers. If one is empty, the other must contain both.
	Options

	// The columns of the id and the response, the published name first, and further
	// columns that Question and Answer use. Other columns are not read if the format
	// allows it. Names of the id and the response may be spelled in another way; see
	// [rows.Plain].
	ID, Response, Further []string

	// Key returns the id of a row that has no id column, derived from the rest of the
	// row. It may be nil.
	Key func(row *Row) (string, bool)

	// Question fills in the item of a question, except for its id and response.
	Question func(it *deem.Item, row *Row) error

	// Answer adds further values from the row of the response to an item. It may be
	// nil.
	Answer func(it *deem.Item, row *Row) error

	// Keep reports whether an item is wanted, and Dropped is the text of the note about
	// the others. Keep may be nil.
	Keep    func(it deem.Item) bool
	Dropped string

	// Notes returns further remarks about the items for the user. It may be nil.
	Notes func(items []deem.Item) []string
}

// A spot is the location of a row.
type spot struct {
	file string
	line int
}

func (s spot) String() string { return fmt.Sprintf("%s:%d", s.file, s.line) }

// An answer is a response with the fields of its row.
type answer struct {
	id string
	deem.Item
}

// A joining is the state of a join.
type joining struct {
	Join
	questions map[string]deem.Item
	asked     map[string]spot
	order     []string // ids of the questions, in file order
	answered  map[string]spot
	answers   []answer            // in file order
	gold      map[string][]string // ids of the documents with the answer, for questions that name them

	notes    []string
	problems Problems
}

// Open joins questions and responses. It reads and checks everything before any call is
// made; if rows are invalid, the error is a [*deem.Problems]. Only one row of a file is in
// memory at a time, plus the item of each question.
func (j Join) Open(ctx context.Context) (Set, error) {
	names := slices.Concat(j.Data, j.Responses)
	if err := CheckNames(names); err != nil {
		return nil, err
	}
	g := &joining{Join: j, questions: map[string]deem.Item{}, asked: map[string]spot{}, answered: map[string]spot{}, gold: map[string][]string{}}
	var err error
	if len(j.Data) == 0 || len(j.Responses) == 0 {
		err = g.rows(ctx, names, g.whole)
	} else if err = g.rows(ctx, j.Data, g.question); err == nil {
		err = g.rows(ctx, j.Responses, g.response)
	}
	if err != nil {
		return nil, err
	}
	var items []deem.Item
	var unknown, missing []string
	if j.Unanswered {
		g.answers = nil
		for _, id := range g.order {
			g.answers, g.answered[id] = append(g.answers, answer{id, g.questions[id]}), g.asked[id]
		}
	}
	for _, a := range g.answers {
		if _, ok := g.questions[a.id]; ok {
			items = append(items, a.Item)
		} else {
			unknown = append(unknown, a.id)
		}
	}
	for _, id := range g.order {
		if _, ok := g.answered[id]; ok {
			continue
		}
		missing = append(missing, id)
		if at := g.asked[id]; g.RequireAll {
			g.problems.Add(deem.Problem{File: at.file, Line: at.line, Message: fmt.Sprintf("question %q has no response", id)}, "")
		}
	}
	g.notes = Note(g.notes, unknown, "response", "to no question of the data, left out")
	g.notes = Note(g.notes, missing, "question", "without a response, in no number")
	advice := ""
	if len(j.Data) == 0 {
		advice = "a file of responses alone must hold the questions too; otherwise name the published data"
	}
	if err := g.problems.Err(advice); err != nil {
		return nil, err
	}
	if j.Keep != nil {
		var dropped []string
		items = slices.DeleteFunc(items, func(it deem.Item) bool {
			if !j.Keep(it) {
				dropped = append(dropped, it.ID)
				return true
			}
			return false
		})
		g.notes = Note(g.notes, dropped, "question", j.Dropped)
	}
	if len(items) == 0 {
		return nil, g.nothing()
	}
	if j.Notes != nil {
		g.notes = append(g.notes, j.Notes(items)...)
	}
	items, notes := Limit(items, j.Limit, g.notes)
	return Hold(items, names, notes)
}

// rows calls visit for the rows of some files. The error of visit concerns one row.
func (g *joining) rows(ctx context.Context, names []string, visit func(*Row) error) error {
	columns := slices.Concat(g.ID, g.Response, g.Further)
	var plain []string
	for _, name := range slices.Concat(g.ID, g.Response) {
		plain = append(plain, rows.Plain(name))
	}
	in := Input{Names: names, Stdin: g.Stdin, Whole: g.IsRow, Want: func(column string) bool {
		return slices.Contains(columns, column) || slices.Contains(plain, rows.Plain(column)) || dataset.IsSystemColumn(column)
	}}
	notes, err := Visit(ctx, in, &g.problems, visit)
	g.notes = append(g.notes, notes...)
	return err
}

// IsRow reports whether a file that is a single object is one row: it is if it has an id.
func (j Join) IsRow(keys []string) bool {
	return slices.ContainsFunc(j.ID, func(c string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return rows.Plain(key) == rows.Plain(c) })
	})
}

// RowID returns the id of a row.
func (j Join) RowID(row *Row) (string, error) {
	v, ok := named(row, j.ID)
	if !ok && j.Key != nil {
		if id, ok := j.Key(row); ok {
			return id, nil
		}
	}
	if !ok || v.Blank() {
		return "", At(row, "the row has no %s", j.ID[0])
	}
	return v.Str(), nil
}

// First returns the value in the first of the columns that the row has.
func First(row *Row, columns ...string) (Value, bool) {
	for _, c := range columns {
		if v := row.Get(c); !v.Missing() {
			return v, true
		}
	}
	return Value{}, false
}

// named returns the value in the first of the columns that the row has, in any spelling if
// it has none as it stands.
func named(row *Row, columns []string) (Value, bool) {
	if v, ok := First(row, columns...); ok {
		return v, true
	}
	for _, c := range columns {
		for _, name := range row.Names() {
			if v := row.Get(name); !v.Missing() && rows.Plain(name) == rows.Plain(c) {
				return v, true
			}
		}
	}
	return Value{}, false
}

// question adds a row of the published data.
func (g *joining) question(row *Row) error {
	id, err := g.RowID(row)
	if err != nil {
		return err
	}
	if first, ok := g.asked[id]; ok {
		return At(row, "question %q was given before, at %s", id, first)
	}
	// The id is taken even if the row is invalid for another reason.
	g.asked[id] = spot{row.File, row.Line}
	g.order = append(g.order, id)
	it := deem.Item{ID: id}
	if ids, ok := dataset.Gold(row.Get); ok {
		g.gold[id] = ids
	}
	err = g.Question(&it, row)
	g.questions[id] = it
	return err
}

// response adds a row of a system's answers.
func (g *joining) response(row *Row) error {
	id, err := g.RowID(row)
	if err != nil {
		return err
	}
	if first, ok := g.answered[id]; ok {
		return At(row, "question %q was answered before, at %s", id, first)
	}
	g.answered[id] = spot{row.File, row.Line}
	v, ok := named(row, g.Response)
	if !ok {
		// Python programs would judge the string None, which is not the system's
		// answer.
		return deem.WithHint(At(row, "question %q has no %s", id, g.Response[0]), "if the system gave nothing, write an empty string")
	}
	a := answer{id: id}
	if it, known := g.questions[id]; known { // Of the others only the id is kept, for a note.
		a.Item = it
		a.Response = v.Str()
		SetSystemFields(&a.Item, row.Get)
		if ranked, ok := dataset.Ranked(row.Get); ok && g.gold[id] != nil {
			dataset.SetRetrieved(&a.Item, ranked, g.gold[id])
		}
		if g.Answer != nil {
			err = g.Answer(&a.Item, row)
		}
	}
	g.answers = append(g.answers, a)
	return err
}

// whole adds a row that contains the question and, if the system gave one, the response.
func (g *joining) whole(row *Row) error {
	if err := g.question(row); err != nil {
		return err
	}
	if _, ok := named(row, g.Response); !ok {
		return nil
	}
	return g.response(row)
}

// nothing returns an error that says why there are no items.
func (g *joining) nothing() error {
	switch {
	case len(g.Responses) == 0:
		return deem.WithHint(fmt.Errorf("no row of %s has a response", strings.Join(g.Data, ", ")),
			"name the file with the system's responses too, or put them in a column %q", g.Response[0])
	case len(g.answers) == 0:
		return fmt.Errorf("no row of %s has a response", strings.Join(g.Responses, ", "))
	case len(g.order) == 0:
		return fmt.Errorf("no question in %s", strings.Join(g.Data, ", "))
	default:
		return deem.WithHint(errors.New("no response answers a question of the data"),
			"the ids must be equal; the first response has %q, the first question %q", g.answers[0].id, g.order[0])
	}
}
