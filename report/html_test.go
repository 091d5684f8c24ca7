package report_test

import (
	"bytes"
	"strings"
	"testing"

	"deem"
	"deem/internal/doc"
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

// Names come from data, so the page must show them as text.
func TestHTMLEscapes(t *testing.T) {
	const evil = `</text></svg><script>alert("x")</script><img src=x onerror=alert(1)>'"&\u202e`
	h := head()
	h.Run, h.Judge, h.JudgeNote, h.Reading, h.Model = evil, evil, evil, evil, evil
	h.Dataset, h.UpstreamName, h.MaxUnjudged, h.Trials = evil, evil, new(1.0), 2
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

// The page must work from disk without a network.
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

// The page withholds what the text withholds.
func TestHTMLWithholds(t *testing.T) {
	got := string(html(t, sceneWithheld().Report()))
	if !strings.Contains(got, "The score is withheld: 10 of 40 items") {
		t.Error("the page does not say that the headline is withheld")
	}
	if strings.Contains(got, "66.7%") {
		t.Error("the page gives the number away that is withheld")
	}
}

// Every mark links to a note.
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

// withItems returns the report of some records as HTML with items below it.
func withItems(t testing.TB, r report.Report, items doc.Section) string {
	t.Helper()
	d := r.Document()
	d.Add(items)
	var b bytes.Buffer
	if err := doc.HTML(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The page lists items and says exactly how many it omits.
func TestHTMLItems(t *testing.T) {
	b := report.New(head())
	var recs []deem.Record
	for i := range 40 {
		rec := yes(i, i%4 != 0)
		rec.Item.Question, rec.Item.References, rec.Item.Response = "Where?", []string{"Porto", "Oporto", "O Porto", "Invicta"}, strings.Repeat("é", 700)
		rec.Verdict.Reason = "it says so"
		if i == 3 {
			rec.Verdict, rec.Failure = nil, deem.Failf(deem.Refused, "would not say")
		}
		recs = append(recs, rec)
		b.Add(rec)
	}
	r := b.Report()
	for _, tt := range []struct {
		items doc.Section
		want  string
		rows  int
	}{
		{doc.Listed(recs[:10], 40, false), "The first 10 of 40 items; 30 are left out.", 10},
		{doc.Listed(recs[:39], 40, false), "The first 39 of 40 items; 1 is left out.", 39},
		{doc.Listed(recs, 40, false), "All 40 items.", 40},
		{doc.Listed(nil, 40, false), "None of 40 items is listed.", 0},
		{doc.Listed(nil, 0, false), "There are no items.", 0},
		{doc.Listed(recs[:10], 40, true), "The texts of the items were removed", 0},
	} {
		got := withItems(t, r, tt.items)
		if !strings.Contains(got, tt.want) {
			t.Errorf("the page does not say %q", tt.want)
		}
		if n := strings.Count(got, `<article class="flip">`); n != tt.rows {
			t.Errorf("%s: the page lists %d items, want %d", tt.want, n, tt.rows)
		}
	}
	got := withItems(t, r, doc.Listed(recs, 40, false))
	for _, want := range []string{"unjudged: refused", "would not say", "it says so", "and 1 more", strings.Repeat("é", 600) + "...", `class="tag good"`, `class="tag bad"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
	if strings.Contains(got, strings.Repeat("é", 601)) {
		t.Error("a long text is not shortened")
	}
	if strings.Contains(string(html(t, r)), `id="items"`) {
		t.Error("a page lists items that nobody asked for")
	}
}

// Items are shown as text, whatever they contain.
func TestHTMLItemsEscape(t *testing.T) {
	const evil = "</p></article><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\x1b[2J\xff"
	rec := yes(1, true)
	rec.Item.ID, rec.Item.Category, rec.Item.Question, rec.Item.References, rec.Item.Response = evil, evil, evil, []string{evil}, evil+strings.Repeat("\xff", 5000)
	rec.Verdict.Label, rec.Verdict.Reason = evil, evil
	b := report.New(head())
	b.Add(rec)
	got := withItems(t, b.Report(), doc.Listed([]deem.Record{rec}, 1, false))
	for _, bad := range []string{"<script", "<img", "\u202e", "\x1b", "\xff", "http:"} {
		if strings.Contains(got, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if n := strings.Count(got, "&lt;script&gt;"); n < 6 {
		t.Errorf("the page shows the text %d times, want 6 at least", n)
	}
}
