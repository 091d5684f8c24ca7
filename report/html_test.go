package report_test

import (
	"bytes"
	"strings"
	"testing"

	"deem"
	"deem/report"
)

// html returns the report as HTML.
func html(t testing.TB, r report.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Names come from data, and a page that shows them must show them as text.
func TestHTMLEscapes(t *testing.T) {
	const evil = `</text></svg><script>alert("x")</script><img src=x onerror=alert(1)>'"&\u202e`
	h := head()
	h.Run, h.Judge, h.JudgeNote, h.Reading, h.Model = evil, evil, evil, evil, evil
	h.Dataset, h.UpstreamName, h.MaxUnjudged, h.Trials = evil, evil, 1, 2
	b := report.New(h)
	for i := range 8 {
		for trial := range 2 {
			rec := yes(i, i%2 == trial)
			rec.Trial, rec.Judge = trial, evil
			rec.Item.ID, rec.Item.Category, rec.Item.Cluster = evil, evil+string(rune('a'+i%2)), evil
			rec.Verdict.Label, rec.Verdict.Aspects = evil, map[string]float64{evil: 1}
			rec.Calls[0].Model, rec.Calls[0].Reply.Model = evil, evil
			if i == 7 {
				rec.Verdict, rec.Failure = nil, &deem.Failure{Kind: evil}
			}
			b.Add(rec)
			b.AddReread(evil, rec, nil, deem.Failf(deem.Empty, ""))
		}
	}
	r := b.Report()
	r.PublishedText = evil + "\x1b[2J\n\tindented"
	got := string(html(t, r))
	for _, bad := range []string{"<script", "<img", "\u202e", "\x1b", "onerror=alert(1)>"} {
		if strings.Contains(got, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(got, "\n\tindented</pre>") {
		t.Error("the published text has lost its lines or tabs")
	}
	if n := strings.Count(got, "&lt;script&gt;"); n < 10 {
		t.Errorf("the page shows the name %d times, want it shown and not dropped", n)
	}
}

// The page must work from a disk without a network.
func TestHTMLStandsAlone(t *testing.T) {
	for _, sc := range scenes {
		got := string(html(t, sc.build().Report()))
		for _, bad := range []string{"http://", "https://", "src=", "@import", "url(", "<script", "ZgotmplZ", "NaN", "Inf"} {
			if strings.Contains(got, bad) {
				t.Errorf("%s: the page holds %q", sc.name, bad)
			}
		}
	}
}

// What the text withholds, the page withholds too.
func TestHTMLWithholds(t *testing.T) {
	got := string(html(t, sceneWithheld().Report()))
	if !strings.Contains(got, "The headline is withheld: 10 of 40 items") {
		t.Error("the page does not say that the headline is withheld")
	}
	if strings.Contains(got, "66.7%") {
		t.Error("the page gives the number away that is withheld")
	}
}

// Every mark leads to a note.
func TestHTMLMarks(t *testing.T) {
	for _, sc := range scenes {
		got := string(html(t, sc.build().Report()))
		for _, part := range strings.Split(got, `href="#`)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			if !strings.Contains(got, `id="`+id+`"`) {
				t.Errorf("%s: a mark leads to %q, which is not there", sc.name, id)
			}
		}
	}
}
