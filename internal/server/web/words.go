package web

import (
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"deem"
	"deem/internal/doc"
	"deem/internal/server"
	"deem/internal/store"
	"deem/internal/words"
)

// parseTemplates parses every template together with the layout and the shared parts.
func (s *Server) parseTemplates() map[string]*template.Template {
	functions := template.FuncMap{
		"asset":    s.assets.url,
		"comma":    words.Comma[int],
		"count":    words.Count,
		"dollars":  words.Dollars,
		"excerpt":  excerpt,
		"itemsURL": itemsURL,
		"percent":  doc.Percent,
		"runName":  runName,
		"runURL":   runURL,
		"short":    deem.ShortHash,
		"stamp":    stamp,
		"clock":    clock,
		"upper":    words.UpperFirst,
		"csrf":     csrfField,
		"join":     strings.Join,
		"took":     took,
		"plural":   words.Plural,
		"clip":     func(text string) string { return words.Cut(text, maxShown) },
		"score":    number,
		"orNone":   doc.OrNone,

		"datasetName": datasetName,
		"choice":      func(id, name, now string, list []store.Count) choice { return choice{id, name, now, list} },
		"exportURL":   func(run string) string { return server.APIRoot + runURL(run) + "/export?format=deem" },
		"met":         func(score *float64) bool { return score != nil && *score >= 0.5 },
		"tagURL":      func(tag string) string { return runsFilter{Tag: tag}.link("/") },
	}
	base := template.Must(template.New("layout.html").Funcs(functions).ParseFS(templateFiles, "templates/layout.html", "templates/parts.html"))
	files, _ := fs.Glob(templateFiles, "templates/*.html") //nolint:errcheck // The pattern is well formed.
	pages := map[string]*template.Template{}
	for _, name := range files {
		if key := strings.TrimSuffix(path.Base(name), ".html"); key != "layout" && key != "parts" {
			pages[key] = template.Must(template.Must(base.Clone()).ParseFS(templateFiles, name))
		}
	}
	return pages
}

// A choice is a form field that filters by one of the names in List.
type choice struct {
	ID, Name, Now string
	List          []store.Count
}

// csrfField returns the hidden field that every form of ours contains.
func csrfField(v view) template.HTML {
	return template.HTML(`<input type="hidden" name="csrf" value="` + template.HTMLEscapeString(v.CSRF) + `">`) //nolint:gosec // It is escaped here.
}

// clock formats a time for people, and stamp for programs.
func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// took formats a duration, below a minute with at most three digits.
func took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

// number formats a score with at most four digits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// datasetName returns the name of a dataset without the directories of its files: paths should
// not be shown to other people, and long paths hide the differences.
func datasetName(names []string) string {
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = filepath.Base(name)
	}
	if len(short) > 3 {
		short = append(short[:3:3], fmt.Sprintf("and %d more", len(names)-3))
	}
	return strings.Join(short, ", ")
}

// excerptLength is the maximum number of characters of a text in a list.
const excerptLength = 200

// excerpt returns the beginning of a text on one line.
func excerpt(text string) string {
	if len(text) > 4*excerptLength+4 { // Do not process the rest of a long text.
		text = text[:4*excerptLength+4]
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if utf8.RuneCountInString(text) <= excerptLength {
		return text
	}
	return string([]rune(text)[:excerptLength-1]) + "…"
}

func runURL(run string) string { return "/runs/" + url.PathEscape(run) }

// itemsURL returns the path of a run's items.
func itemsURL(run string) string { return runURL(run) + "/items" }

// itemURL returns the path of an item. Ids come from the dataset; one that is empty or that a
// browser would resolve as a relative path ("." or "..") goes into the query.
func itemURL(run, id string) string { return under(runURL(run)+"/items/", id) }

func under(path, id string) string {
	if id == "" || id == "." || id == ".." {
		return path + "?id=" + url.QueryEscape(id)
	}
	return path + url.PathEscape(id)
}
