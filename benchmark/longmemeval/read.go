package longmemeval

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"deem"
	"deem/benchmark/internal/itemset"
	"deem/internal/text"
)

// Options say what to read.
type Options struct {
	// Data are the published files with the questions: a JSON array or JSONL,
	// compressed or not; "-" is standard input. Their haystacks may be huge; of
	// each question only what a judge needs is kept.
	Data []string

	// Responses are files with what a system answered, which upstream calls
	// hypotheses. Without them Data must hold the responses too, and without Data
	// they must hold the questions.
	Responses []string

	Stdin io.Reader // what "-" reads

	// RequireAll makes a question without a response an error.
	RequireAll bool

	Limit int // only the first so many items; 0 means all
}

// The columns that rows may have, the published name first. The others are what
// people who store question and response in one file call them.
var (
	idColumns        = []string{"question_id", "id"}
	typeColumns      = []string{"question_type", "category"}
	referenceColumns = []string{"answer", "reference", "ground_truth"}
	responseColumns  = []string{"hypothesis", "response", "prediction"}
)

const (
	questionColumn = "question"
	dateColumn     = "question_date"
)

// A Set is the items of the benchmark: questions with responses, in the order of the
// responses. Notes tells how the files were joined: responses to unknown questions,
// questions without a response, and the like.
type Set struct{ itemset.Held }

// Open joins questions and responses into items, in the order of the responses. It
// reads everything once and checks it before a cent is spent; when rows are wrong,
// the error is a [*deem.Problems]. One row of a file is in memory at a time, and of
// each question what a judge needs.
func Open(ctx context.Context, o Options) (*Set, error) {
	if err := itemset.CheckNames(slices.Concat(o.Data, o.Responses)); err != nil {
		return nil, err
	}
	j := &join{questions: map[string]question{}, responses: map[string]place{}}
	if err := j.read(ctx, o); err != nil {
		return nil, err
	}
	j.match(o.RequireAll)
	advice := ""
	if len(o.Data) == 0 {
		advice = "a file of responses alone must hold the questions too; otherwise name the published data"
	}
	if err := j.problems.Err(advice); err != nil {
		return nil, err
	}
	return j.set(o)
}

// A place is where a row stands.
type place struct {
	file string
	line int
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

// A question is what is kept of a published question.
type question struct {
	place
	kind      string
	text      string
	reference string
	date      string
}

// A response is what is kept of a system's answer.
type response struct {
	place
	id   string
	text string
	took map[string]string // by the system, as fields of the item
}

// A join collects questions and responses, and what is wrong with them.
type join struct {
	questions map[string]question
	order     []string         // ids of the questions, as in the files
	responses map[string]place // where the response to each question is
	answers   []response       // as in the files

	items    []deem.Item
	notes    []string
	problems itemset.Problems
}

// read reads all files.
func (j *join) read(ctx context.Context, o Options) error {
	if len(o.Data) == 0 || len(o.Responses) == 0 {
		return j.rows(ctx, slices.Concat(o.Data, o.Responses), o.Stdin, j.whole)
	}
	if err := j.rows(ctx, o.Data, o.Stdin, j.question); err != nil {
		return err
	}
	return j.rows(ctx, o.Responses, o.Stdin, j.response)
}

// rows reads the rows of some files and gives them to visit, which reports a
// problem with one.
func (j *join) rows(ctx context.Context, names []string, stdin io.Reader, visit func(*itemset.Row) error) error {
	in := itemset.Input{Names: names, Stdin: stdin, Want: wanted, Whole: isRow}
	notes, err := itemset.Visit(ctx, in, &j.problems, visit)
	j.notes = append(j.notes, notes...)
	return err
}

// wanted says which columns are needed; formats that can, do not read the others.
func wanted(column string) bool {
	return column == questionColumn || column == dateColumn || itemset.IsSystemColumn(column) ||
		slices.Contains(slices.Concat(idColumns, typeColumns, referenceColumns, responseColumns), column)
}

// isRow says that a file which is one object is one row when it has an id.
func isRow(keys []string) bool {
	return slices.ContainsFunc(idColumns, func(c string) bool { return slices.Contains(keys, c) })
}

// value returns the first of the columns that the row has.
func value(row *itemset.Row, columns []string) (itemset.Value, bool) {
	for _, c := range columns {
		if v := row.Get(c); !v.Missing() {
			return v, true
		}
	}
	return itemset.Value{}, false
}

// idOf returns the id of a row.
func idOf(row *itemset.Row) (string, error) {
	v, ok := value(row, idColumns)
	if !ok || v.Blank() {
		return "", itemset.At(row, "the row has no %s", idColumns[0])
	}
	return v.Str(), nil
}

// question takes a row of the published data.
func (j *join) question(row *itemset.Row) error {
	id, err := idOf(row)
	if err != nil {
		return err
	}
	if first, ok := j.questions[id]; ok {
		return itemset.At(row, "question %q was given before, at %s", id, first.place)
	}
	q := question{place: place{row.File, row.Line}}
	// The id counts as taken, whatever else is wrong with the row.
	defer func() { j.questions[id] = q }()
	j.order = append(j.order, id)

	if v, ok := value(row, typeColumns); ok {
		q.kind = v.Str()
	}
	if !isAbstention(id) && !strings.HasSuffix(q.kind, abstentionMark) && promptOf[q.kind] == "" {
		return itemset.At(row, "question %q has %s", id, unknownType(q.kind))
	}
	if v := row.Get(questionColumn); !v.Blank() {
		q.text = v.Str()
	} else {
		return itemset.At(row, "question %q has no text: the column %q is missing or empty", id, questionColumn)
	}
	v, ok := value(row, referenceColumns)
	if !ok {
		return itemset.At(row, "question %q has no answer to judge by: the column %q is missing", id, referenceColumns[0])
	}
	q.reference = v.Str()
	if v := row.Get(dateColumn); !v.Missing() {
		q.date = v.Str()
	}
	return nil
}

// unknownType says that no prompt is published for a type, and which types there
// are.
func unknownType(kind string) string {
	list := "known are " + strings.Join(types, ", ")
	if kind == "" {
		return "no question_type; " + list
	}
	if near := text.Closest(kind, types); near != "" {
		return fmt.Sprintf("the unknown question_type %q; did you mean %s? %s", kind, near, list)
	}
	return fmt.Sprintf("the unknown question_type %q; %s", kind, list)
}

// response takes a row of a system's answers.
func (j *join) response(row *itemset.Row) error {
	id, err := idOf(row)
	if err != nil {
		return err
	}
	if first, ok := j.responses[id]; ok {
		return itemset.At(row, "question %q was answered before, at %s", id, first)
	}
	here := place{row.File, row.Line}
	j.responses[id] = here
	v, ok := value(row, responseColumns)
	if !ok {
		// Upstream would judge the word None, which no system said.
		return deem.WithHint(itemset.At(row, "question %q has no %s", id, responseColumns[0]),
			"if the system gave nothing, write an empty string")
	}
	r := response{place: here, id: id}
	if _, known := j.questions[id]; known {
		r.text = v.Str() // Of the others only the id is kept, to be named.
		var it deem.Item
		itemset.SetSystemFields(&it, row.Get)
		r.took = it.Fields
	}
	j.answers = append(j.answers, r)
	return nil
}

// whole takes a row that holds the question and, unless the system gave none, the
// response.
func (j *join) whole(row *itemset.Row) error {
	if err := j.question(row); err != nil {
		return err
	}
	if _, ok := value(row, responseColumns); !ok {
		return nil
	}
	return j.response(row)
}
