package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"deem"
	"deem/report"
)

// FuzzReport makes a report of records with arbitrary names and scores. The text must not
// move the cursor of a terminal, the JSON must be readable, and the HTML must close its
// tags and run nothing. Unjudged items must be counted and never scored.
func FuzzReport(f *testing.F) {
	f.Add("cat", "id", "yes", 1.0, uint8(3))
	f.Add("</td><script>", "\x1b[2J", "no\u202e", math.NaN(), uint8(0))
	f.Add("\xff\r\n", "'\"><img src=x onerror=alert(1)>", "", math.Inf(1), uint8(255))
	f.Add("", "\u2028", "\x9b1m", -1e300, uint8(7))
	f.Fuzz(func(t *testing.T, category, name, label string, score float64, fails uint8) {
		h := head()
		h.Run, h.Judge, h.Model, h.Dataset, h.JudgeNote, h.Items, h.MaxUnjudged = name, label, name, category, label, 8, new(1.0)
		b := report.New(h)
		unjudged := 0
		for i := range 8 {
			rec := yes(i, i%3 == 0)
			rec.Item.Category, rec.Item.ID, rec.Judge, rec.Item.Cluster = category, name+string(rune('a'+i)), label, label
			if rec.Verdict.Label = label; i == 0 {
				rec.Verdict.Score, rec.Item.Weight, rec.Verdict.Aspects = score, score, map[string]float64{name: score}
			}
			if fails>>i&1 == 1 {
				rec.Verdict, rec.Failure = nil, &deem.Failure{Kind: deem.Kind(label), Detail: name}
				unjudged++
			}
			b.Add(rec)
		}
		r := b.Report()
		if m := r.Metrics[0]; m.Unjudged != unjudged && !oddScore(score) || m.Judged != nil && m.Judged.N > 8-unjudged {
			t.Errorf("%d of 8 items unjudged, and the report has %+v", unjudged, m)
		}
		checkWritten(t, r)
		checkPage(t, r)
	})
}

// oddScore reports whether a score is invalid, which makes an item unjudged.
func oddScore(x float64) bool { return !(x >= 0 && x <= 1) }

// checkWritten checks the text and the JSON of a report.
func checkWritten(t *testing.T, r report.Report) {
	t.Helper()
	var text, data bytes.Buffer
	if err := errors.Join(r.Text(&text), r.JSON(&data)); err != nil {
		t.Fatal(err)
	}
	if bad := strings.IndexFunc(text.String(), func(c rune) bool {
		return c < ' ' && c != '\n' || c >= 0x7f && c <= 0x9f || c == '\u202e' || c == '\u2028'
	}); bad >= 0 || !utf8.Valid(text.Bytes()) {
		t.Errorf("the text of the report holds what a terminal obeys: %q", text.String())
	}
	var again report.Report
	if err := json.Unmarshal(data.Bytes(), &again); err != nil {
		t.Errorf("the JSON of the report: %v", err)
	}
}

// checkPage parses the whole page. It must close all tags, except void elements.
func checkPage(t *testing.T, r report.Report) {
	t.Helper()
	page := html(t, r)
	dec := xml.NewDecoder(bytes.NewReader(page))
	dec.Strict, dec.AutoClose, dec.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("the page is not well formed: %v\n%s", err, page)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if name := start.Name.Local; name == "script" || name == "img" || name == "iframe" {
			t.Errorf("the page holds a %s", name)
		}
		for _, a := range start.Attr {
			if strings.HasPrefix(a.Name.Local, "on") {
				t.Errorf("the page does something %s", a.Name.Local)
			}
		}
	}
}
