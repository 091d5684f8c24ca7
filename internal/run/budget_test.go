package run_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"deem"
	"deem/internal/model"
	"deem/internal/money"
	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/test/storetest"
	"deem/model/fake"
)

// A payer judges with a call that costs money.
type payer struct{ m deem.Model }

func (payer) Name() string { return "paying" }

func (p payer) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	req := deem.Prompt(it.ID)
	req.MaxTokens = 100
	reply, err := p.m.Complete(ctx, req)
	if err != nil {
		return deem.Verdict{}, err
	}
	deem.NoteCall(ctx, deem.Call{Model: p.m.Name(), Request: req.Hash(), Reply: &reply})
	return deem.Verdict{Label: "yes", Score: 1}, nil
}

// TestBudgetOnAFullDisk lets the database fill up during a run. What was billed and could
// not be recorded stays reserved, and the run resumes when there is space.
func TestBudgetOnAFullDisk(t *testing.T) {
	const sum, price = 1_000_000, 50
	var billed atomic.Int64
	wire := fake.Func("test:m", func(context.Context, deem.Request) (deem.Reply, error) {
		billed.Add(price)
		return deem.Reply{Text: strings.Repeat("long ", 400), Usage: deem.Usage{Input: 10, Output: 40}}, nil
	})
	prices := model.Prices{Entries: []model.Price{{Model: "test:", Input: 1_000_000, Output: 1_000_000}}}
	items := func(yield func(deem.Item, error) bool) {
		for i := range 1000 {
			if !yield(deem.Item{ID: fmt.Sprint("q", i), Response: fmt.Sprint(i)}, nil) {
				return
			}
		}
	}
	path := filepath.Join(t.TempDir(), "deem.db")
	for _, pages := range []int{150, 150, 0} {
		st, err := sqlite.Open(t.Context(), path, sqlite.Options{MaxPages: pages})
		if err != nil {
			t.Fatal(err)
		}
		row, _, err := st.Begin(t.Context(), storetest.Spec(""), false)
		if err != nil {
			t.Fatal(err)
		}
		budget := money.New(sum)
		if err := budget.Open(t.Context(), store.Purse(st, row.ID, store.Claimant, nil), row.CostMicros, row.SetAsideMicros); err != nil {
			t.Fatal(err)
		}
		m := model.Assemble(wire, model.Options{Budget: budget, Prices: prices, Cache: model.CacheOptions{Off: true}})
		err = run.Job{Store: st, Run: row, Judge: payer{m}, Items: items, Options: deem.Options{Concurrency: 8}}.Do(t.Context())
		if full := pages > 0; full != (err != nil) {
			t.Fatalf("with %d pages: %v", pages, err)
		}
		_ = budget.Close(t.Context()) // This may also fail while the disk is full.
		if row, err = st.Run(t.Context(), row.ID); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d billed, %d recorded, %d set aside", billed.Load(), row.CostMicros, row.SetAsideMicros)
		if counted := row.CostMicros + row.SetAsideMicros; counted > sum || counted < billed.Load() {
			t.Errorf("%d recorded and %d set aside, want at most %d and at least the %d that are billed", row.CostMicros, row.SetAsideMicros, sum, billed.Load())
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
