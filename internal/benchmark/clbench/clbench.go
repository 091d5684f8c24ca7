// Package clbench implements CL-bench and CL-bench Life: tasks whose rules, facts or
// procedures stand in a long context, and a list of requirements that the response must
// meet, all of them. A model judges all requirements in one call, without seeing the task.
//
// The source is eval.py of github.com/Tencent-Hunyuan/CL-bench at commit 76a395a, which has
// no licence, so the prompt is read from the user's clone.
package clbench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/rows"
	"deem/internal/text"
	"deem/internal/words"
	"deem/judge"
)

// Name is the name of the benchmark and of its judge.
const Name = "clbench"

// The readings.
const (
	// Strict demands a score of 0 or 1 that agrees with a list of one yes or no for each
	// requirement.
	Strict = judge.Strict

	// Upstream takes the score of the reply and ignores the list, as eval.py does.
	Upstream = judge.Upstream
)

// readings returns the names of the readings, the default first.
func readings() []string { return []string{Strict, Upstream} }

// version is increased whenever a reading may give a different verdict.
const version = 1

// url is upstream's repository, and sum the SHA-256 of its prompt as a template.
const (
	url = "github.com/Tencent-Hunyuan/CL-bench"
	sum = "15054b31373868f56f7299edd98ae9ba1023e4a9415bd2fabb2fd453e82e929d"
)

// promptName is the name of the prompt in a spec.
const promptName = "grading"

// The keys of the object that the prompt demands.
const (
	keyReason = "Grading Rationale"
	keyList   = "List of Requirement Satisfaction Status"
	keyScore  = "Overall Score"
)

// The fields of an item. The judges that grade by criteria read the first too.
const (
	fieldRubric = "rubric"       // a JSON list of texts
	fieldKind   = "sub_category" // the kind of task within its category
)

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.Benchmark{
		Name: Name, About: "CL-bench: is what a long context teaches applied, by every requirement of a rubric?", Kind: benchmark.KindLongContext,
		Where: "huggingface.co/datasets/tencent/CL-bench", Licence: "evaluation only", Readings: readings(),
		Params: []benchmark.Param{{Name: "repo", About: "a clone of " + url + ", from which the prompt is read"}},
		Judges: []string{Name},
		Judge: func(_ string, o benchmark.Options) (benchmark.Judge, error) {
			return benchmark.Cloned(o, Prompts, Protocol)
		},
		Open: func(ctx context.Context, o benchmark.Options) (benchmark.Set, error) {
			return benchmark.Join{
				Options: o, ID: []string{"metadata.task_id", "idx", "id"}, Response: rows.NamesAfter(rows.Response, "model_output"),
				Further: []string{"metadata", "messages", "rubrics"}, Question: readTask,
			}.Open(ctx)
		},
		Metrics: func(context.Context, benchmark.Options) (benchmark.Metrics, error) {
			return &metrics{Table: benchmark.Table{
				Benchmark: Name, Metric: "solved", By: []string{"category", fieldKind}, Group: func(it deem.Item, by string) string {
					if by == fieldKind {
						return it.Fields[fieldKind]
					}
					return it.Category
				},
			}, counts: map[string]int{}}, nil
		},
	}
}

// readTask fills in the item of a task. Tasks about one context are not independent.
func readTask(it *deem.Item, row *benchmark.Row) error {
	it.Category = benchmark.Text(row, "metadata.context_category")
	it.Cluster = benchmark.Text(row, "metadata.context_id")
	if kind := benchmark.Text(row, "metadata."+fieldKind); kind != "" {
		benchmark.SetField(it, fieldKind, kind)
	}
	if v := row.Get("messages"); !v.Missing() {
		var messages []struct{ Role, Content string }
		if err := json.Unmarshal(v.JSON(), &messages); err != nil {
			return benchmark.At(row, "messages of task %q is not a list of chat messages", it.ID)
		}
		for _, m := range messages {
			if m.Role == "user" {
				it.Question = m.Content
			}
		}
	}
	var list []any
	if v := row.Get("rubrics"); !v.Missing() {
		dec := json.NewDecoder(bytes.NewReader(v.JSON()))
		dec.UseNumber()
		if err := dec.Decode(&list); err != nil {
			return benchmark.At(row, "rubrics of task %q is not a list", it.ID)
		}
	}
	rubric, err := json.Marshal(rubrics(list))
	if err != nil {
		return err
	}
	benchmark.SetField(it, fieldRubric, string(rubric))
	return nil
}

