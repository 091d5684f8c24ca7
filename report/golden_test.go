package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"

	"deem"
	"deem/internal/doc"
	"deem/judge"
	"deem/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// head returns the head of a complete run with a model.
func head() report.Head {
	return report.Head{
		Run: "nightly-7", Judge: "longmemeval", JudgeHash: strings.Repeat("4f0c2a91", 8), JudgeKind: judge.KindModel,
		Reading: "upstream", Model: "openai:gpt-4o-2024-08-06",
		Dataset: "longmemeval_s", DatasetHash: strings.Repeat("9b1c", 16),
		Complete: true,
		Started:  time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC),
		Ended:    time.Date(2026, 3, 1, 9, 35, 12, 0, time.UTC),
	}
}

// item returns the record of the i-th item before it is judged.
func item(i int) deem.Record {
	return deem.Record{
		Item:     deem.Item{ID: fmt.Sprintf("q%d", i), Response: "x"},
		Position: i, Judge: "longmemeval",
	}
}

// yes returns the record of the i-th item with a right or wrong verdict and one call.
func yes(i int, right bool) deem.Record {
	rec := item(i)
	rec.Verdict = &deem.Verdict{Label: "no"}
	if right {
		rec.Verdict = &deem.Verdict{Label: "yes", Score: 1}
	}
	rec.Calls = []deem.Call{call(i)}
	return rec
}

// call returns a call whose cost and time depend on i.
func call(i int) deem.Call {
	return deem.Call{Model: "openai:gpt-4o-2024-08-06", Reply: &deem.Reply{
		Text: "yes", Stop: deem.StopEnd, Model: "gpt-4o-2024-08-06", Fingerprint: "fp_a1",
		Usage:   deem.Usage{Input: 500 + i, Output: 2, CachedInput: 100},
		Latency: time.Duration(400+i) * time.Millisecond, Attempts: 1, CostMicros: 1300,
	}}
}

// failed returns the record of the i-th item with a failure.
func failed(i int, kind deem.Kind) deem.Record {
	rec := item(i)
	rec.Failure = deem.Failf(kind, "seen in a test")
	rec.Calls = []deem.Call{{Model: "openai:gpt-4o-2024-08-06", Error: "boom", Attempts: 3}}
	return rec
}

// many returns n records, k of them right.
func many(k, n int) []deem.Record {
	recs := make([]deem.Record, n)
	for i := range recs {
		recs[i] = yes(i, i < k)
	}
	return recs
}

// build returns the builder of a report of the records.
func build(h report.Head, recs []deem.Record) *report.Builder {
	b := report.New(h)
	for _, rec := range recs {
		b.Add(rec)
	}
	return b
}

// scenes are the reports in the golden files.
type scene struct {
	name  string
	build func() *report.Builder
}

var scenes = []scene{
	{"plain", func() *report.Builder {
		h := head()
		h.Items = 60
		return build(h, many(41, 60))
	}},
	{"failures_under_limit", func() *report.Builder {
		h := head()
		h.Items, h.MaxUnjudged, h.UpstreamName = 52, new(0.1), "universal upstream"
		recs := many(30, 48)
		recs = append(recs, failed(48, deem.Timeout), failed(49, deem.Unparseable), failed(50, deem.Timeout), failed(51, deem.Refused))
		return build(h, recs)
	}},
	{"withheld", sceneWithheld},
	{"pass_and_aspects", scenePass},
	{"rule_judge", sceneRule},
	{"undecided", sceneUndecided},
	{"chinese_categories", sceneChinese},
	{"in_progress", func() *report.Builder {
		h := head()
		h.Complete, h.Items, h.Ended = false, 500, time.Time{}
		return build(h, many(80, 120))
	}},
	{"other_reading", sceneReading},
	{"empty", func() *report.Builder { return report.New(report.Head{Judge: "longmemeval", Complete: true}) }},
	{"all_unjudged", func() *report.Builder {
		return build(head(), []deem.Record{failed(0, deem.Empty), failed(1, deem.Empty)})
	}},
	{"one_record", func() *report.Builder { return build(head(), many(1, 1)) }},
	{"weights", func() *report.Builder {
		recs := many(30, 40)
		for i := range recs {
			recs[i].Item.Weight = float64(1 + i%4)
		}
		return build(head(), recs)
	}},
	{"trials", sceneTrials},
	{"hostile_names", sceneHostile},
	{"clusters_and_models", sceneClusters},
	{"everything", sceneEverything},
	{"bootstrap", sceneBootstrap},
	{"cluster_bootstrap", func() *report.Builder {
		h := everythingHead()
		h.Bootstrap = &report.Bootstrap{Seed: 7}
		return build(h, everything())
	}},
}

// sceneWithheld has a quarter of its items unjudged.
func sceneWithheld() *report.Builder {
	h := head()
	h.Items = 40
	recs := many(20, 30)
	for i := 30; i < 40; i++ {
		kind := deem.Unparseable
		if i%3 == 0 {
			kind = deem.Provider
		}
		recs = append(recs, failed(i, kind))
	}
	for i := range recs {
		recs[i].Item.Category = []string{"multi-session", "temporal-reasoning"}[i%2]
	}
	return build(h, recs)
}

