package card

import (
	"io"
	"slices"

	"deem/internal/doc"
	"deem/report"
)

// Markdown writes the card of a report for a README: the score and how it was produced.
func Markdown(w io.Writer, r report.Report) error {
	d := r.Document()
	d.Sections = slices.DeleteFunc(d.Sections, func(s doc.Section) bool { return s.ID != "score" && s.ID != "made" })
	return doc.Markdown(w, d)
}

// Write writes the whole report as Markdown.
func Write(w io.Writer, r report.Report) error { return doc.Markdown(w, r.Document()) }
