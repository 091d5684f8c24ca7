package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"deem"
	"deem/internal/model"
	"deem/internal/money"
	"deem/model/fake"
)

// An asker is a judge that calls m and returns no verdict.
type asker struct{ m deem.Model }

func (asker) Name() string { return "asker" }

func (a asker) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	_, err := a.m.Complete(ctx, deem.Prompt(it.Question))
	if me, ok := errors.AsType[*deem.ModelError](err); ok && !me.Fatal {
		return deem.Verdict{}, deem.Failf(me.Kind, "%v", me)
	}
	return deem.Verdict{Label: "yes", Score: 1}, err
}

// TestGentleStopEndsWaiting gracefully stops runs whose calls wait for something: a retry,
// a slot, a rate limit, the end of an outage, money. None of these calls begins, and their
// items have no record; calls on the wire finish and are kept.
func TestGentleStopEndsWaiting(t *testing.T) {
	const long = 10 * time.Second // duration of a call that gets an answer
	slow := func(ctx context.Context, _ deem.Request) (deem.Reply, error) {
		time.Sleep(long)
		return deem.Reply{Text: "yes"}, nil
	}
	down := func(context.Context, deem.Request) (deem.Reply, error) {
		return deem.Reply{}, passing(0)
	}
	tests := []struct {
		name    string
		call    func(context.Context, deem.Request) (deem.Reply, error)
		o       model.Options
		same    bool // all items make the same request
		records int
		calls   int // at most
		ends    time.Duration
	}{
		{"a retry", down, model.Options{}, false, 0, 8 * 5, 3 * time.Second},
		{"a retry that others follow", down, model.Options{}, true, 0, 5, 3 * time.Second},
		{"a long Retry-After", func(context.Context, deem.Request) (deem.Reply, error) {
			return deem.Reply{}, passing(time.Minute)
		}, model.Options{}, false, 0, 8, 3 * time.Second},
		{"an outage", func(context.Context, deem.Request) (deem.Reply, error) {
			time.Sleep(800 * time.Millisecond)
			return deem.Reply{}, passing(0)
		}, model.Options{Retry: model.RetryOptions{Attempts: 1}}, false, -1, 8 + 5 + 3, 3 * time.Second},
		{"a place", slow, model.Options{Limit: model.LimitOptions{Concurrency: 2}}, false, 2, 2, long},
		{"its minute", slow, model.Options{Limit: model.LimitOptions{RPM: 12}}, false, 1, 1, long},
		{"money", slow, model.Options{
			Budget: money.New(400_000), Prices: model.Prices{Entries: []model.Price{{Model: "test:", Input: 1, Output: 10_000_000}}},
		}, false, 1, 1, long},
		{"nothing", slow, model.Options{}, false, 8, 8, long},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := make(chan struct{}, 1000)
				m := model.Assemble(fake.Func("test:m", func(ctx context.Context, req deem.Request) (deem.Reply, error) {
					calls <- struct{}{}
					return tt.call(ctx, req)
				}), tt.o)
				var items []deem.Item
				for i := range 20 {
					it := deem.Item{ID: fmt.Sprint(i), Question: fmt.Sprint(i)}
					if tt.same {
						it.Question = "q"
					}
					items = append(items, it)
				}
				start, stop := time.Now(), make(chan struct{})
				time.AfterFunc(3*time.Second, func() { close(stop) })
				records, last := 0, error(nil)
				seq := func(yield func(deem.Item, error) bool) {
					for it := range slices.Values(items) {
						if !yield(it, nil) {
							return
						}
					}
				}
				for _, err := range deem.Run(t.Context(), seq, asker{m}, deem.Options{Stop: stop}) {
					if err != nil {
						last = err
						continue
					}
					records++
				}
				if took := time.Since(start); took < tt.ends || took > tt.ends+time.Second || !errors.Is(last, deem.ErrStopped) {
					t.Errorf("ended after %v with %v, want %v and that it was stopped", took, last, tt.ends)
				}
				if records != tt.records && tt.records >= 0 || len(calls) > tt.calls {
					t.Errorf("%d records of %d calls, want %d of at most %d", records, len(calls), tt.records, tt.calls)
				}
			})
		})
	}
}
