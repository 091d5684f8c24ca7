package model_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/model"
)

// FuzzPrices checks that a price table that can be read survives a round trip, and that
// errors name the file and line.
func FuzzPrices(f *testing.F) {
	for _, seed := range []string{
		`{"version":"v","date":"d","prices":[{"model":"openai:m","input":2.50,"cached_input":0,"output":10,"batch":0.5,"window":8}]}`,
		"{\n\"prices\":[{\"model\":\"m\"}]}", `{"prices":[{"model":"a:\u0062"},{"model":"a:b"}]}`, "{\"prices\":\n[{\"input\":1e3}]}",
		`{"prices":[{"model":"a:b","input":1000000.000001}]}`, `{"x":1}`, `{} {}`, `null`, `[]`, "", `{"prices":[{"model":"a:b","window":-1}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := loadPrices(t, text)
		if err != nil {
			prob, ok := errors.AsType[deem.Problem](err)
			if lines := strings.Count(text, "\n") + 1; !ok || prob.File == "" || prob.Message == "" || prob.Line > lines {
				t.Errorf("LoadPrices(%q): %q, which names no place", text, err)
			}
			return
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		q, err := loadPrices(t, string(again))
		if diff := cmp.Diff(p, q); err != nil || diff != "" {
			t.Errorf("%s is read as another table (%v):\n%s", again, err, diff)
		}
	})
}

func loadPrices(t *testing.T, text string) (model.Prices, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return model.LoadPrices(path)
}

// FuzzCost checks the cost of a call against arbitrary-precision arithmetic, up to a sum
// that no budget has, so that no token count from a server can make a call cheap.
func FuzzCost(f *testing.F) {
	f.Add(1000, 10, 200, int64(2_500_000), int64(1_250_000), int64(10_000_000))
	f.Add(-1, 1, 1<<62, int64(1e12), int64(0), int64(1e12))
	f.Add(1<<40, 1<<41, 1<<40, int64(1e12), int64(1e12), int64(1e12))
	f.Fuzz(func(t *testing.T, input, cached, output int, rate, hit, out int64) {
		if min(rate, hit, out) < 0 || max(rate, hit, out) > 1e12 {
			return // No table has such a price.
		}
		hitRate := model.Millionths(hit)
		price := model.Price{Input: model.Millionths(rate), CachedInput: &hitRate, Output: model.Millionths(out)}
		hits := min(max(0, cached), max(0, input))
		want := big.NewInt(999_999)
		for _, part := range [][2]int64{{int64(max(0, input) - hits), rate}, {int64(hits), hit}, {int64(max(0, output)), out}} {
			want.Add(want, new(big.Int).Mul(big.NewInt(part[0]), big.NewInt(part[1])))
		}
		want.Div(want, big.NewInt(1_000_000))
		if most := big.NewInt(1e13); want.Cmp(most) > 0 {
			want = most
		}
		u := deem.Usage{Input: input, CachedInput: cached, Output: output}
		if got := price.Cost(u); got != want.Int64() {
			t.Errorf("Cost(%+v) at %d, %d, %d = %d, want %d", u, rate, hit, out, got, want)
		}
	})
}
