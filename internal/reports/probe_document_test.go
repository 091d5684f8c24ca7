package reports_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/probe"
	"deem/internal/reports"
)

// record returns the record of a probe of item n with the verdict yes, no or none.
func record(kind, variant string, n, trial int, said string) deem.Record {
	of := fmt.Sprintf("i%02d", n)
	it := deem.Item{ID: kind + "/" + variant + "/" + of, Question: "Where <b>is</b> it?", References: []string{"Porto"}, Response: "Lisbon"}
	if variant == "" {
		it.ID = kind + "/" + of
	}
	want := "yes"
	switch kind {
	case "other", "vague", "padded", "injection", "off-by-one":
		want = "no"
	}
	it.Fields = map[string]string{"probe": kind, "probe_want": want, "probe_of": of, "probe_variant": variant}
	if kind == "padded" || kind == "buried" {
		it.Response = strings.Repeat("word ", 100)
	}
	rec := deem.Record{Item: it, Trial: trial}
	switch said {
	case "yes":
		rec.Verdict = &deem.Verdict{Label: "yes", Score: 1, Reason: "it looks <i>fine</i>\x1b[31m"}
	case "no":
		rec.Verdict = &deem.Verdict{Label: "no"}
	default:
		rec.Failure = deem.Failf(deem.Refused, "no")
	}
	return rec
}

// cards are the cards in the golden files.
func cards() map[string]probe.Card {
	head := probe.Head{
		Judge: "my <judge>", JudgeHash: "0123456789abcdef0123", Model: "fake:x", Run: "20260101-aaaaaa",
		Data: []string{"answers.jsonl"}, Seed: 7, Deem: "1.2.3", Trials: 2, MaxUnjudged: 0.01,
	}
	var full []deem.Record
	for n := range 12 {
		pick := func(every int, then, otherwise string) string {
			if n%every == 0 {
				return then
			}
			return otherwise
		}
		for trial := range 2 {
			full = append(full,
				record("other", "", n, trial, "no"),
				record("vague", "", n, trial, pick(2+trial, "yes", "no")),
				record("padded", "", n, trial, pick(3, "yes", "no")),
				record("reference", "", n, trial, "yes"),
				record("buried", "", n, trial, pick(4, "no", "yes")),
				record("injection", fmt.Sprintf("string-%d", n%4), n, trial, pick(3, "yes", "no")),
				record("of their own", "", n, trial, pick(5, "?", "yes")),
			)
		}
	}
	return map[string]probe.Card{
		"full":   cardOf(head, full...),
		"one":    cardOf(probe.Head{Judge: "match", JudgeHash: "abc", Trials: 1, MaxUnjudged: 0.01}, record("reference", "", 1, 0, "yes")),
		"silent": cardOf(probe.Head{Judge: "silent", JudgeHash: "def", Trials: 1, MaxUnjudged: 0.01}, record("vague", "", 1, 0, "?"), record("injection", "string-1", 1, 0, "?")),
		"none":   cardOf(probe.Head{}),
	}
}

func cardOf(h probe.Head, records ...deem.Record) probe.Card {
	c, err := probe.NewCard(h, func(yield func(deem.Record, error) bool) {
		for _, rec := range records {
			if !yield(rec, nil) {
				return
			}
		}
	})
	if err != nil {
		panic(err)
	}
	return c
}

func TestProbeGolden(t *testing.T) {
	forms := map[string]func(io.Writer, probe.Card) error{"txt": reports.ProbeText, "json": reports.ProbeJSON, "html": reports.ProbeHTML}
	for name, card := range cards() {
		for ext, write := range forms {
			t.Run(name+"."+ext, func(t *testing.T) {
				var got bytes.Buffer
				if err := write(&got, card); err != nil {
					t.Fatal(err)
				}
				file := "testdata/probe/" + name + "." + ext + ".golden"
				if *update {
					if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got.String()); diff != "" {
					t.Errorf("%s differs (-want +got); -update writes it anew:\n%s", file, diff)
				}
			})
		}
	}
}

// The page loads nothing, runs nothing, and shows the judge's words as text.
func TestPageIsSafe(t *testing.T) {
	var b strings.Builder
	if err := reports.ProbeHTML(&b, cards()["full"]); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, bad := range []string{"<script", "http://", "https://", "<b>is</b>", "<i>fine", "my <judge>", " src=", "@import", "url("} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(page, "Judge card: my &lt;judge&gt;") {
		t.Error("the page does not name the judge")
	}
}

// The text does not move the cursor, and contains the hash of the judge.
func TestTextIsSafe(t *testing.T) {
	var b strings.Builder
	if err := reports.ProbeText(&b, cards()["full"]); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Contains(text, "\x1b") || !strings.Contains(text, "hash 0123456789ab") {
		t.Errorf("text moves the cursor, or lacks the hash:\n%s", text)
	}
}

// JSON round-trips the card.
func TestJSONIsTheCard(t *testing.T) {
	want := cards()["full"]
	var b bytes.Buffer
	if err := reports.ProbeJSON(&b, want); err != nil {
		t.Fatal(err)
	}
	var got probe.Card
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the card changed on its way (-want +got):\n%s", diff)
	}
}
