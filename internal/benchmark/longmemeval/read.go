package longmemeval

import (
	"context"
	"fmt"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/dataset"
	"deem/internal/reader"
	"deem/internal/rows"
	"deem/internal/text"
)

// Options says what to read. Data are the published files with the questions, whose
// haystacks may be huge: only what a judge needs is kept. Responses are what upstream calls
// hypotheses. Without them Data must contain the responses too, and without Data they must
// contain the questions.
type Options = benchmark.Options

// The columns that rows may have, the published name first. The others are used in files
// with question and response in one row.
var (
	typeColumns      = []string{"question_type", "category"}
	referenceColumns = []string{"answer", "reference", "ground_truth"}
)

const (
	questionColumn = "question"
	dateColumn     = "question_date"

	sessionsColumn = "haystack_sessions"
	datesColumn    = "haystack_dates"
	idsColumn      = "haystack_session_ids"
)

// join returns the settings for joining questions and responses.
func join(o Options) benchmark.Join {
	j := benchmark.Join{
		Options:  o,
		ID:       rows.NamesAfter(rows.ID, "question_id"),
		Response: rows.NamesAfter(rows.Response, "hypothesis"),
		Further:  append(append([]string{questionColumn, dateColumn}, typeColumns...), referenceColumns...),
		Question: readQuestion, Notes: notesOn,
	}
	if o.Unanswered {
		j.Question = func(it *deem.Item, row *benchmark.Row) error {
			dataset.SetGold(it, row.Get)
			return readQuestion(it, row)
		}
	}
	if o.Arm != "" {
		j.Further = append(j.Further, sessionsColumn, datesColumn, idsColumn)
		j.Question = func(it *deem.Item, row *benchmark.Row) error {
			if err := readQuestion(it, row); err != nil {
				return err
			}
			return readHistory(it, row, o.Arm)
		}
	}
	return j
}

// Open joins questions and responses into items, in the order of the responses. It reads
// and checks everything before any call is made; if rows are invalid, the error is a
// [*deem.Problems]. Notes of the set describes how the files were joined: for example,
// responses to unknown questions and questions without a response.
func Open(ctx context.Context, o Options) (benchmark.Set, error) { return join(o).Open(ctx) }

// readQuestion reads a row of the published data.
func readQuestion(it *deem.Item, row *benchmark.Row) error {
	if v, ok := benchmark.First(row, typeColumns...); ok {
		it.Category = v.Str()
	}
	if !isAbstention(it.ID) && !strings.HasSuffix(it.Category, abstentionMark) && promptOf[it.Category] == "" {
		return benchmark.At(row, "question %q has %s", it.ID, unknownType(it.Category))
	}
	v := row.Get(questionColumn)
	if v.Blank() {
		return benchmark.At(row, "question %q has no text: the column %q is missing or empty", it.ID, questionColumn)
	}
	it.Question = v.Str()
	v, ok := benchmark.First(row, referenceColumns...)
	if !ok {
		return benchmark.At(row, "question %q has no answer to judge by: the column %q is missing", it.ID, referenceColumns[0])
	}
	it.References = []string{v.Str()}
	if v := row.Get(dateColumn); !v.Missing() && v.Str() != "" {
		benchmark.SetField(it, dateColumn, v.Str())
	}
	return nil
}

// readHistory gives the item of a row the contexts of an arm. Upstream cuts a history that
// is too long at its end.
func readHistory(it *deem.Item, row *benchmark.Row, arm string) error {
	ids, ok := row.Get(idsColumn).List()
	sessions, also := row.Get(sessionsColumn).List()
	if !ok || !also || len(ids) != len(sessions) {
		return deem.WithHint(benchmark.At(row, "question %q has no history: it needs %s and as many %s", it.ID, sessionsColumn, idsColumn),
			"longmemeval_s.json, longmemeval_m.json and longmemeval_oracle.json have the sessions")
	}
	dates, _ := row.Get(datesColumn).List()
	h := benchmark.History{Cut: reader.CutEnd}
	for i, session := range sessions {
		c := reader.Context{ID: ids[i].Str()}
		if i < len(dates) {
			c.Time = dates[i].Str()
		}
		turns, _ := session.List()
		for _, t := range turns {
			c.Turns = append(c.Turns, reader.Turn{Role: t.Get("role").Str(), Text: t.Get("content").Str()})
		}
		h.Passages = append(h.Passages, c)
	}
	evidence, ok := dataset.Gold(row.Get)
	if !ok && arm == reader.ArmOracle {
		return benchmark.At(row, "question %q does not say which sessions contain the answer: the column answer_session_ids is missing", it.ID)
	}
	return h.SetContexts(it, arm, evidence)
}

// notesOn names the questions for which only one reading has a prompt.
func notesOn(items []deem.Item) []string {
	var byType []string
	for _, it := range items {
		if !isAbstention(it.ID) && promptOf[it.Category] == "" {
			byType = append(byType, it.ID)
		}
	}
	return benchmark.Note(nil, byType, "question", "of a type that ends in "+abstentionMark+", for which only the reading "+Seed+" has a prompt")
}

// unknownType returns the message that there is no published prompt for a type, with the
// list of types.
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