// scenePass has a rubric judge with a pass mark and aspects.
func scenePass() *report.Builder {
	h := head()
	h.Judge, h.Reading, h.Dataset, h.DatasetHash = "rubric", "", "support.jsonl", ""
	recs := make([]deem.Record, 36)
	for i := range recs {
		rec := item(i)
		correct, relevant := float64((i*7)%11), float64(6+i%5)
		score := (correct + relevant) / 20
		pass := score >= 0.7
		label := map[bool]string{true: "PASS", false: "FAIL"}[pass]
		rec.Judge = "rubric"
		rec.Verdict = &deem.Verdict{
			Label: label, Score: score, Pass: &pass,
			Aspects: map[string]float64{"correctness": correct, "relevance": relevant},
		}
		rec.Item.Category = []string{"easy", "hard", ""}[i%3]
		recs[i] = rec
	}
	return build(h, recs)
}

// sceneRule has a rule as its judge, which calls no model.
func sceneRule() *report.Builder {
	h := head()
	h.Judge, h.JudgeKind, h.Model, h.Reading = "match", judge.KindRule, "", ""
	h.JudgeNote = "match is a rule, not a model: it compares numbers, dates, lists and polarity, " +
		"and leaves an item unjudged when it cannot tell"
	recs := many(21, 33)
	for i := range recs {
		recs[i].Judge, recs[i].Calls = "match", nil
	}
	return build(h, recs)
}

// sceneUndecided has a rule that gives probabilities for items that it does not decide.
func sceneUndecided() *report.Builder {
	h := head()
	h.Judge, h.JudgeKind, h.JudgeNote, h.Model, h.Reading, h.CalibrationError = "match", judge.KindRule, "match is a rule", "", "", 0.1
	recs := many(21, 40)
	for i := range recs {
		recs[i].Judge, recs[i].Calls = "match", nil
		if i%8 == 0 {
			recs[i].Verdict, recs[i].Failure = nil, &deem.Failure{Kind: deem.Unsure, Probability: new(0.4)}
		}
	}
	return build(h, recs)
}

// sceneChinese has categories whose characters are two columns wide.
func sceneChinese() *report.Builder {
	recs := many(50, 90)
	for i := range recs {
		recs[i].Item.Category = []string{"单跳问答", "时间推理", "multi-hop", "多会话"}[i%4]
	}
	return build(head(), recs)
}

// sceneReading has another reading that decides three items differently.
func sceneReading() *report.Builder {
	h := head()
	h.MaxUnjudged = new(0.1)
	b := report.New(h)
	for _, rec := range many(41, 60) {
		b.Add(rec)
		switch rec.Position {
		case 7, 12:
			b.AddReread("strict", rec, nil, deem.Failf(deem.Contradictory, "yes and no"))
		case 50:
			b.AddReread("strict", rec, &deem.Verdict{Label: "yes", Score: 1}, nil)
		default:
			b.AddReread("strict", rec, rec.Verdict, nil)
		}
		if rec.Position%2 == 0 {
			b.AddReread("stubborn", rec, nil, deem.Failf(deem.Unparseable, "no word is good enough"))
		} else {
			b.AddReread("stubborn", rec, rec.Verdict, nil)
		}
		b.AddReread("zealous", rec, rec.Verdict, nil)
	}
	return b
}

// sceneTrials judges each item three times.
func sceneTrials() *report.Builder {
	h := head()
	h.Items, h.Trials = 40, 3
	b := report.New(h)
	for trial := range 3 {
		recs := many(25+trial, 40)
		if trial == 2 {
			recs[39] = failed(39, deem.Timeout)
		}
		for _, rec := range recs {
			rec.Trial = trial
			b.Add(rec)
		}
	}
	return b
}

// sceneHostile has names that try to break a table or a terminal, and invalid numbers.
func sceneHostile() *report.Builder {
	h := head()
	h.Run, h.Model, h.MaxUnjudged = "nightly\x1b[2J", "openai:\u202egpt", new(1.0)
	h.JudgeNote = "written\nin two lines"
	recs := many(2, 6)
	recs[0].Item.Category = "red \x1b[31mcategory\r\n  with a second line"
	recs[1].Item.Category = strings.Repeat("a very long name ", 8)
	recs[2].Item.Category = "not \xff utf-8"
	recs[3].Verdict.Label = "no\x07\u2028"
	recs[4].Item.ID, recs[4].Item.Weight = "q4\ttab", -1
	recs[4].Verdict.Score = 1.5
	recs[5].Verdict = nil
	recs[1].Verdict.Aspects = map[string]float64{"tone\x00": 3}
	return build(h, recs)
}