// rubrics returns the texts of rubrics as build_rubrics_text reads them. A blank one keeps
// its place, because it counts in upstream's numbering.
func rubrics(list []any) []string {
	texts := make([]string, len(list))
	for i, one := range list {
		if object, ok := one.(map[string]any); ok {
			one = cmp.Or[any](object["rubric_criteria"], "")
		}
		texts[i] = text.Strip(text.Str(one))
	}
	return texts
}

// numbered returns the requirements as the prompt shows them.
func numbered(rubric []string) string {
	var lines []string
	for i, one := range rubric {
		if one != "" {
			lines = append(lines, fmt.Sprintf("%d. %s", i+1, one))
		}
	}
	return cmp.Or(strings.Join(lines, "\n"), "No specific rubrics provided.")
}

// Prompts reads the prompt from a clone of upstream's repository.
func Prompts(repo string) (map[string]string, error) {
	c := benchmark.Clone{Judge: Name, URL: url, At: "76a395a4", Path: repo}
	prompt, err := c.Concatenated("eval.py", "grading_prompt", sum)
	return map[string]string{promptName: prompt}, err
}

// A P is the protocol under one reading.
type P struct {
	reading string
	prompts map[string]string
}

var (
	_ judge.Readable = (*P)(nil)
	_ judge.Decider  = (*P)(nil)
)

// Protocol returns the protocol with the given prompts; "" means [Strict].
func Protocol(reading string, prompts map[string]string) (*P, error) {
	reading, err := benchmark.CheckReading(Name, reading, readings())
	if err != nil {
		return nil, err
	}
	return &P{reading, prompts}, nil
}

// Name returns the name of the judge.
func (p *P) Name() string { return Name }

// Reading returns the name of the current reading.
func (p *P) Reading() string { return p.reading }

// Spec returns the prompt and the reading. Upstream sets no parameter.
func (p *P) Spec() judge.Spec {
	return judge.Spec{Kind: judge.KindModel, Name: Name, Version: version, Reading: p.reading, Prompts: p.prompts, Params: &judge.Params{}}
}

// FailuresWrong returns false: upstream leaves replies that it cannot read out of its file,
// and so out of the number.
func (p *P) FailuresWrong() bool { return false }

// Reread returns the protocol under the other reading.
func (p *P) Reread() judge.Readable {
	return &P{map[string]string{Upstream: Strict, Strict: Upstream}[p.reading], p.prompts}
}

// Decide returns 0 for an empty response, about which upstream asks no model.
func (p *P) Decide(it deem.Item) (deem.Verdict, bool) {
	return deem.Verdict{Label: "0", Reason: "the response is empty"}, text.Strip(it.Response) == ""
}

// Request renders the prompt.
func (p *P) Request(it deem.Item) (deem.Request, error) {
	rubric, err := rubricOf(it)
	if err != nil {
		return deem.Request{}, err
	}
	return deem.Prompt(benchmark.Format(p.prompts[promptName], "rubrics_text", numbered(rubric), "model_output", it.Response)), nil
}

// rubricOf returns the rubric of an item, with blank requirements.
func rubricOf(it deem.Item) ([]string, error) {
	rubric, err := judge.ParseCriteria(it.Fields[fieldRubric])
	if err != nil {
		return nil, deem.Failf(deem.Input, "field %q: %v", fieldRubric, err)
	}
	return rubric, nil
}

// askedOf returns the requirements that the model is shown.
func askedOf(it deem.Item) ([]string, error) {
	rubric, err := rubricOf(it)
	return slices.DeleteFunc(rubric, func(one string) bool { return one == "" }), err
}

// Read returns the score of a reply, and what its list says of each requirement.
func (p *P) Read(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	rubric, err := askedOf(it)
	if err != nil {
		return deem.Verdict{}, err
	}
	if p.reading == Upstream {
		return readUpstream(rubric, reply.Text)
	}
	o, err := judge.ReadObject(it, reply.Text, keyScore)
	if err != nil {
		return deem.Verdict{}, err
	}
	score, err := judge.Aspect{Max: 1, Integer: true}.Number(o.Fields[keyScore])
	if err != nil {
		return deem.Verdict{}, err
	}
	v := deem.Verdict{Label: fmt.Sprint(score), Score: score, Reason: o.Text(keyReason), Parts: parts(rubric, o.Fields[keyList])}
	switch agrees := consistency(rubric, v); agrees {
	case consistent:
		return v, nil
	case contradiction:
		return deem.Verdict{}, deem.Failf(deem.Contradictory, "%q is %s, and the list of requirements says otherwise", keyScore, v.Label)
	default:
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "the list of requirements is not a yes or no for each of %d", len(rubric))
	}
}

