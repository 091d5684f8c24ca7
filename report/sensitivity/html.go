package sensitivity

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"sync"

	"deem/internal/words"
	"deem/report/internal/page"
)

//go:embed page.html
var pageText string

// pageTemplate is parsed when the first page is shown.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"comma": words.Comma[int],
		"share": page.Share,
		"fate":  func(o Order) string { return o.head() },
		"lead":  Lead.text,
	}).Parse(page.PlotTemplate + pageText))
})

// HTML writes the report as one page that needs nothing else: a picture of the score of
// every system under every judge, and what becomes of the order of the systems.
func (r Report) HTML(w io.Writer) error {
	rows := r.scored()
	lo, hi := 1.0, 0.0
	for _, row := range rows {
		from, to := row.Est.Drawn()
		lo, hi = min(lo, from), max(hi, to)
	}
	lo, hi = math.Floor(10*lo)/10, math.Max(math.Ceil(10*hi)/10, 0.1)
	step := 0.1
	if hi-lo > 0.6 {
		step = 0.2
	}
	names := make([]string, len(r.Judges))
	for j := range names {
		names[j] = r.name(j)
	}
	v := struct {
		Report
		Plot     page.Plot
		Names    []string
		Survival string
	}{Report: r, Names: names, Survival: r.Survives()}
	if len(rows) > 0 {
		v.Plot = page.NewPlot(rows, lo, hi, step, func(x float64) string { return fmt.Sprintf("%.0f%%", 100*x) })
	}
	return pageTemplate().Execute(w, v)
}