// sceneClusters has items of ten conversations and a model that changed.
func sceneClusters() *report.Builder {
	recs := many(60, 100)
	for i := range recs {
		recs[i].Item.Cluster = fmt.Sprintf("conversation-%d", i%10)
		switch {
		case i >= 90:
			recs[i].Calls[0].Reply.Cached, recs[i].Calls[0].Reply.Attempts = true, 0
		case i >= 70:
			recs[i].Calls[0].Reply.Fingerprint = "fp_b2"
			recs[i].Calls[0].Reply.Unpriced, recs[i].Calls[0].Reply.CostMicros = true, 0
			recs[i].Calls[0].Reply.Attempts = 2
		case i >= 60:
			recs[i].Calls[0].Reply.Usage.Estimated = true
		}
	}
	return build(head(), recs)
}

// everythingHead returns the head of a run with three trials.
func everythingHead() report.Head {
	h := head()
	h.Items, h.Trials, h.MaxUnjudged = 240, 3, new(0.05)
	return h
}

// everything returns records with clusters, categories, trials, failures and stated
// confidence. Conversations differ in how hard they are, and so do categories.
func everything() []deem.Record {
	var recs []deem.Record
	for i := range 240 {
		conversation, category := i%40, (i/40)%3
		for trial := range 3 {
			hard := (conversation*7)%10 + []int{0, 1, 5}[category]
			rec := yes(i, (i*13+trial*(i%29/28))%16 >= hard)
			rec.Trial = trial
			rec.Item.Cluster = fmt.Sprintf("conversation-%02d", conversation)
			rec.Item.Category = []string{"single-session", "multi-session", "temporal-reasoning"}[category]
			sure := 0.5 + float64((i*7)%50)/100
			rec.Verdict.Confidence = &sure
			if i%60 == 59 && trial != 1 {
				rec.Verdict, rec.Failure = nil, deem.Failf(deem.Unparseable, "hm")
			}
			recs = append(recs, rec)
		}
	}
	return recs
}

func sceneEverything() *report.Builder { return build(everythingHead(), everything()) }

// sceneBootstrap resamples weighted scores between 0 and 1.
func sceneBootstrap() *report.Builder {
	h := head()
	h.Judge, h.Reading, h.Bootstrap = "rubric", "", &report.Bootstrap{Draws: 500, Seed: 1}
	recs := many(0, 50)
	for i := range recs {
		recs[i].Verdict = &deem.Verdict{Label: "graded", Score: float64((i*i)%21) / 20}
		recs[i].Item.Weight = float64(1 + i%3)
		recs[i].Item.Category = []string{"easy", "hard"}[i%2]
	}
	return build(h, recs)
}

func TestGolden(t *testing.T) {
	for _, sc := range scenes {
		t.Run(sc.name, func(t *testing.T) {
			r := sc.build().Report()
			var text, detail, data bytes.Buffer
			if err := errors.Join(r.Text(&text), doc.Text(&detail, r.Document(), doc.TextOptions{Detail: true}), r.JSON(&data)); err != nil {
				t.Fatal(err)
			}
			golden(t, sc.name+".txt.golden", text.Bytes())
			golden(t, sc.name+".v.txt.golden", detail.Bytes())
			golden(t, sc.name+".json.golden", data.Bytes())
			if slices.Contains([]string{"everything", "hostile_names", "withheld", "empty"}, sc.name) {
				golden(t, sc.name+".html.golden", html(t, r))
			}
			if !json.Valid(data.Bytes()) {
				t.Error("the JSON is not valid")
			}
		})
	}
}

// The report fits 60, 80 and 120 columns, with and without colour, short and in detail.
// Colour adds nothing but control sequences.
func TestGoldenWidths(t *testing.T) {
	control := regexp.MustCompile("\x1b\\[[0-9]*m")
	for _, name := range []string{"everything", "withheld", "hostile_names"} {
		sc := scenes[slices.IndexFunc(scenes, func(s scene) bool { return s.name == name })]
		for _, width := range []int{60, 80, 120} {
			for _, detail := range []bool{false, true} {
				d := sc.build().Report().Document()
				var plain, coloured bytes.Buffer
				err := errors.Join(doc.Text(&plain, d, doc.TextOptions{Width: width, Detail: detail}),
					doc.Text(&coloured, d, doc.TextOptions{Width: width, Detail: detail, Colour: true}))
				if err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(plain.String()) {
					if w := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); w > width {
						t.Errorf("%s: a line is %d columns wide, want at most %d: %s", name, w, width, line)
					}
				}
				if stripped := control.ReplaceAll(coloured.Bytes(), nil); !bytes.Equal(stripped, plain.Bytes()) {
					t.Errorf("%s at %d columns: colour changes the text:\n%s", name, width, stripped)
				}
				kind := fmt.Sprintf("%s.%d", name, width)
				if detail {
					kind += ".v"
				}
				golden(t, kind+".txt.golden", plain.Bytes())
				golden(t, kind+".colour.txt.golden", coloured.Bytes())
			}
		}
	}
}

// golden compares got with a golden file, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
