package compare_test

import (
	"bytes"
	"strings"
	"testing"

	"deem/internal/doc"
	"deem/internal/reports/compare"
)

// FuzzBaseline compares a run with an arbitrary saved report. Either it is rejected, or the
// text has no terminal control characters, the JSON no NaN, there is a page, and
// differences are from -1 to 1 and within their intervals.
func FuzzBaseline(f *testing.F) {
	figures := `{"name":"","metric":"accuracy","items":4,"unjudged":0,"judged":{"value":0.5,"lo":0.2,"hi":0.8,"level":0.95,"n":4,"method":"wilson"},"strict":{"value":0.5,"lo":0.2,"hi":0.8,"level":0.95,"n":4,"method":"wilson"}}`
	f.Add(`{"version":"deem.report/1","head":{"run":"old","judge":"match","items":4,"trials":1,"complete":true},"metrics":[` + figures + `],"categories":[` + figures + `]}`)
	f.Add(`{"version":"deem.report/1","metrics":[{"metric":"accuracy","judged":{"value":1e308,"lo":-1e308,"n":-5},"items":-1}]}`)
	f.Add(`{"version":"deem.report/1","head":{"run":"\u001b[2J"},"metrics":[{"metric":"accuracy"}]}`)
	f.Add(`{"version":"` + compare.Version + `","metric":"accuracy","runs":[{"name":"x"}]}`)
	f.Add(`{"version":"deem.report/2"}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		saved, err := compare.ReadBaseline(strings.NewReader(text))
		if err != nil {
			return
		}
		if saved.Side.Judged != nil && saved.Side.Judged.N > 100_000 {
			return // a large input is slow, as expected
		}
		b := build(t, compare.Options{Anyway: true}, []compare.Run{runOf("new")}, pattern("yyny"))
		saved.Metric = b.Comparison().Metric
		c, err := b.Against(saved)
		if err != nil {
			t.Fatal(err)
		}
		var page, data bytes.Buffer
		if err := c.JSON(&data); err != nil {
			t.Fatalf("%s as JSON: %v", text, err)
		}
		if err := doc.Text(&page, c.Document(), doc.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(page.String(), "\x00\x07\x1b\r\u009b") {
			t.Errorf("the text holds what a terminal obeys: %q", page.String())
		}
		for _, p := range c.Pairs {
			if e := p.Overall.Estimate; e != nil && !(e.Lo <= e.Value && e.Value <= e.Hi && e.Lo >= -1 && e.Hi <= 1) {
				t.Errorf("%s gives the difference %+v", text, e)
			}
		}
	})
}
