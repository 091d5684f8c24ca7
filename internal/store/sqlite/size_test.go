package sqlite_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"deem"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/test/storetest"
)

// sizeOf returns the size in bytes of a database with the given records.
func sizeOf(t *testing.T, recs []deem.Record) int64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deem.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	for len(recs) > 0 {
		n := min(group, len(recs))
		if err := s.Append(t.Context(), run.ID, recs[:n]); err != nil {
			t.Fatal(err)
		}
		recs = recs[n:]
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestSharedDialogue checks that a conversation that 500 items share is stored once.
func TestSharedDialogue(t *testing.T) {
	t.Parallel()
	const items, size = 500, 50_000
	dialogue := storetest.Text("dialogue", size)
	recs := make([]deem.Record, items)
	for i := range recs {
		recs[i] = storetest.Record(i)
	}
	without := sizeOf(t, recs)
	for i := range recs {
		// Readers return one shared string, but nothing depends on that.
		recs[i].Item.Fields = map[string]string{"dialogue": strings.Clone(dialogue)}
	}
	// In addition to the text, each item has a reference to it.
	more, most := sizeOf(t, recs)-without, int64(size+items*64+16_384)
	if more > most {
		t.Errorf("500 items with a dialogue of %d bytes take %d bytes more than without, want at most %d", size, more, most)
	}
}

// TestSessions checks that the data of a user of the benchmark HaluMem gives a database of
// at most three times the input. Ten sessions are as good as the 65 of a real user:
// sessions share nothing.
func TestSessions(t *testing.T) {
	t.Parallel()
	var recs []deem.Record
	input := 0
	for i := range 10 {
		s := newSession(i)
		body, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		input += len(body)
		recs = append(recs, s.records(i)...)
	}
	ratio := float64(sizeOf(t, recs)) / float64(input)
	t.Logf("%d records: the database has %.2f times the input's %d bytes", len(recs), ratio, input)
	if ratio > 3 {
		t.Errorf("the database has %.2f times the size of the input, want at most 3", ratio)
	}
}

// A session is one session of a HaluMem user with the output of a memory system. Its counts
// and lengths are those of published results, rounded.
type session struct {
	Dialogue  []turn   `json:"dialogue"`
	Points    []point  `json:"memory_points"`
	Extracted []string `json:"extracted_memories"`
	Questions []asked  `json:"questions"`
}

type turn struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Timestamp string `json:"timestamp"`
	Turn      int    `json:"dialogue_turn"`
}

type point struct {
	Content   string   `json:"memory_content"`
	Kind      string   `json:"memory_type"`
	Source    string   `json:"memory_source"`
	Timestamp string   `json:"timestamp"`
	Found     []string `json:"memories_from_system,omitempty"`
}

type asked struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
	Response string `json:"system_response"`
	Context  string `json:"context"`
}

func newSession(i int) session {
	var s session
	say := func(what string, n, size int) string {
		return storetest.Text(fmt.Sprintf("%s %d of session %d", what, n, i), size)
	}
	for n := range 46 {
		s.Dialogue = append(s.Dialogue, turn{"assistant", say("turn", n, 322), "Nov 15, 2026, 16:45:00", n})
	}
	for n := range 10 {
		p := point{Content: say("point", n, 123), Kind: "Persona Memory", Source: "primary", Timestamp: "Nov 15, 2026, 16:45:00"}
		for k := range n / 8 * 10 {
			p.Found = append(p.Found, say(fmt.Sprint("found ", n), k, 195))
		}
		s.Points = append(s.Points, p)
	}
	for n := range 20 {
		s.Extracted = append(s.Extracted, say("memory", n, 173))
	}
	for n := range 2 {
		s.Questions = append(s.Questions, asked{say("question", n, 77), say("answer", n, 40), say("response", n, 60), say("context", n, 4200)})
	}
	return s
}

