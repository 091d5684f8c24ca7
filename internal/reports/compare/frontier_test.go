package compare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/doc"
	"deem/internal/reports/compare"
)

// taking returns records whose responses cost these numbers of tokens.
func taking(pattern []deem.Record, tokens ...int) []deem.Record {
	for i := range pattern {
		if t := tokens[i%len(tokens)]; t >= 0 {
			pattern[i].Item.Fields = map[string]string{"tokens_in": strconv.Itoa(t)}
		}
	}
	return pattern
}

// on returns the names of the runs on a frontier, cheapest first.
func on(c compare.Comparison, f compare.Frontier) []string {
	var list []string
	for _, p := range f.Points {
		if p.OnFrontier {
			list = append(list, c.Runs[p.Run].Name)
		}
	}
	return list
}

// TestFrontier checks, for two to six runs, that the frontier has the runs that no other
// run beats, that ties are both on it, and that a run without costs is not.
func TestFrontier(t *testing.T) {
	runs := []struct {
		name    string
		verdict string
		tokens  int
		on      [5]bool // with two runs, three, ... six
	}{
		{"cheap", "ynnn", 10, [5]bool{true, true, true, true, true}},
		{"good", "yyyn", 40, [5]bool{true, true, true, true, true}},
		{"dear", "yyyn", 50, [5]bool{1: false}},
		{"tie", "ynnn", 10, [5]bool{2: true, 3: true, 4: true}},
		{"silent", "yyyy", -1, [5]bool{}},
		{"best", "yyyy", 60, [5]bool{4: true}},
	}
	for k := 2; k <= len(runs); k++ {
		var heads []compare.Run
		var records [][]deem.Record
		var want []string
		for _, r := range runs[:k] {
			heads, records = append(heads, runOf(r.name)), append(records, taking(pattern(r.verdict), r.tokens))
			if r.on[k-2] {
				want = append(want, r.name)
			}
		}
		b, err := gather(compare.Options{}, heads, records...)
		if err != nil {
			t.Fatal(err)
		}
		c := b.Comparison()
		if len(c.Frontiers) != 1 || c.Frontiers[0].Field != "tokens_in" {
			t.Fatalf("%d runs: frontiers %+v", k, c.Frontiers)
		}
		got := on(c, c.Frontiers[0])
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d runs (-want +got):\n%s", k, diff)
		}
	}
}

// TestFrontierShown checks that text, Markdown, HTML and JSON have the same numbers, that a
// mean over some of the items says so, and that nothing is shown without the fields.
func TestFrontierShown(t *testing.T) {
	heads := []compare.Run{runOf("small"), runOf("la<rge")}
	b, err := gather(compare.Options{}, heads, taking(pattern("ynyn"), 100, 300), taking(pattern("yyyn"), 900, -1))
	if err != nil {
		t.Fatal(err)
	}
	c := b.Comparison()
	var text, page, markdown, data bytes.Buffer
	for _, err := range []error{
		doc.Text(&text, c.Document(), doc.TextOptions{Detail: true}), c.HTML(&page, nil, nil),
		doc.Markdown(&markdown, c.Document()), c.JSON(&data),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"small   50.0%      * 200", "la<rge  75.0%  * 900 (1)", "2 of 4 items do not"} {
		if !strings.Contains(strings.ReplaceAll(text.String(), "  (1)", " (1)"), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	if s := page.String(); !strings.Contains(s, `<path class="whole" d="M122.8 127H391.6V80.5H430"`) || !strings.Contains(s, "<title>small: 50.0% [") || !strings.Contains(s, "la&lt;rge</text>") || strings.Contains(s, "la<rge") {
		t.Errorf("the page does not draw the frontier: %s", s)
	}
	if !strings.Contains(markdown.String(), "| small | 50.0% | \\* 200 |") {
		t.Errorf("Markdown: %s", markdown.String())
	}
	var again compare.Comparison
	if err := json.Unmarshal(data.Bytes(), &again); err != nil || fmt.Sprint(again.Frontiers) != fmt.Sprint(c.Frontiers) || again.Runs[1].System[0].Missing != 2 {
		t.Errorf("JSON: %+v, error %v", again.Frontiers, err)
	}
	if b, err = gather(compare.Options{}, heads, pattern("yn"), taking(pattern("yy"), 5)); err != nil || len(b.Comparison().Frontiers) != 0 {
		t.Errorf("one run alone has a frontier, error %v", err)
	}
}
