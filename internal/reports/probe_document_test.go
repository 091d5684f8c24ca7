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
	"deem/internal/reports"
	"deem/probe"
)

// record returns the record of a probe of item n with the verdict yes, no or none.
func record(kind probe.Kind, variant string, n, trial int, said string) deem.Record {
	want, known := kind.Want()
	if !known {
		want = true
	}
	it := deem.Item{ID: fmt.Sprintf("i%02d", n), Question: "Where <b>is</b> it?", References: []string{"Porto"}}
	response := "Lisbon"
	if kind == probe.Padded || kind == probe.Buried {
		response = strings.Repeat("word ", 100)
	}
	rec := deem.Record{Item: probe.New(it, kind, variant, want, response).Item, Trial: trial}
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
		Data: []string{"answers.jsonl"}, Sources: 12, Seed: 7, Deem: "1.2.3", Trials: 2, MaxUnjudged: 0.01,
	}
	full := probe.NewBuilder(head)
	for n := range 12 {
		pick := func(every int, then, otherwise string) string {
			if n%every == 0 {
				return then
			}
			return otherwise
		}
		for trial := range 2 {
			full.Add(record(probe.Other, "", n, trial, "no"))
			full.Add(record(probe.Vague, "", n, trial, pick(2+trial, "yes", "no")))
			full.Add(record(probe.Padded, "", n, trial, pick(3, "yes", "no")))
			full.Add(record(probe.Reference, "", n, trial, "yes"))
			full.Add(record(probe.Buried, "", n, trial, pick(4, "no", "yes")))
			full.Add(record(probe.Injection, fmt.Sprintf("string-%d", n%4), n, trial, pick(3, "yes", "no")))
			full.Add(record("of their own", "", n, trial, pick(5, "?", "yes")))
		}
	}
	right := probe.NewBuilder(probe.Head{Judge: "match", JudgeHash: "abc", Trials: 1, MaxUnjudged: 0.01})
	right.Add(record(probe.Reference, "", 1, 0, "yes"))
	silent := probe.NewBuilder(probe.Head{Judge: "silent", JudgeHash: "def", Trials: 1, MaxUnjudged: 0.01})
	silent.Add(record(probe.Vague, "", 1, 0, "?"))
	silent.Add(record(probe.Injection, "string-1", 1, 0, "?"))
	return map[string]probe.Card{"full": full.Card(), "one": right.Card(), "silent": silent.Card(), "none": probe.NewBuilder(probe.Head{}).Card()}
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