// records returns a record for each point, memory and question.
func (s session) records(i int) []deem.Record {
	var recs []deem.Record
	add := func(stage string, it deem.Item) {
		it.Cluster = "5ef1a2c0-0b1d-4c53-9d2e-2f6f1f0a7c11"
		it.ID, it.Category = fmt.Sprintf("%s/%d/%s/%d", it.Cluster, i, stage, len(recs)), stage
		recs = append(recs, judged(it, i*100+len(recs)))
	}
	var dialogue, golden strings.Builder
	for _, t := range s.Dialogue {
		fmt.Fprintf(&dialogue, "[%s]%s: %s\n", t.Timestamp, t.Role, t.Content)
	}
	for _, p := range s.Points[1:] { // One of them is interference.
		fmt.Fprintln(&golden, p.Content)
	}
	extracted := strings.Join(s.Extracted, "\n")
	for _, p := range s.Points {
		kept := map[string]string{"memory_type": p.Kind, "memory_source": p.Source}
		if p.Found != nil {
			add("update", deem.Item{References: []string{p.Content}, Response: strings.Join(p.Found, "\n"), Fields: kept})
		} else {
			add("integrity", deem.Item{References: []string{p.Content}, Response: extracted, Fields: kept})
		}
	}
	for _, memory := range s.Extracted {
		add("accuracy", deem.Item{
			Response: memory, Fields: map[string]string{"dialogue": dialogue.String(), "golden_memories": golden.String()},
		})
	}
	for _, q := range s.Questions {
		add("qa", deem.Item{
			Question: q.Question, References: []string{q.Answer}, Response: q.Response, Fields: map[string]string{"context": q.Context},
		})
	}
	return recs
}

// judged returns a record with a typical call.
func judged(it deem.Item, position int) deem.Record {
	rec := storetest.Record(position)
	rec.Item = it
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(it.ID)))
	reason := storetest.Text(fmt.Sprint("the reason ", position), 140)
	rec.Verdict.Label, rec.Verdict.Reason = "2", reason
	rec.Calls[0].Request, rec.Calls[0].Reply.Key = hash, hash[32:]+hash[:32]
	rec.Calls[0].Reply.Text = fmt.Sprintf("```json\n{\"reasoning\": %q, \"score\": 2}\n```", reason)
	return rec
}

// TestStreamFlat checks that reading a run takes memory for some records, and not for all
// of its texts.
func TestStreamFlat(t *testing.T) {
	s, run := begin(t)
	const records, size = 60, 400_000 // 24 MB in total, each in two places.
	rec := storetest.Record(0)
	rec.Calls = nil
	for i := range records {
		rec.Item.ID, rec.Position = fmt.Sprint(i), i
		rec.Item.Response = storetest.Text(fmt.Sprint("response ", i), size/2)
		rec.Item.Fields = map[string]string{"dialogue": storetest.Text(fmt.Sprint("dialogue ", i), size/2)}
		if err := s.Append(t.Context(), run.ID, []deem.Record{rec}); err != nil {
			t.Fatal(err)
		}
	}
	before := heap()
	most, n := uint64(0), 0
	for rec, err := range s.Records(t.Context(), run.ID, store.Query{}) {
		if err != nil || len(rec.Item.Response)+len(rec.Item.Fields["dialogue"]) != size {
			t.Fatalf("record %d has %d and %d bytes, %v", n, len(rec.Item.Response), len(rec.Item.Fields["dialogue"]), err)
		}
		if n++; n%20 == 0 {
			most = max(most, heap())
		}
	}
	const bound = 12 << 20 // Twice what is cached, plus some.
	if n != records || most > before+bound {
		t.Errorf("reading %d records took %d bytes more, want at most %d", n, most-before, bound)
	}
}

// heap returns how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestReadOnlyTexts checks that a store that was opened for reading only can read long
// texts too.
func TestReadOnlyTexts(t *testing.T) {
	t.Parallel()
	s, run := begin(t)
	want := longRecord(7)
	if err := s.Append(t.Context(), run.ID, []deem.Record{want}); err != nil {
		t.Fatal(err)
	}
	reader, err := sqlite.OpenReadOnly(t.Context(), s.Path(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close() //nolint:errcheck // Nothing was written.
	for rec, err := range reader.Records(t.Context(), run.ID, store.Query{}) {
		if err != nil || rec.Item.Hash() != want.Item.Hash() {
			t.Errorf("record = %+v, %v, want %+v", rec.Item, err, want.Item)
		}
	}
}
