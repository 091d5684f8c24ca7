package benchmark_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/benchmark"
	"deem/internal/benchmark/babilong"
	"deem/internal/benchmark/infinitebench"
	"deem/internal/benchmark/longbench"
	"deem/internal/benchmark/ruler"
	"deem/judge"
	"deem/model/fake"
)

// fileName returns a file name that a benchmark accepts: some derive the task from it.
func fileName(name string, n uint) string {
	switch name {
	case longbench.Name:
		tasks := []string{"narrativeqa", "multifieldqa_zh", "lsht", "samsum", "passage_count", "lcc", "v2", "pred_e/qasper"}
		return tasks[n%uint(len(tasks))] + ".jsonl"
	case infinitebench.Name:
		tasks := []string{"passkey", "kv_retrieval", "longbook_sum_eng", "longbook_choice_eng", "longbook_qa_chn", "code_run", "math_calc"}
		return "preds_" + tasks[n%uint(len(tasks))] + ".jsonl"
	case ruler.Name:
		return []string{"vt", "qa_1", "niah_multivalue"}[n%3] + ".jsonl"
	case babilong.Name:
		return []string{"qa1_4k", "qa7_0k", "qa8_1M", "qa19_16k"}[n%4] + ".csv"
	default:
		return []string{"x.jsonl", "x.json", "x.csv"}[n%3]
	}
}

// FuzzStory runs each benchmark on arbitrary files: items, verdicts, metrics, upstream's
// result file. Either there is an error that names the file, or each item has a unique id,
// is the same when read again, and ends in a valid verdict or a failure. The metrics can be
// encoded as JSON without NaN.
func FuzzStory(f *testing.F) {
	seedStory(f)
	f.Fuzz(func(t *testing.T, which, name uint8, data, responses, reply string) {
		b := benchmark.All()[int(which)%len(benchmark.All())]
		o := benchmark.Options{Data: []string{put(t, fileName(b.Name, uint(name)), data)}, MaxUnjudged: 1}
		if responses != "" {
			o.Responses = []string{put(t, "r.jsonl", responses)}
		}
		s, err := b.Open(t.Context(), o)
		if err != nil {
			if text := err.Error(); !strings.Contains(text, filepath.Base(o.Data[0])) && !strings.Contains(text, "r.jsonl") && responses == "" {
				t.Errorf("%s: error %q names no file", b.Name, text)
			}
			return
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		items := itemsOf(t, s)
		for _, o.Reading = range b.Readings {
			tell(t, b, o, items, reply)
		}
	})
}

// seedStory adds the examples that ship with deem.
func seedStory(f *testing.F) {
	f.Helper()
	at := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "examples", filepath.FromSlash(name)))
		if err != nil {
			f.Fatal(err)
		}
		return string(text)
	}
	place := func(name string) uint8 {
		return uint8(slices.IndexFunc(benchmark.All(), func(b benchmark.Benchmark) bool { return b.Name == name }))
	}
	f.Add(uint8(0), uint8(1), at("longmemeval/questions.json"), at("longmemeval/hypotheses.jsonl"), "yes")
	f.Add(uint8(1), uint8(0), at("halumem/tiny_eval_results.jsonl"), "", "```json\n{\"score\": 2}\n```")
	f.Add(uint8(2), uint8(1), at("locomo/conversations.json"), at("locomo/responses.jsonl"), `{"label": "CORRECT"}`)
	f.Add(place("personamem"), uint8(2), at("personamem/benchmark.csv"), at("personamem/choices.jsonl"), `\boxed{0.5}`)
	f.Add(place("evermembench"), uint8(1), at("evermembench/questions.json"), at("evermembench/answers.jsonl"), `{"label": "CORRECT"}`)
	for _, name := range []string{"mrcr", "graphwalks", "oolong", "forgeteval"} {
		f.Add(place(name), uint8(0), at("longcontext/"+name+".jsonl"), "", "")
	}
	f.Add(place("ruler"), uint8(0), at("longcontext/ruler/vt.jsonl"), "", "")
	f.Add(place("babilong"), uint8(1), at("longcontext/babilong/qa7_4k.csv"), "", "")
	for which, folder := range map[uint8]string{3: "longbench/pred/tiny-model", 4: "infinitebench/results/tiny-model"} {
		files, err := os.ReadDir(filepath.Join("..", "examples", filepath.FromSlash(folder)))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			for n := range uint8(30) {
				if fileName(benchmark.All()[which].Name, uint(n)) == file.Name() {
					f.Add(which, n, at(folder+"/"+file.Name()), "", "")
				}
			}
		}
	}
	rubrics := place("beam")
	f.Add(rubrics, uint8(1), at("beam/chats/100K/1/probing_questions/probing_questions.json"), at("beam/answers/100K/1/answers.json"), `{"score": 0.5}`)
	f.Add(rubrics, uint8(0), `{"chat":1,"ability":"event_ordering","index":0,"question":"q","rubric":["a","b"],"llm_response":"a\n\nb"}`, "", `{"positions": [{"position": 2}, {"position": 1}]}`)
	f.Add(uint8(3), uint8(21), `{"_id":"a","difficulty":"easy","length":"short","response":"(B)","answer":"B","pred":"B"}`, "", "")
	f.Add(uint8(4), uint8(0), `{"id":0,"ground_truth":[],"prediction":null}`+"\n{", "", "")
	f.Add(uint8(1), uint8(0), `{"uuid":1,"sessions":[{"memory_points":[],"extracted_memories":["m"],"dialogue":[],"questions":[{}]}]}`, "", "{}")
}

