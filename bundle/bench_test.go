package bundle_test

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"deem/bundle"
)

func BenchmarkWrite(b *testing.B) {
	j := asked(b, 10_000, 1)
	for b.Loop() {
		if _, err := bundle.Write(io.Discard, j.Source); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	file := asked(b, 10_000, 1).write(b, options{})
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		r, err := bundle.NewReader(bytes.NewReader(file))
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range r.Records() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkVerify is of 100,000 records, as somebody would check them.
func BenchmarkVerify(b *testing.B) {
	file := asked(b, 100_000, 1).write(b, options{})
	b.ReportMetric(float64(len(file))/100_000, "bytes/record")
	for b.Loop() {
		if v := verify(b, file, full); v.Total > 0 {
			b.Fatal(v.Findings)
		}
	}
}

// Memory does not grow with the run: a file of many records takes hardly more than one
// of few.
func TestFlatMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	few, many := peak(t, 500), peak(t, 6000)
	if many > few+8<<20 {
		t.Errorf("6,000 records take %d MB, and 500 take %d MB", many>>20, few>>20)
	}
}

// peak returns the most memory that is in use while a file is checked.
func peak(t *testing.T, records int) uint64 {
	t.Helper()
	file := ruled(t, records).write(t, options{})
	o := full
	var most uint64
	n := 0
	o.Numbers = func(bundle.Run, bundle.Judge, bool) (bundle.Counter, error) {
		return watch{&tally{}, func() {
			if n++; n%250 == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc-uint64(len(file)))
			}
		}}, nil
	}
	if v := verify(t, file, o); v.Total > 0 {
		t.Fatal(v.Findings)
	}
	return most
}
