// Package convomem implements the ConvoMem benchmark as published: questions about what was
// said in up to 300 conversations, in six kinds, and prompts that ask a model for RIGHT or
// WRONG. [Open] reads the logs of its programs, which contain questions, answers and
// responses.
//
// The source is github.com/SalesforceAIResearch/ConvoMem at commit 80eba47, licence
// Apache-2.0.
package convomem

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/judge"
)

// Name is the name of the benchmark and of its judge.
const Name = "convomem"

// The description in the list of benchmarks.
const (
	About   = "questions about what was said in up to 300 conversations, judged right or wrong by a prompt for each kind"
	Where   = "huggingface.co/datasets/Salesforce/ConvoMem; code at github.com/SalesforceAIResearch/ConvoMem"
	Licence = "Apache-2.0"
)

// The readings.
const (
	Upstream = "upstream" // "right" anywhere in the reply, and no "wrong"
	Strict   = "strict"   // one of the two labels, clearly stated
)

// Readings returns the names of the readings, the default first.
func Readings() []string { return []string{Upstream, Strict} }

// The fields of an item: the messages that contain the answer, formatted for the prompts,
// their number, and the number of conversations.
const (
	fieldEvidence = "evidence_messages"
	fieldCount    = "evidence_count"
	fieldSize     = "context_size"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

// promptOf is the prompt of each kind of question, from the result of its generator's
// getAnsweringEvaluation. Questions about facts of the user have two.
var promptOf = map[string]string{
	"user_facts": "user_facts", "assistant_facts": "default", "changing": "default", "changing_evidence": "default",
	"abstention": "abstention", "preferences": "rubric", "implicit_connection": "rubric", "implicit_connections": "rubric", "temporal": "temporal",
}

// Options says what to read. Data are correct_responses.json and incorrect_responses.json,
// which contain the responses too.
type Options = benchmark.Options

// Open reads the logs of an evaluation. Both files are needed: one alone contains only what
// was judged right, or wrong.
func Open(ctx context.Context, o Options) (benchmark.Set, error) {
	if err := errors.Join(benchmark.NoResponses(Name, o.Responses), benchmark.CheckNames(o.Data)); err != nil {
		return nil, err
	}
	var items []deem.Item
	var problems benchmark.Problems
	isRow := func(keys []string) bool { return slices.Contains(keys, "contextTestResult") }
	notes, err := benchmark.Visit(ctx, benchmark.Input{Names: o.Data, Stdin: o.Stdin, Whole: isRow}, &problems, func(row *benchmark.Row) error {
		it, err := item(row, len(items)+1)
		items = append(items, it)
		return err
	})
	if err == nil {
		err = problems.Err("")
	}
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("no result in %s", strings.Join(o.Data, ", "))
	}
	if len(o.Data) == 1 {
		notes = append(notes, "one file of two: upstream writes what it judged right and what it judged wrong into files of their own")
	}
	items, notes = benchmark.Limit(items, o.Limit, notes)
	return benchmark.Hold(items, o.Data, notes)
}

func item(row *benchmark.Row, n int) (deem.Item, error) {
	kind := row.Get("evidenceType").Str()
	it := deem.Item{Category: kind}
	if promptOf[kind] == "" {
		return it, benchmark.At(row, "the unknown evidenceType %q; known are %s", kind, strings.Join(slices.Sorted(maps.Keys(promptOf)), ", "))
	}
	evidence := func(name string) benchmark.Value { return row.Get("contextTestResult.evidenceItem." + name) }
	response := row.Get("contextTestResult.modelAnswer")
	if evidence("question").Blank() || evidence("answer").Missing() || response.Missing() {
		return it, benchmark.At(row, "the result has no question, no answer or no modelAnswer")
	}
	size := row.Get("contextTestResult.contextSize").Str()
	it.ID = fmt.Sprintf("%s/%s/%d", kind, size, n)
	it.Question, it.References, it.Response = evidence("question").Str(), []string{evidence("answer").Str()}, response.Str()
	if v := evidence("personId"); !v.Blank() {
		it.Cluster = v.Str()
	}
	messages, _ := evidence("message_evidences").List()
	var lines []string
	for i, m := range messages {
		line := m.Get("text").Str()
		if len(messages) > 1 {
			line = fmt.Sprintf("Evidence Message %d: %s", i+1, line)
		}
		lines = append(lines, line)
	}
	benchmark.SetField(&it, fieldEvidence, strings.Join(lines, "\n"))
	benchmark.SetField(&it, fieldCount, fmt.Sprint(len(messages)))
	benchmark.SetField(&it, fieldSize, size)
	for field, path := range map[string]string{
		deem.FieldTokensIn: "answerResult.inputTokens", deem.FieldTokensOut: "answerResult.outputTokens",
		deem.FieldCost: "answerResult.cost", deem.FieldLatency: "responseTimeMs",
	} {
		if v := row.Get(path); !v.Blank() {
			benchmark.SetField(&it, field, v.Str())
		}
	}
	return it, retrieved(&it, row)
}

// retrieved sets the conversations that the system retrieved, and those that contain the
// answer.
func retrieved(it *deem.Item, row *benchmark.Row) error {
	found, ok := row.Get("answerResult.retrievedConversationIds").List()
	conversations, _ := row.Get("contextTestResult.evidenceItem.conversations").List()
	var ranked, gold []string
	for _, v := range found {
		ranked = append(ranked, v.Str())
	}
	for _, c := range conversations {
		if id := c.Get("id"); !id.Blank() {
			gold = append(gold, id.Str())
		}
	}
	if !ok || len(gold) == 0 {
		return nil
	}
	for field, ids := range map[string][]string{"retrieved": ranked, "gold_ids": gold} {
		text, err := json.Marshal(append([]string{}, ids...))
		if err != nil {
			return err
		}
		benchmark.SetField(it, field, string(text))
	}
	return nil
}

