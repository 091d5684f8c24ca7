package model_test

import (
	"context"
	"strings"
	"testing"

	"deem"
	"deem/internal/model"
	"deem/internal/money"
	"deem/model/fake"
)

// A tiered model requests a service tier.
type tiered struct {
	deem.Model
	tier string
}

func (m tiered) ServiceTier() string { return m.tier }

// TestTierHasItsOwnPrice: the built-in prices are those of the default tier. Other tiers
// cost half or twice as much, which only the user's own table can contain.
func TestTierHasItsOwnPrice(t *testing.T) {
	own := model.Prices{Entries: []model.Price{{Model: "openai:gpt-4o", Input: 5_000_000, Output: 20_000_000}}}
	for _, tt := range []struct {
		tier   string
		prices model.Prices
		micros int64 // -1 if unknown
	}{
		{"", model.Prices{}, 25 + 20},
		{"default", model.Prices{}, 25 + 20},
		{"auto", model.Prices{}, 25 + 20},
		{"priority", model.Prices{}, -1},
		{"flex", model.Prices{}, -1},
		{"priority", own, 50 + 40},
	} {
		wire := fake.Func("openai:gpt-4o", func(context.Context, deem.Request) (deem.Reply, error) {
			return deem.Reply{Text: "yes", Usage: deem.Usage{Input: 10, Output: 2}}, nil
		})
		req := deem.Prompt("?")
		req.MaxTokens = 2
		reply, err := model.Meter(tiered{wire, tt.tier}, tt.prices).Complete(t.Context(), req)
		if err != nil || reply.Unpriced != (tt.micros < 0) || reply.CostMicros != max(0, tt.micros) {
			t.Errorf("tier %q costs %d (unpriced %v, %v), want %d", tt.tier, reply.CostMicros, reply.Unpriced, err, tt.micros)
		}
		m := model.Assemble(tiered{wire, tt.tier}, model.Options{Prices: tt.prices, Budget: money.New(1_000_000)})
		_, err = m.Complete(t.Context(), req)
		if refused := err != nil && strings.Contains(err.Error(), "openai:gpt-4o with service-tier="+tt.tier+" is not known"); refused != (tt.micros < 0) {
			t.Errorf("tier %q within a budget: %v", tt.tier, err)
		}
	}
}
