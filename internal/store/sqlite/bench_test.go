package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"deem"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/test/storetest"
)

// begin opens a store in a new folder and begins a run in it.
func begin(tb testing.TB) (*sqlite.Store, store.Run) {
	tb.Helper()
	s := open(tb, filepath.Join(tb.TempDir(), "deem.db"))
	run, _, err := s.Begin(tb.Context(), storetest.Spec(""), false)
	if err != nil {
		tb.Fatal(err)
	}
	return s, run
}

func open(tb testing.TB, path string) *sqlite.Store {
	tb.Helper()
	s, err := sqlite.Open(tb.Context(), path, sqlite.Options{})
	if err != nil {
		tb.Fatalf("Open(%q): %v", path, err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return s
}

// group is how many records the benchmarks append at once, like the writer.
const group = 256

func appendRecords(tb testing.TB, s store.Store, runID string, from, to int) {
	tb.Helper()
	for ; from < to; from += group {
		recs := make([]deem.Record, 0, group)
		for i := from; i < min(from+group, to); i++ {
			recs = append(recs, storetest.Record(i))
		}
		if err := s.Append(tb.Context(), runID, recs); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkAppend measures one record with its item, call and reply: for an item of short
// texts, one with a long response, and one that shares a conversation with its neighbours.
func BenchmarkAppend(b *testing.B) {
	for _, bm := range []struct {
		name   string
		record func(i int) deem.Record
	}{
		{"short", storetest.Record},
		{"response", func(i int) deem.Record {
			rec := storetest.Record(i)
			rec.Item.Response = storetest.Text(rec.Item.ID, 1024)
			return rec
		}},
		{"dialogue", func(i int) deem.Record {
			rec := storetest.Record(i)
			rec.Item.Fields = map[string]string{"dialogue": storetest.Text(rec.Item.Cluster, 17_000)}
			return rec
		}},
	} {
		b.Run(bm.name, func(b *testing.B) { benchmarkAppend(b, bm.record) })
	}
}

func benchmarkAppend(b *testing.B, record func(i int) deem.Record) {
	s, run := begin(b)
	var used time.Duration
	b.ReportAllocs()
	for i := 0; b.Loop(); i += group {
		b.StopTimer()
		recs := make([]deem.Record, group)
		for k := range recs {
			recs[k] = record(i + k)
		}
		before := cpuTime()
		b.StartTimer()
		if err := s.Append(b.Context(), run.ID, recs); err != nil {
			b.Fatal(err)
		}
		used += cpuTime() - before
	}
	perRecord(b, b.N*group, used)
}

// perRecord reports wall time and CPU time.
func perRecord(b *testing.B, records int, cpu time.Duration) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(records), "ns/record")
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(records), "cpu-ns/record")
}

// BenchmarkStatus measures Status.
func BenchmarkStatus(b *testing.B) {
	s, run := begin(b)
	const records = 20_000
	appendRecords(b, s, run.ID, 0, records)
	ids := make([]string, records)
	for i := range ids {
		ids[i] = storetest.Record(i).Item.ID
	}
	b.ReportAllocs()
	before := cpuTime()
	for i := 0; b.Loop(); i++ {
		status, err := s.Status(b.Context(), run.ID, ids[i*7919%records], 0)
		if err != nil || status != store.Judged {
			b.Fatalf("Status = %v, %v", status, err)
		}
	}
	b.ReportMetric(float64((cpuTime()-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

// BenchmarkRecords measures reading one record.
func BenchmarkRecords(b *testing.B) {
	s, run := begin(b)
	const records = 10_000
	appendRecords(b, s, run.ID, 0, records)
	for _, bm := range []struct {
		name  string
		query store.Query
	}{
		{"whole", store.Query{}},
		{"calls", store.Query{WithCalls: true}},
		{"brief", store.Query{Brief: true}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			before := cpuTime()
			for b.Loop() {
				n := 0
				for _, err := range s.Records(b.Context(), run.ID, bm.query) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != records {
					b.Fatalf("%d records, want %d", n, records)
				}
			}
			perRecord(b, b.N*records, cpuTime()-before)
		})
	}
}

// BenchmarkOpen measures what a store adds to the start of every command.
func BenchmarkOpen(b *testing.B) {
	s, _ := begin(b)
	path := s.Path()
	for b.Loop() {
		s, err := sqlite.Open(b.Context(), path, sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