// A P is the protocol under one reading.
type P struct {
	reading string
	prompts map[string]string
}

var _ judge.Readable = (*P)(nil)

// Protocol returns the protocol under the named reading; "" means [Upstream].
func Protocol(reading string) (*P, error) {
	reading, err := benchmark.CheckReading(Name, reading, Readings())
	if err != nil {
		return nil, err
	}
	return &P{reading: reading, prompts: benchmark.Embedded(promptFiles)}, nil
}

// Name returns "convomem".
func (p *P) Name() string { return Name }

// Reading returns the name of the current reading.
func (p *P) Reading() string { return p.reading }

// Spec returns the bytes of the prompts and the reading.
func (p *P) Spec() judge.Spec {
	return judge.Spec{Kind: judge.KindModel, Name: Name, Version: 1, Reading: p.reading, Prompts: p.prompts}
}

// Reread returns the protocol under its other reading.
func (p *P) Reread() judge.Readable {
	twin := *p
	if twin.reading = Upstream; p.reading == Upstream {
		twin.reading = Strict
	}
	return &twin
}

// FailuresWrong returns false: upstream retries, and leaves out what it cannot read.
func (p *P) FailuresWrong() bool { return false }

// Request renders the prompt of the item's kind.
func (p *P) Request(it deem.Item) (deem.Request, error) {
	name, ok := promptOf[it.Category]
	if !ok || len(it.References) == 0 {
		return deem.Request{}, deem.Failf(deem.Input, "there is no prompt for an item of kind %q, or it has no answer", it.Category)
	}
	if name == "user_facts" && it.Fields[fieldCount] == "1" {
		name = "user_fact"
	}
	return deem.Prompt(strings.NewReplacer(
		"{question}", it.Question, "{correctAnswer}", it.References[0], "{modelAnswer}", it.Response,
		"{evidenceMessageText}", it.Fields[fieldEvidence], "{evidenceMessagesText}", it.Fields[fieldEvidence],
	).Replace(p.prompts[name])), nil
}

// form is what the prompts demand.
var form = judge.MustForm("", "RIGHT", "WRONG")

// Read returns the verdict that the reply gives under the protocol's reading.
func (p *P) Read(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	var label string
	if p.reading == Strict {
		found, err := form.Read(it, reply.Text)
		if err != nil {
			return deem.Verdict{}, err
		}
		label = found.Label
	} else {
		said := strings.ToLower(reply.Text)
		switch {
		case strings.Contains(said, "wrong"):
			label = "WRONG"
		case strings.Contains(said, "right"):
			label = "RIGHT"
		default:
			return deem.Verdict{}, deem.Failf(deem.Unparseable, "the reply says neither RIGHT nor WRONG")
		}
	}
	v := deem.Verdict{Label: label}
	if label == "RIGHT" {
		v.Score = 1
	}
	return v, nil
}

// Metrics is the accuracy by kind and by number of conversations, as upstream reports it.
type Metrics struct {
	lines map[[2]string]*benchmark.Tally
	all   benchmark.Tally
}

// NewMetrics returns metrics without records.
func NewMetrics() *Metrics { return &Metrics{lines: map[[2]string]*benchmark.Tally{}} }

// Add adds a record.
func (m *Metrics) Add(rec deem.Record) {
	if rec.Trial != 0 {
		return
	}
	key := [2]string{rec.Item.Category, rec.Item.Fields[fieldSize]}
	if m.lines[key] == nil {
		m.lines[key] = &benchmark.Tally{}
	}
	m.lines[key].Add(rec)
	m.all.Add(rec)
}

// A Line is the accuracy of one kind for one number of conversations.
type Line struct {
	Kind          string `json:"kind"`
	Conversations string `json:"conversations"`
	benchmark.Line
}

// Lines returns all lines. The last one covers all items.
func (m *Metrics) Lines() []Line {
	keys := slices.SortedFunc(maps.Keys(m.lines), func(a, b [2]string) int {
		return cmp.Or(strings.Compare(a[0], b[0]), len(a[1])-len(b[1]), strings.Compare(a[1], b[1]))
	})
	var list []Line
	for _, k := range keys {
		list = append(list, Line{k[0], k[1], m.lines[k].Line(m.all.Clustered())})
	}
	return append(list, Line{"overall", "", m.all.Line(m.all.Clustered())})
}

// Text writes the accuracies with their intervals.
func (m *Metrics) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-22s %13s %9s  %-15s %5s  %s\n", "kind", "conversations", "accuracy", "95% interval", "n", "unjudged")
	for _, l := range m.Lines() {
		value := "-"
		if l.Estimate != nil {
			value = fmt.Sprintf("%.2f%%", 100*l.Estimate.Value)
		}
		fmt.Fprintf(&b, "%-22s %13s %9s  %-15s %5d  %d\n", l.Kind, l.Conversations, value, benchmark.Interval(l.Estimate), l.N, l.Unjudged)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// JSON returns the metrics as a value for encoding/json.
func (m *Metrics) JSON() any {
	return map[string]any{"benchmark": Name, "lines": m.Lines()}
}
