package claims

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"deem"
)

// Options configures how a table is read.
type Options struct {
	Benchmark string // whose sizes are used; "" uses the file's benchmark

	// Known returns the sizes of a known benchmark.
	Known func(benchmark string) (Benchmark, error)
}

// A field is one field of a table with its position.
type field struct {
	text string
	line int
}

// A grid is an uninterpreted table. Its first column and its first row contain names.
type grid struct {
	file      string
	rows      [][]field
	benchmark field // as named in the file
	total     field // the size of the whole, if the file gives it
	turned    bool  // the rows were columns in the file
	notes     []string
}

func (g *grid) problem(line int, format string, args ...any) error {
	ps := &deem.Problems{}
	ps.Add(deem.Problem{File: g.file, Line: line, Message: fmt.Sprintf(format, args...)})
	return ps
}

// Read reads a table. The format is detected from the file name, or else from the first
// bytes. Errors in the table are a [deem.Problems].
func Read(name string, data []byte, o Options) (*Table, error) {
	g := &grid{file: name}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var err error
	switch format(name, data) {
	case "markdown":
		err = g.markdown(string(data))
	case "csv":
		err = g.csv(data)
	case "json":
		err = g.json(data)
	default:
		err = g.yaml(data)
	}
	if err != nil {
		return nil, err
	}
	if len(g.rows) < 2 || len(g.rows[0]) < 2 {
		line := 1
		if len(g.rows) > 0 && len(g.rows[0]) > 0 {
			line = g.rows[0][0].line
		}
		return nil, g.problem(line, "a table needs a header, a column of names and at least one number")
	}
	if len(g.rows) > maxRows || len(g.rows[0]) > maxColumns && len(g.rows) > maxColumns {
		return nil, g.problem(g.rows[0][0].line, "the table has %d rows and %d columns, more than is read", len(g.rows), len(g.rows[0]))
	}
	for i, row := range g.rows {
		if len(row) > len(g.rows[0]) {
			return nil, g.problem(row[0].line, "the row has %d fields and the header %d", len(row), len(g.rows[0]))
		}
		for len(g.rows[i]) < len(g.rows[0]) {
			g.rows[i] = append(g.rows[i], field{"", row[0].line})
		}
	}
	t := &Table{File: g.file, Benchmark: cmp.Or(o.Benchmark, strings.TrimSpace(g.benchmark.text)), Notes: g.notes}
	var known Benchmark
	if t.Benchmark != "" {
		var err error
		if known, err = o.Known(t.Benchmark); err != nil {
			if o.Benchmark == "" {
				err = deem.WithHint(g.problem(g.benchmark.line, "%v", err), "%s", deem.HintOf(err))
			}
			return nil, err
		}
	}
	if g.categoriesInRows(t.Benchmark, known.Categories) {
		g.rows, g.turned = transposed(g.rows), true
	}
	if err := t.columns(g, known); err != nil {
		return nil, err
	}
	return t, t.cells(g)
}

// format detects the format of a file.
func format(name string, data []byte) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md", ".markdown":
		return "markdown"
	case ".csv", ".tsv":
		return "csv"
	case ".json":
		return "json"
	case ".yaml", ".yml":
		return "yaml"
	}
	text := bytes.TrimSpace(data)
	first, _, _ := bytes.Cut(text, []byte("\n"))
	switch {
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		return "json"
	case bytes.HasPrefix(first, []byte("|")) || delimiterLine.Match(text):
		return "markdown"
	case bytes.ContainsAny(first, ",;\t") && !bytes.Contains(first, []byte(": ")):
		return "csv"
	}
	return "yaml"
}

// delimiterLine matches the line below the header of a Markdown table.
var delimiterLine = regexp.MustCompile(`(?m)^[ \t]*\|?([ \t]*:?-+:?[ \t]*\|)+([ \t]*:?-+:?[ \t]*)?\r?$`)

