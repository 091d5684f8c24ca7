package report_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"deem"
	"deem/report"
)

func BenchmarkAdd(b *testing.B) {
	recs := benchRecords(1000)
	builder := report.New(head())
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		builder.Add(recs[i%len(recs)])
	}
}

func BenchmarkReport100k(b *testing.B) {
	recs := benchRecords(100_000)
	for b.Loop() {
		if err := build(head(), recs).Report().Text(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// benchRecords returns n records that use every feature that costs time.
func benchRecords(n int) []deem.Record {
	rng := rand.New(rand.NewPCG(1, 2))
	recs := many(n/2, n)
	for i := range recs {
		pass := i%3 == 0
		recs[i].Verdict = &deem.Verdict{
			Label: "L", Score: rng.Float64(), Pass: &pass,
			Aspects: map[string]float64{"correctness": rng.Float64() * 10, "relevance": 5},
		}
		recs[i].Item.Category = fmt.Sprint(i % 6)
		recs[i].Item.Cluster = fmt.Sprint(i % 500)
		recs[i].Item.Weight = 1 + rng.Float64()
		recs[i].Calls[0].Reply.Latency = time.Duration(rng.IntN(1e9))
	}
	return recs
}