// readUpstream corresponds to process_single_item: a score of 1, 1.0 or true counts as
// solved, and any other value does not.
func readUpstream(rubric []string, reply string) (deem.Verdict, error) {
	reply = text.Strip(reply)
	reply = strings.TrimPrefix(strings.TrimPrefix(reply, "```json"), "```")
	o, err := text.Loads(text.Strip(strings.TrimSuffix(reply, "```")))
	said, ok := o[keyScore]
	if err != nil || !ok {
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "the reply is not a JSON object with %q", keyScore)
	}
	list, ok := o[keyList]
	if !ok {
		list = []any{}
	}
	v := deem.Verdict{Label: text.Repr(said), Parts: parts(rubric, list)}
	v.Reason, _ = o[keyReason].(string)
	if n, ok := said.(json.Number); ok {
		if x, err := n.Float64(); err == nil && (x == 0 || x == 1) {
			v.Label, v.Score = fmt.Sprint(x+0), x
		}
	} else if said == true {
		v.Score = 1
	}
	return v, nil
}

// parts returns what a list of yes and no says of each requirement, or a single part
// without a score if it is not such a list or empty.
func parts(rubric []string, said any) []deem.Part {
	list, ok := said.([]any)
	if ok && len(list) == 0 {
		return []deem.Part{{Name: keyList, Failure: deem.Failf(deem.Empty, "the list is empty")}}
	}
	var out []deem.Part
	for i, one := range list {
		word, _ := one.(string)
		word = text.Lower(text.Strip(word))
		if ok = word == "yes" || word == "no"; !ok {
			break
		}
		part := deem.Part{Name: fmt.Sprint(i + 1), Label: word, Score: new(float64)}
		if i < len(rubric) {
			part.Name = rubric[i]
		}
		if word == "yes" {
			*part.Score = 1
		}
		out = append(out, part)
	}
	if !ok {
		return []deem.Part{{Name: keyList, Failure: deem.Failf(deem.Unparseable, "not a list of yes and no")}}
	}
	return out
}

// How the score of a reply agrees with its own list.
const (
	consistent    = "consistent"
	contradiction = "contradiction"
	otherLength   = "length"
	unreadable    = "list not readable"
)

// consistency compares the score of a verdict with what the same reply says of each
// requirement.
func consistency(rubric []string, v deem.Verdict) string {
	unmet := func(part deem.Part) bool { return part.Label == "no" }
	switch {
	case len(v.Parts) == 1 && v.Parts[0].Failure != nil && v.Parts[0].Failure.Kind == deem.Unparseable:
		return unreadable
	case len(v.Parts) != len(rubric):
		return otherLength
	case v.Label == "1" && !slices.ContainsFunc(v.Parts, unmet), v.Label == "0" && slices.ContainsFunc(v.Parts, unmet):
		return consistent
	}
	return contradiction
}

// metrics are the share of solved tasks, and how often the judge contradicts itself.
type metrics struct {
	benchmark.Table

	counts map[string]int
}

// Add adds a record.
func (m *metrics) Add(rec deem.Record) {
	m.Table.Add(rec)
	if rec.Trial != 0 || rec.Verdict == nil || len(rec.Verdict.Parts) == 0 { // Other judges, and empty responses.
		return
	}
	rubric, err := askedOf(rec.Item)
	if err != nil {
		return
	}
	m.counts[consistency(rubric, *rec.Verdict)]++
	var said []string
	for _, how := range []string{contradiction, otherLength, unreadable} {
		if n := m.counts[how]; n > 0 {
			said = append(said, fmt.Sprintf("%s %d", how, n))
		}
	}
	if said != nil {
		m.Notes = []string{"the score of some replies does not follow from their own list of requirements: " + words.And(said) + "; --reading strict leaves them unjudged"}
	}
}
