package catalog_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"deem"
	"deem/internal/catalog"
	"deem/internal/model"
	"deem/internal/money"
)

// dear makes every token cost a millionth of a dollar.
var dear = model.Prices{Entries: []model.Price{{Model: "test:", Input: 1_000_000, Output: 1_000_000}}}

// A flakyEmbedder fails a number of times, and then embeds each text as its length.
type flakyEmbedder struct {
	failures int
	err      error
	calls    int
}

func (e *flakyEmbedder) Name() string { return "test:embedder" }

func (e *flakyEmbedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	if e.calls++; e.calls <= e.failures {
		return nil, e.err
	}
	var vectors [][]float32
	for _, text := range texts {
		vectors = append(vectors, []float32{float32(len(text))})
	}
	return vectors, nil
}

func TestEmbedTriesAgainAndCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wire := &flakyEmbedder{failures: 2, err: &deem.ModelError{Kind: deem.Provider, Status: 500, Passing: true, Err: errors.New("boom")}}
		e := catalog.Embed(wire, model.Options{Prices: dear})
		ctx, calls := deem.WithLedger(t.Context(), 0)
		vectors, err := e.Embed(ctx, []string{"four", strings.Repeat("x", 40)})
		if err != nil || len(vectors) != 2 || vectors[0][0] != 4 || vectors[1][0] != 40 {
			t.Fatalf("Embed = %v, %v, want the lengths of the texts", vectors, err)
		}
		noted := calls()
		if len(noted) != 1 || noted[0].Reply == nil || noted[0].Reply.Attempts != 3 || noted[0].Reply.CostMicros != 44 {
			t.Errorf("noted %+v, want one call of three attempts that cost 44", noted)
		}
		if n := model.TotalsOf(e.Model()); n.Calls != 3 || n.CostMicros != 44 {
			t.Errorf("the meter counted %+v, want 3 calls and a cost of 44", n)
		}
	})
}

func TestEmbedIsPaidFor(t *testing.T) {
	wire := &flakyEmbedder{}
	e := catalog.Embed(wire, model.Options{Prices: dear, Budget: money.New(100)})
	ctx, calls := deem.WithLedger(t.Context(), 0)
	_, err := e.Embed(ctx, []string{strings.Repeat("x", 101)})
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || me.Kind != deem.Budget || !me.Fatal || wire.calls != 0 {
		t.Errorf("error %v after %d calls, want a fatal one of kind budget and none", err, wire.calls)
	}
	if noted := calls(); len(noted) != 1 || noted[0].Error == "" {
		t.Errorf("noted %+v, want one call with its error", noted)
	}
}

func TestEmbedGivesUp(t *testing.T) {
	wire := &flakyEmbedder{failures: 9, err: &deem.ModelError{Kind: deem.Provider, Status: 400, Err: errors.New("too long")}}
	_, err := catalog.Embed(wire, model.Options{}).Embed(t.Context(), []string{"x"})
	if me, ok := errors.AsType[*deem.ModelError](err); !ok || me.Status != 400 || wire.calls != 1 {
		t.Errorf("error %v after %d calls, want that of the embedder after one", err, wire.calls)
	}
}
