package compare_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/doc"
	"deem/internal/reports/compare"
)

// The order in which a run was judged or written does not matter.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, n := rapid.IntRange(2, 4).Draw(t, "runs"), rapid.IntRange(0, 40).Draw(t, "items")
		runs := make([]compare.Run, k)
		var records, shuffled [][]deem.Record
		for i := range runs {
			runs[i] = runOf(string(rune('A' + i)))
			letters := rapid.SliceOfN(rapid.SampledFrom([]rune("yyynnnf-")), n, n).Draw(t, "verdicts")
			recs := pattern(string(letters))
			for j := range recs {
				recs[j].Item.Category = []string{"one", "two"}[recs[j].Position%2]
				recs[j].Item.Cluster = fmt.Sprint("c", recs[j].Position/3)
			}
			records = append(records, recs)
			shuffled = append(shuffled, rapid.Permutation(recs).Draw(t, "order"))
		}
		o := lenient
		o.Anyway = true
		a, b := jsonOf(t, o, runs, records), jsonOf(t, o, runs, shuffled)
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("in another order (-first +second)\n%s", diff)
		}
	})
}

// jsonOf returns the JSON and the text of a comparison.
func jsonOf(t *rapid.T, o compare.Options, runs []compare.Run, records [][]deem.Record) string {
	b, err := gather(o, runs, records...)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := errors.Join(b.Comparison().JSON(&out), doc.Text(&out, b.Comparison().Document(), doc.TextOptions{})); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A run that ends with an error gives an error, and no partial comparison.
func TestJoinReturnsErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	bad := func(yield func(deem.Record, error) bool) {
		for _, rec := range pattern("yy") {
			if !yield(rec, nil) {
				return
			}
		}
		yield(deem.Record{}, broken)
	}
	var rows int
	var last error
	for _, err := range compare.Join(seq(pattern("yyyyyy")), bad) {
		if err == nil {
			rows++
		}
		last = err
	}
	if rows != 2 || !errors.Is(last, broken) {
		t.Errorf("%d rows and error %v, want 2 and %v", rows, last, broken)
	}
}

// The rows that wait grow with the difference in order, and never contain a text.
func TestJoinKeepsNoTexts(t *testing.T) {
	const n, far, long = 4000, 500, 16 << 10
	records := func(shift int) iter.Seq2[deem.Record, error] {
		return func(yield func(deem.Record, error) bool) {
			for i := range n {
				id := (i + shift) % n
				it := deem.Item{ID: fmt.Sprint("q", id), Question: strings.Repeat("q", long) + fmt.Sprint(id), Response: strings.Repeat("r", long) + fmt.Sprint(i)}
				if !yield(deem.Record{Item: it, Position: i, Verdict: &deem.Verdict{Label: "yes", Score: 1}}, nil) {
					return
				}
			}
		}
	}
	for _, shift := range []int{0, far} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		rows := 0
		for row, err := range compare.Join(records(0), records(shift)) {
			if err != nil || !row.Cells[0].Present || !row.Cells[1].Present {
				t.Fatalf("row %+v, error %v", row, err)
			}
			if rows++; rows == n/2 {
				runtime.GC()
				runtime.ReadMemStats(&after)
			}
		}
		if rows != n {
			t.Errorf("shifted by %d: %d rows, want %d", shift, rows, n)
		}
		// The texts of the waiting rows would be 16 MB, those of all rows 128 MB.
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
			t.Errorf("shifted by %d: %d KB are kept, want at most 4 MB", shift, grown>>10)
		}
	}
}
