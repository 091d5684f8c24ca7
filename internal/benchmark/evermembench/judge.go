package evermembench

import (
	"context"

	"deem"
	"deem/internal/benchmark"
	"deem/judge"
)

// Choice returns the judge of multiple-choice questions under a reading; "" means
// [Upstream].
func Choice(reading string) (deem.Judge, error) {
	reading, err := benchmark.CheckReading(ChoiceName, reading, Readings())
	if err != nil {
		return nil, err
	}
	by := map[string]string{Upstream: benchmark.ChoiceEverMemBench, Strict: benchmark.ChoiceStrict}[reading]
	return benchmark.NewChoice(by, ChoiceName, reading), nil
}

// The SHA-256 of the prompts in config/prompts.yaml.
const (
	systemSum = "86ee4e80790a40fe0276f037d448b27b2e292322ef1ee4eeda3a4daee3159920"
	userSum   = "51ac1ef2d68074baf47133fd19771ca10bd19f54c17d8fbfa8a3c1ac2b7938da"
)

// The names of the prompts.
const (
	system = "system"
	user   = "user"
)

// Prompts reads the prompts for open questions from a clone of upstream's repository.
func Prompts(repo string) (map[string]string, error) {
	r := benchmark.Clone{Judge: UpstreamName, URL: "github.com/EverMind-AI/EverMemBench", At: "e10b3d52f0e4cfc5c124ad406b5d95c59c73738b", Path: repo}
	s, err := r.YAML("eval/config/prompts.yaml", systemSum, "llm_judge", "system_prompt")
	if err != nil {
		return nil, err
	}
	u, err := r.YAML("eval/config/prompts.yaml", userSum, "llm_judge", "user_prompt")
	return map[string]string{system: s, user: u}, err
}

// A QA is the protocol of evaluator.py under one reading: multiple-choice questions are
// decided by rule, and a model is asked about open ones.
type QA struct {
	judge.Readable
	options deem.Judge // judges multiple-choice questions
}

var _ judge.Decider = (*QA)(nil)

// Protocol returns the protocol with the given prompts.
func Protocol(reading string, prompts map[string]string) (*QA, error) {
	d := &judge.Declaration{
		Name: UpstreamName, System: prompts[system], Prompt: prompts[user],
		Slots:  map[string]judge.Slot{"golden_answer": {From: []string{"references"}}, "generated_answer": {From: []string{"response"}}},
		Labels: []judge.Label{{Label: "CORRECT", Score: 1}, {Label: "WRONG"}},
		Readings: map[string]judge.Reader{
			Upstream: {How: "loads", Part: "span", Fold: true, Trim: true, Else: "WRONG"},
			Strict:   {How: "json", Key: "label"},
		},
		FailuresWrong: true, Params: judge.Params{Temperature: new(float64)},
	}
	p, err := d.Protocol(reading)
	if err != nil {
		return nil, err
	}
	options, err := Choice(p.Reading())
	return &QA{p, options}, err
}

// Spec returns the declaration and the prompts by name, from which the declaration can be
// rebuilt.
func (q *QA) Spec() judge.Spec {
	s := q.Readable.Spec()
	s.Prompts = map[string]string{system: s.Declaration.System, user: s.Declaration.Prompt}
	return s
}

// Reread returns the protocol under the other reading.
func (q *QA) Reread() judge.Readable {
	other := q.Readable.Reread()
	if other == nil {
		return nil
	}
	options, err := Choice(other.Reading())
	if err != nil {
		return nil
	}
	return &QA{other, options}
}

// Decide decides a multiple-choice question by rule.
func (q *QA) Decide(it deem.Item) (deem.Verdict, bool) {
	if it.Category != multipleChoice {
		return deem.Verdict{}, false
	}
	v, err := q.options.Judge(context.Background(), it)
	return v, err == nil
}

// Request renders the prompt for an open question.
func (q *QA) Request(it deem.Item) (deem.Request, error) {
	if it.Category == multipleChoice {
		_, err := q.options.Judge(context.Background(), it) // It was not decided, so it failed.
		return deem.Request{}, err
	}
	return q.Readable.Request(it)
}
