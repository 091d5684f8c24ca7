package telemetry_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"deem"
	"deem/internal/model"
	"deem/internal/telemetry"
	"deem/model/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts a Telemetry that is closed at the end of the test.
func start(t *testing.T, o telemetry.Options) *telemetry.Telemetry {
	t.Helper()
	tel := telemetry.Start(o)
	t.Cleanup(tel.Close)
	return tel
}

// sum adds the values of a name on a page whose labels include the given ones, written
// "label=value".
func sum(t *testing.T, page, name string, want ...string) float64 {
	t.Helper()
	total := 0.0
	for line := range strings.Lines(page) {
		m := sampleLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil || m[1] != name || !has(readLabels(t, m[2]), want) {
			continue
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		total += value
	}
	return total
}

func has(labels map[string]string, want []string) bool {
	for _, pair := range want {
		name, value, _ := strings.Cut(pair, "=")
		if labels[name] != value {
			return false
		}
	}
	return true
}

// A story is a small run: the model's reaction to the n-th attempt at an item.
type story struct {
	items []string
	asks  func(prompt string, nth int) (deem.Reply, error)
	opts  model.Options
}

// prompt returns the prompt of a story's judge, which must not appear anywhere.
func prompt(id string) string { return "a secret prompt about " + id }

// play judges the items of a story one by one and reports them to tel.
func play(t *testing.T, tel *telemetry.Telemetry, s story) {
	t.Helper()
	nth := map[string]int{}
	wire := fake.Func("openai:gpt-test", func(_ context.Context, req deem.Request) (deem.Reply, error) {
		text := req.Messages[len(req.Messages)-1].Content
		nth[text]++
		return s.asks(strings.TrimPrefix(text, prompt("")), nth[text])
	})
	o := s.opts
	o.Retry.Base = time.Millisecond
	m := tel.Model(model.Assemble(tel.Wire(wire), o))
	ctx, r := tel.Run(t.Context(), telemetry.RunInfo{
		ID: "run-1", Judge: "asker", JudgeHash: "abc", Model: wire.Name(), Items: len(s.items), Trials: 1, Concurrency: 1, Limit: limiter(m),
	})
	var ended error
	for rec, err := range deem.Run(ctx, items(s.items), r.Judge(asker{m}), deem.Options{Concurrency: 1}) {
		if err != nil {
			ended = err
			break
		}
		r.Add(rec)
	}
	r.End(ended)
}

func items(ids []string) func(func(deem.Item, error) bool) {
	return func(yield func(deem.Item, error) bool) {
		for _, id := range ids {
			if !yield(deem.Item{ID: id, Category: "cats", Response: "a response"}, nil) {
				return
			}
		}
	}
}

// asker is a judge that calls its model and treats the reply as a label.
type asker struct{ m deem.Model }

func (asker) Name() string { return "asker" }

func (a asker) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	id, _, _ := strings.Cut(it.ID, "#") // "a#2" has the same prompt as "a"
	temperature := 0.5
	req := deem.Request{Temperature: &temperature, MaxTokens: 7, Messages: []deem.Message{
		{Role: "system", Content: "You are a judge."}, {Role: "user", Content: prompt(id)},
	}}
	reply, err := a.m.Complete(ctx, req)
	switch {
	case err != nil && ctx.Err() != nil:
		return deem.Verdict{}, err
	case err != nil:
		return deem.Verdict{}, asFailure(err)
	case reply.Text != "yes":
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "the reply says %s", reply.Text)
	}
	return deem.Verdict{Label: "yes", Score: 1}, nil
}

// limiter returns the limiter among the decorators of a model.
func limiter(m deem.Model) telemetry.Limit {
	l, _ := model.As[telemetry.Limit](m)
	return l
}
