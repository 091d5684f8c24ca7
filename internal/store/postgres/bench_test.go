package postgres_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"deem"
	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/test/storetest"
)

// benchRecords returns records of 3 KB with unique texts.
func benchRecords(n int) []deem.Record {
	recs := make([]deem.Record, n)
	for i := range recs {
		recs[i] = storetest.Record(i)
		recs[i].Item.Response = storetest.Text(fmt.Sprint("response ", i), 2200)
	}
	return recs
}

// appendAll appends records in groups of 128 and returns how long it took.
func appendAll(b *testing.B, s store.Store, spec string, recs []deem.Record) time.Duration {
	b.Helper()
	run, _, err := s.Begin(b.Context(), storetest.Spec(spec), true)
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	for group := range slices.Chunk(recs, 128) {
		if err := s.Append(b.Context(), run.ID, group); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start)
}

// BenchmarkAppend appends 10,000 records to a new store of each kind, and reports how many
// times as long Postgres takes.
func BenchmarkAppend(b *testing.B) {
	recs := benchRecords(10_000)
	var there, here time.Duration
	for i := range b.N {
		there += appendAll(b, open(b, storetest.Database(b), postgres.Options{}), fmt.Sprint(i), recs)
		here += appendAll(b, openFile(b), fmt.Sprint(i), recs)
	}
	perSecond := func(d time.Duration) float64 { return float64(b.N*len(recs)) / d.Seconds() }
	b.ReportMetric(perSecond(there), "postgres-records/s")
	b.ReportMetric(perSecond(here), "sqlite-records/s")
	b.ReportMetric(there.Seconds()/here.Seconds(), "times-sqlite")
}
