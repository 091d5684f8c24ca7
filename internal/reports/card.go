package reports

import (
	"io"
	"slices"

	"deem/internal/doc"
	"deem/report"
)

// CardMarkdown writes the card of a report for a README: the score and how it was produced.
func CardMarkdown(w io.Writer, r report.Report) error {
	d := r.Document()
	d.Sections = slices.DeleteFunc(d.Sections, func(s doc.Section) bool { return s.ID != "score" && s.ID != "made" })
	return doc.Markdown(w, d)
}
