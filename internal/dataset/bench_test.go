package dataset_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem/internal/dataset"
)

// writeMany writes n items of about a kilobyte each and returns the name of the
// file and its size.
func writeMany(tb testing.TB, n int) (name string, size int64) {
	tb.Helper()
	name = filepath.Join(tb.TempDir(), "items.jsonl")
	f, err := os.Create(name)
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriter(f)
	filler := strings.Repeat(`She said \"no\" to the second offer, and later moved to Malmö. `, 12)
	for i := range n {
		fmt.Fprintf(w, `{"id":"item-%d","category":"temporal","cluster":"conversation-%d","question":"How many days passed before visit %d?","references":["%d days","about %d days"],"response":"%s","haystack":[1,2,{"k":"v"}]}`+"\n",
			i, i/20, i, i%90, i%90, filler)
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return name, info.Size()
}

// BenchmarkOpen measures the check of every row. DEEM_ITEMS=1000000 measures a million
// items.
func BenchmarkOpen(b *testing.B) {
	n := 20_000
	if s := os.Getenv("DEEM_ITEMS"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			b.Fatal(err)
		}
	}
	name, size := writeMany(b, n)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		d, err := dataset.Open(b.Context(), dataset.Source{Names: []string{name}})
		if err != nil {
			b.Fatal(err)
		}
		if d.Len() != n {
			b.Fatalf("Len() = %d, want %d", d.Len(), n)
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/item")
}

// BenchmarkItems measures the second reading.
func BenchmarkItems(b *testing.B) {
	name, size := writeMany(b, 20_000)
	d, err := dataset.Open(b.Context(), dataset.Source{Names: []string{name}})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range d.Items() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := d.Close(); err != nil {
		b.Fatal(err)
	}
}
