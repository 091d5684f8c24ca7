package api

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"deem/bundle"
	"deem/internal/doc"
	"deem/internal/export"
	"deem/internal/reports"
	"deem/internal/server"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/report"
)

// A form is an export format of a run.
type form struct {
	name, media, ending string
	write               func(s *Server, ctx context.Context, w io.Writer, run store.Run) error
}

// forms returns the export formats of "deem export" except a benchmark's own file format,
// which needs the files that the benchmark read. A server may not have them.
func forms() []form {
	list := []form{
		{"deem", "application/vnd.deem.run", "deem", func(s *Server, ctx context.Context, w io.Writer, run store.Run) error {
			_, err := reports.WriteBundle(ctx, w, s.Store, run, bundle.Source{Software: strings.TrimSpace("deem " + s.Version)})
			return err
		}},
		{"junit", "application/xml", "xml", recordsAs(reports.JUnit)},
		{"html", "text/html; charset=utf-8", "html", (*Server).writePage},
		{"markdown", "text/markdown; charset=utf-8", "md", reportAs(func(r report.Report, w io.Writer) error { return doc.Markdown(w, r.Document()) })},
		{"card", "text/markdown; charset=utf-8", "md", reportAs(func(r report.Report, w io.Writer) error { return reports.CardMarkdown(w, r) })},
	}
	for _, f := range export.Formats() {
		list = append(list, form{f.Name, f.Media, f.Ending, recordsAs(f.Name)})
	}
	return list
}

// recordsAs returns a function that writes the records of a run. Cells of CSV are safe for
// spreadsheets, in which many clients open them; other formats have the exact texts.
func recordsAs(format string) func(*Server, context.Context, io.Writer, store.Run) error {
	return func(s *Server, ctx context.Context, w io.Writer, run store.Run) error {
		return reports.WriteRecords(ctx, w, s.Store, run, format, reports.ExportOptions{Spreadsheet: true})
	}
}

// reportAs returns a function that writes the report of a run.
func reportAs(write func(report.Report, io.Writer) error) func(*Server, context.Context, io.Writer, store.Run) error {
	return func(s *Server, ctx context.Context, w io.Writer, run store.Run) error {
		got, err := s.options.Report(ctx, run)
		if err != nil {
			return err
		}
		return write(got, w)
	}
}

// pageItems is the number of items on a standalone page, the same as in the command.
const pageItems = 200

// writePage writes the report, followed by the first items.
func (s *Server) writePage(ctx context.Context, w io.Writer, run store.Run) error {
	first, err := reports.First(ctx, s.Store, run, pageItems)
	if err != nil {
		return err
	}
	return reportAs(func(r report.Report, w io.Writer) error {
		d := r.Document()
		d.Add(doc.Listed(first, r.Items, false))
		return doc.HTML(w, d)
	})(s, ctx, w, run)
}

func formNames() []string {
	var names []string
	for _, f := range forms() {
		names = append(names, f.name)
	}
	return names
}

// getExport sends a run as a file.
func (s *Server) getExport(w http.ResponseWriter, r *http.Request, run store.Run) error {
	name := r.URL.Query().Get("format")
	for _, f := range forms() {
		if f.name != name {
			continue
		}
		out := &firstByte{w: w, rc: http.NewResponseController(w), head: func() { server.Download(w, f.media, server.FileName(run.ID)+"."+f.ending) }}
		err := f.write(s, r.Context(), out, run)
		if err != nil && out.begun {
			return s.Cut(r, err)
		}
		return err
	}
	if name == "" {
		return server.BadRequest("format is missing: it is one of %s", strings.Join(formNames(), ", "))
	}
	return usage.Mark(usage.Unknown("format", name, formNames()))
}

// A firstByte is a writer that sets the headers of a file before its first byte. Until
// then, an error can still be sent as an error response.
type firstByte struct {
	w     io.Writer
	rc    *http.ResponseController
	head  func()
	begun bool
	at    time.Time // when the deadline was last extended
}

// Write writes p. It extends the deadline, so that slow clients have time.
func (f *firstByte) Write(p []byte) (int, error) {
	if !f.begun {
		f.begun = true
		f.head()
	}
	if time.Since(f.at) > time.Second {
		server.Extend(f.rc, 0)
		f.at = time.Now()
	}
	return f.w.Write(p)
}