// put writes a file into a temporary folder.
func put(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// itemsOf reads the items twice.
func itemsOf(t *testing.T, s benchmark.Set) []deem.Item {
	t.Helper()
	var hashes [2][]string
	var items []deem.Item
	seen := map[string]bool{}
	for round := range hashes {
		for it, err := range s.Items() {
			if err != nil {
				t.Fatal(err)
			}
			if hashes[round] = append(hashes[round], it.Hash()); round == 1 {
				continue
			}
			if it.ID == "" || seen[it.ID] {
				t.Errorf("item %d has the id %q", len(items), it.ID)
			}
			seen[it.ID] = true
			items = append(items, it)
		}
	}
	if !slices.Equal(hashes[0], hashes[1]) || len(items) != s.Len() {
		t.Errorf("%d items, then %d, and Len() = %d", len(items), len(hashes[1]), s.Len())
	}
	return items
}

// tell judges the items with each judge, using a model that always gives the same reply,
// and computes the benchmark's metrics.
func tell(t *testing.T, b benchmark.Benchmark, o benchmark.Options, items []deem.Item, reply string) {
	t.Helper()
	m := fake.Func("fuzz", func(context.Context, deem.Request) (deem.Reply, error) {
		return deem.Reply{Text: reply, Stop: deem.StopEnd}, nil
	})
	for _, name := range b.Judges {
		j, err := b.Judge(name, o)
		if err != nil {
			continue // Not every judge has every reading.
		}
		asked := j.Rule
		if asked == nil {
			asked = judge.New(j.Protocol, m)
		}
		var recs []deem.Record
		for i, it := range items {
			recs = append(recs, verdictOn(t, asked, it, i))
		}
		summarise(t, b, o, name, recs)
	}
}

// verdictOn returns the record of an item.
func verdictOn(t *testing.T, j deem.Judge, it deem.Item, at int) deem.Record {
	t.Helper()
	rec := deem.Record{Item: it, Position: at, Judge: j.Name()}
	v, err := j.Judge(t.Context(), it)
	if err == nil {
		if !(v.Score >= 0 && v.Score <= 1) || v.Label == "" {
			t.Errorf("%s of %+v: %+v", j.Name(), it, v)
		}
		rec.Verdict = &v
		return rec
	}
	failure, ok := errors.AsType[*deem.Failure](err)
	if !ok {
		t.Fatalf("%s of %+v: %v, which is not a failure", j.Name(), it, err)
	}
	rec.Failure = failure
	return rec
}

// summarise computes the metrics of records.
func summarise(t *testing.T, b benchmark.Benchmark, o benchmark.Options, name string, recs []deem.Record) {
	t.Helper()
	metrics, err := b.Metrics(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range recs {
		metrics.Add(rec)
	}
	if err := metrics.Text(io.Discard); err != nil {
		t.Errorf("%s as text: %v", name, err)
	}
	if _, err := json.Marshal(metrics.JSON()); err != nil {
		t.Errorf("%s as JSON: %v", name, err)
	}
	if b.WriteResults == nil || name == "halumem/omnimemeval" { // which is not part of upstream's file
		return
	}
	done := benchmark.Finished{Options: o, Judge: name, Model: "fake:fuzz", Records: func(yield func(deem.Record, error) bool) {
		for _, rec := range recs {
			if !yield(rec, nil) {
				return
			}
		}
	}}
	left, err := b.WriteResults(t.Context(), io.Discard, done)
	if err != nil || left < 0 || left > len(recs) {
		t.Error(fmt.Errorf("%s leaves %d of %d items out of its results: %w", name, left, len(recs), err))
	}
}
