package doc_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"deem"
	"deem/internal/doc"
)

func item(pairs ...string) deem.Item {
	it := deem.Item{Fields: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		it.Fields[pairs[i]] = pairs[i+1]
	}
	return it
}

// TestSums checks that an item without a value is missing and not 0, and that invalid
// values are counted separately.
func TestSums(t *testing.T) {
	var m doc.Meter
	for _, it := range []deem.Item{
		item("tokens_in", "100", "cost", "0.10"), item("tokens_in", " 300 ", "cost", "0.20"),
		item("tokens_in", "n/a"), item("tokens_in", "-1"), item("tokens_in", "NaN"),
		{ID: "none"},
	} {
		m.Add(doc.TookBy(it))
	}
	sums := m.Sums(false)
	if len(sums) != 2 {
		t.Fatalf("Sums = %+v, want tokens_in and cost", sums)
	}
	in, cost := sums[0], sums[1]
	if in.Field != "tokens_in" || in.N != 2 || in.Missing != 1 || in.Unusable != 3 || in.Mean.Value != 200 || in.Total != 400 || in.P50 != 100 || in.P95 != 300 {
		t.Errorf("tokens_in: %+v", in)
	}
	if cost.Unit != "USD" || cost.N != 2 || cost.Missing != 4 || math.Abs(cost.Total-0.3) > 1e-15 {
		t.Errorf("cost: %+v", cost)
	}
}

// TestSumsMany checks that quantiles are exact up to 10,000 items, and accurate to 1%
// beyond.
func TestSumsMany(t *testing.T) {
	var m doc.Meter
	for n := 1; n <= 30_000; n++ {
		m.Add(doc.TookBy(item("latency_ms", strconv.Itoa(n))))
		if n != 9_999 {
			continue
		}
		if s := m.Sums(false)[0]; s.P50 != 5000 || s.P95 != 9500 {
			t.Errorf("of 9,999: p50 %v and p95 %v, want 5000 and 9500", s.P50, s.P95)
		}
	}
	s := m.Sums(false)[0]
	if math.Abs(s.P50/15_000-1) > 0.01 || math.Abs(s.P95/28_500-1) > 0.01 || s.Total != 30_000*30_001/2 {
		t.Errorf("of 30,000: %+v", s)
	}
}

// TestAddTo checks that a report says what was left out, and that clusters are not allowed
// for.
func TestAddTo(t *testing.T) {
	var m doc.Meter
	m.Add(doc.TookBy(item("latency_ms", "1500", "cost", "free")))
	m.Add(doc.TookBy(item("latency_ms", "500")))
	d := &doc.Document{}
	d.AddSums(m.Sums(true))
	var b strings.Builder
	if err := doc.Text(&b, d, doc.TextOptions{Detail: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"system under test", "latency (ms)", "1,000", "2,000", "not a number from 0 on", "takes items for independent"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, b.String())
		}
	}
}

// TestEqual checks that equal values have an interval of width 0, and not an infinite one.
func TestEqual(t *testing.T) {
	var m doc.Meter
	for range 6 {
		m.Add(doc.TookBy(item("tokens_out", "20")))
	}
	if e := m.Sums(false)[0].Mean; e.Lo != 20 || e.Hi != 20 || len(e.Warnings) == 0 {
		t.Errorf("the mean of equal values is %+v", e)
	}
}
