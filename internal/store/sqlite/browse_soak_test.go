//go:build soak

package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/test/storetest"
)

// soakRecords is the number of records in the large store.
const soakRecords = 100_000

// A talker generates texts with a natural word frequency: the k-th word is about 1/k times
// as frequent as the first.
type talker struct {
	rng   *rand.Rand
	zipf  *rand.Zipf
	words []string
}

func newTalker() *talker {
	rng := rand.New(rand.NewPCG(7, 11))
	t := &talker{rng: rng, zipf: rand.NewZipf(rng, 1.1, 4, 59_999), words: make([]string, 60_000)}
	for i := range t.words {
		word := make([]byte, 2+rng.IntN(9))
		for k := range word {
			word[k] = "etaoinshrdlucmfwypvbgkjqxz"[min(rng.IntN(26), rng.IntN(26))]
		}
		t.words[i] = string(word)
	}
	return t
}

// say returns a text of about the given number of bytes.
func (t *talker) say(size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(t.words[t.zipf.Uint64()])
		b.WriteByte(' ')
	}
	return b.String()
}

// record returns the i-th record: 3 KB, with unique texts.
func (t *talker) record(i int) deem.Record {
	rec := storetest.Record(i)
	it := &rec.Item
	it.Question = "Which lighthouse is it? " + t.say(150)
	it.References = []string{t.say(80), t.say(60)}
	it.Response = t.say(1900)
	if i%15_000 == 77 {
		it.Category, it.Response = "rare", it.Response+" zanzibar"
	}
	v := rec.Verdict
	v.Score, v.Reason = float64(t.rng.IntN(11))/10, t.say(600)
	if v.Label = "INCORRECT"; v.Yes() {
		v.Label = "CORRECT"
	}
	if i%3 > 0 {
		v.Confidence = new(t.rng.Float64())
	}
	if i%97 == 0 {
		rec.Verdict, rec.Failure = nil, deem.Failf(deem.Kinds()[i/97%11], "%s", t.say(80))
	}
	rec.Calls = nil
	return rec
}

// soakStore creates the large store, or opens the one that DEEM_SOAK_DB names.
func soakStore(tb testing.TB) (*sqlite.Store, store.Run) {
	tb.Helper()
	path := os.Getenv("DEEM_SOAK_DB")
	if path == "" {
		path = filepath.Join(tb.TempDir(), "deem.db")
	}
	_, missing := os.Stat(path)
	s := open(tb, path)
	spec := storetest.Spec("soak")
	run, _, err := s.Begin(tb.Context(), spec, false)
	if err != nil {
		tb.Fatal(err)
	}
	if missing == nil {
		return s, run
	}
	start, talk := time.Now(), newTalker()
	recs := make([]deem.Record, 0, group)
	for i := range soakRecords {
		recs = append(recs, talk.record(i))
		if len(recs) == group || i == soakRecords-1 {
			if err := s.Append(tb.Context(), run.ID, recs); err != nil {
				tb.Fatal(err)
			}
			recs = recs[:0]
		}
	}
	tb.Logf("%d records in %v", soakRecords, time.Since(start).Round(time.Millisecond))
	return s, run
}

// TestSoakBrowse browses a large run, and checks that no action takes noticeably long.
func TestSoakBrowse(t *testing.T) {
	s, run := soakStore(t)
	other := soakOther(t, s, run)
	deep := soakDeep(t, s, run.ID)
	for _, tt := range []struct {
		name string
		view store.View
	}{
		{"first page", store.View{}},
		{"last page", store.View{Descending: true}},
		{"label", store.View{Query: store.Query{Labels: []string{"CORRECT"}}}},
		{"rare category", store.View{Query: store.Query{Categories: []string{"rare"}}}},
		{"unjudged", store.View{Query: store.Query{Unjudged: true}}},
		{"one kind", store.View{Query: store.Query{Kinds: []deem.Kind{deem.Timeout}}}},
		{"no", store.View{Pass: new(false)}},
		{"rare word", store.View{Text: "zanzibar"}},
		{"frequent word", store.View{Text: "lighthouse"}},
		{"frequent word by score", store.View{Text: "lighthouse", Order: store.ByScore}},
		{"two words and a phrase", store.View{Text: `lighthouse zanz* "which lighthouse is"`}},
		{"no such word", store.View{Text: "xyzzyplugh"}},
		{"score", store.View{Order: store.ByScore}},
		{"score, descending", store.View{Order: store.ByScore, Descending: true}},
		{"score, page in the middle", store.View{Order: store.ByScore, From: deep}},
		{"score, page before", store.View{Order: store.ByScore, From: deep, Backward: true}},
		{"confidence", store.View{Order: store.ByConfidence}},
		{"against", store.View{Against: other}},
	} {
		page, view := quickest(t, func() int {
			recs, err := s.View(t.Context(), run.ID, tt.view)
			if err != nil {
				t.Fatal(err)
			}
			return len(recs)
		})
		total, count := quickest(t, func() int {
			counts, err := s.Count(t.Context(), run.ID, tt.view)
			if err != nil {
				t.Fatal(err)
			}
			return counts.Total
		})
		t.Logf("%-26s page of %2d in %v, %6d counted in %v", tt.name, page, view, total, count)
		// It takes 150 ms on an idle machine.
		limit := 250 * time.Millisecond
		if tt.view.Text != "" {
			limit = 2 * time.Second // A search reads the run.
		}
		if view.cpu > limit || count.cpu > limit {
			t.Errorf("%s takes %v and %v, want at most %v", tt.name, view, count, limit)
		}
	}
}

// A timing is wall time and CPU time. On a shared machine, CPU time is what counts.
type timing struct{ clock, cpu time.Duration }

func (tm timing) String() string {
	return fmt.Sprintf("%5.1f ms (cpu %5.1f)", ms(tm.clock), ms(tm.cpu))
}

// quickest returns the shortest of seven times.
func quickest(t *testing.T, do func() int) (n int, best timing) {
	t.Helper()
	best = timing{time.Hour, time.Hour}
	for range 7 {
		start, before := time.Now(), cpuTime()
		n = do()
		best.clock, best.cpu = min(best.clock, time.Since(start)), min(best.cpu, cpuTime()-before)
	}
	return n, best
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// soakOther returns a run that shares the first items of the run, with a few opposite
// verdicts.
func soakOther(t *testing.T, s *sqlite.Store, run store.Run) string {
	t.Helper()
	other, resumed, err := s.Begin(t.Context(), storetest.Spec("soak, other"), false)
	if err != nil || resumed {
		return other.ID
	}
	var recs []deem.Record
	for rec, err := range s.Records(t.Context(), run.ID, store.Query{Limit: 20_000}) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Verdict != nil && rec.Position%500 == 0 {
			rec.Verdict.Pass = new(!rec.Verdict.Yes())
		}
		recs = append(recs, rec)
	}
	for part := range slices.Chunk(recs, group) {
		if err := s.Append(t.Context(), other.ID, part); err != nil {
			t.Fatal(err)
		}
	}
	return other.ID
}

// soakDeep returns a place in the middle of the run by score.
func soakDeep(t *testing.T, s *sqlite.Store, runID string) *store.Place {
	t.Helper()
	recs, err := s.View(t.Context(), runID, store.View{Order: store.ByScore, From: &store.Place{Value: new(0.5)}})
	if err != nil || len(recs) == 0 {
		t.Fatal(err)
	}
	return store.PlaceOf(recs[len(recs)-1], store.ByScore)
}