// markdown reads the first table of a Markdown document.
func (g *grid) markdown(text string) error {
	lines := strings.Split(text, "\n")
	start := -1
	for i := 1; i < len(lines); i++ {
		if !delimiterLine.MatchString(lines[i]) || !strings.Contains(lines[i-1], "|") {
			continue
		}
		if start >= 0 {
			g.notes = append(g.notes, fmt.Sprintf("the table in line %d is left out: only the first table is read", i))
			continue
		}
		start = i
	}
	if start < 0 {
		return g.problem(len(lines), "no Markdown table in the file: a table has a header and a line |---|---| below it")
	}
	g.rows = append(g.rows, pipes(lines[start-1], start))
	for i := start + 1; i < len(lines) && strings.Contains(lines[i], "|"); i++ {
		g.rows = append(g.rows, pipes(lines[i], i+1))
	}
	return nil
}

// pipes splits a line of a Markdown table.
func pipes(text string, line int) []field {
	text = strings.TrimSpace(text)
	text = strings.TrimPrefix(text, "|")
	if strings.HasSuffix(text, "|") && !strings.HasSuffix(text, `\|`) {
		text = text[:len(text)-1]
	}
	var list []field
	for piece := range strings.SplitSeq(strings.ReplaceAll(text, `\|`, "\x00"), "|") {
		list = append(list, field{strings.TrimSpace(strings.ReplaceAll(piece, "\x00", "|")), line})
	}
	return list
}

// csv reads a table whose fields are separated by commas, semicolons or tabs, whichever is
// most frequent in the first line.
func (g *grid) csv(data []byte) error {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, true
	first, _, _ := bytes.Cut(data, []byte("\n"))
	for _, comma := range ";\t" {
		if bytes.Count(first, []byte(string(comma))) > bytes.Count(first, []byte(string(r.Comma))) {
			r.Comma = comma
		}
	}
	for {
		record, err := r.Read()
		if record == nil && err == nil || err != nil {
			if e, ok := errors.AsType[*csv.ParseError](err); ok {
				return g.problem(e.Line, "%v", e.Err)
			}
			return nil // the end
		}
		var row []field
		for i, text := range record {
			line, _ := r.FieldPos(i)
			row = append(row, field{strings.TrimSpace(text), line})
		}
		g.rows = append(g.rows, row)
	}
}

// fold normalizes names that differ in case, spaces and punctuation.
func fold(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if strings.ContainsRune(" \t-_.:*`()[]/%↑↓", r) {
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

var (
	// unit matches the unit behind a name: "Accuracy (%)", "Accuracy %", "Accuracy (%) ↑".
	unit = regexp.MustCompile(`(?i)\s*(?:[(\[]\s*(?:in\s+)?(?:%|percent|pct)\s*[)\]]|[%↑↓])\s*$`)

	// sizedName matches a name with its size: "multi-hop (n=282)", "multi-hop (282 questions)",
	// "multi-hop (%, n=282)".
	sizedName = regexp.MustCompile(`(?i)^(.*?)[\s,;:]*(?:[(\[]\s*(?:%\s*[,;]?\s*)?)?(?:n\s*=\s*([\d,]+)|([\d,]+)\s*(?:questions|items))\s*[)\]]?$`)
)

// splitName splits the size and the unit off a name. The size is 0 if there is none.
func splitName(name string) (string, int64, error) {
	name = strings.TrimSpace(strings.Trim(strings.TrimSpace(name), "*_`"))
	for unit.MatchString(name) && unit.ReplaceAllString(name, "") != "" {
		name = unit.ReplaceAllString(name, "")
	}
	m := sizedName.FindStringSubmatch(name)
	if m == nil {
		return name, 0, nil
	}
	n, err := parseSize(m[2] + m[3])
	name = strings.TrimSpace(strings.Trim(m[1], "*_`"))
	return strings.TrimSpace(unit.ReplaceAllString(name, "")), n, err
}

func parseSize(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.ReplaceAll(strings.Trim(text, "*_` "), ",", ""), 10, 64)
	if err != nil || n < 1 || n > maxSize {
		return 0, fmt.Errorf("%q is not a number of questions from 1 to %d", text, maxSize)
	}
	return n, nil
}
