package dataset

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"deem"
	"deem/internal/words"
)

// A table reads CSV and TSV. encoding/csv is not used because it converts CRLF in a quoted
// cell to LF, so that a response would differ between CSV and JSON.
type table struct {
	f     *feed
	name  string
	comma byte

	// unquoted means that quotes are ordinary characters, so a cell cannot contain a
	// separator or a line end.
	unquoted bool

	record []byte // the concatenated texts of the cells of one record
	ends   []int  // the end of each cell in record
	line   int    // the line where the record begins

	body []byte // the rest of the current line
	eol  []byte // its line end, which belongs to a quoted cell that continues
	at   int    // its number
}

// next reads one record and skips empty lines. A problem concerns only this record.
func (t *table) next() error {
	if cap(t.record) > keptBuffer {
		t.record = nil
	}
	t.record, t.ends, t.body = t.record[:0], t.ends[:0], nil
	for len(t.body) == 0 {
		if err := t.nextLine(); err != nil {
			return err
		}
	}
	if t.line == 0 && t.comma == ',' && bytes.IndexByte(t.body, ',') < 0 && bytes.IndexByte(t.body, ';') >= 0 {
		t.comma = ';' // The header is from a spreadsheet with a decimal comma.
	}
	t.line = t.at
	for {
		if !t.unquoted && len(t.body) > 0 && t.body[0] == '"' {
			t.body = t.body[1:]
			if err := t.quoted(); err != nil {
				return err
			}
		} else {
			end := bytes.IndexByte(t.body, t.comma)
			if end < 0 {
				end = len(t.body)
			}
			t.record = append(t.record, t.body[:end]...)
			t.body = t.body[end:]
		}
		t.ends = append(t.ends, len(t.record))
		if len(t.body) == 0 {
			return nil
		}
		t.body = t.body[1:] // the comma
	}
}

// nextLine reads a line and separates its line end.
func (t *table) nextLine() error {
	line, at, err := t.f.readLine()
	if err != nil {
		return err
	}
	body := bytes.TrimSuffix(line, []byte{'\n'})
	if len(body) < len(line) {
		body = bytes.TrimSuffix(body, []byte{'\r'})
	}
	t.body, t.eol, t.at = body, line[len(body):], at
	return nil
}

// quoted reads a cell after its opening quote. The rest of the line is then empty, or
// begins with a comma.
func (t *table) quoted() error {
	opened := t.at
	for {
		i := bytes.IndexByte(t.body, '"')
		switch {
		case i < 0:
			t.record = append(append(t.record, t.body...), t.eol...)
			if len(t.record) > maxRow {
				return errRowTooLong
			}
			if err := t.nextLine(); err == io.EOF {
				return t.problem(opened, "a quoted cell that begins here is not closed")
			} else if err != nil {
				return err
			}
		case i+1 < len(t.body) && t.body[i+1] == '"':
			t.record = append(t.record, t.body[:i+1]...)
			t.body = t.body[i+2:]
		default:
			t.record = append(t.record, t.body[:i]...)
			t.body = t.body[i+1:]
			if len(t.body) > 0 && t.body[0] != t.comma {
				return t.problem(t.at, "a closing quote is followed by %s; a quote inside a quoted cell is written twice", excerpt(t.body))
			}
			return nil
		}
	}
}

func (t *table) problem(line int, format string, args ...any) error {
	return deem.Problem{File: t.name, Line: line, Message: fmt.Sprintf(format, args...)}
}

// header reads the names of the columns. A column without a name, such as the index that
// pandas writes, cannot be selected; it is noted and skipped.
func (t *table) header() (names []string, note string, err error) {
	if err := t.next(); err != nil {
		return nil, "", err
	}
	if !utf8.Valid(t.record) {
		return nil, "", invalidUTF8(t.name, t.record, t.line)
	}
	if len(t.ends) > maxKeys {
		return nil, "", t.problem(t.line, "the header has more than %d columns", maxKeys)
	}
	begin, seen := 0, map[string]bool{"": false}
	for i, end := range t.ends {
		name := strings.TrimSpace(string(t.record[begin:end]))
		begin = end
		if seen[name] {
			return nil, "", deem.WithHint(t.problem(t.line, "the header has column %q twice", name), "give each column a name of its own")
		}
		if name == "" && note == "" {
			note = fmt.Sprintf("column %d of %s has no name and is not read", i+1, t.name)
		}
		names = append(names, name)
		seen[name] = name != ""
	}
	if strings.Join(names, "") == "" {
		return nil, "", t.problem(t.line, "the header names no column")
	}
	return names, note, nil
}

// tableRows yields the records after the header.
func tableRows(f *feed, name string, comma byte, unquoted bool, yield yield) (note string, err error) {
	t := &table{f: f, name: name, comma: comma, unquoted: unquoted}
	names, note, err := t.header()
	switch {
	case err == io.EOF:
		return "", nil
	case isProblem(err):
		yield(nil, err)
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read %s:%d: %w", name, f.line, err)
	}
	row := Row{File: name, names: names, values: make([]Value, len(names))}
	for {
		err := t.next()
		if err == io.EOF {
			return note, nil
		}
		if err == nil {
			err = t.fill(&row)
		}
		if err != nil && !isProblem(err) {
			return note, fmt.Errorf("read %s:%d: %w", name, f.line, err)
		}
		if err != nil && !yield(nil, err) || err == nil && !yield(&row, nil) {
			return note, nil
		}
	}
}

// fill copies the cells of the record to row.
func (t *table) fill(row *Row) error {
	if len(t.ends) != len(row.names) {
		return deem.WithHint(
			t.problem(t.line, "%s, but the header has %d", words.Count(len(t.ends), "cell"), len(row.names)),
			"a cell with a separator or a line end in it must stand in double quotes")
	}
	if !utf8.Valid(t.record) {
		// The position in the line is lost with the quotes.
		pos, begin := invalidByte(t.record), 0
		for i, end := range t.ends {
			if pos < end {
				return deem.WithHint(
					t.problem(t.line, "byte %d of column %q, 0x%02x, is not UTF-8", pos-begin+1, row.names[i], t.record[pos]),
					"%s", encodingAdvice)
			}
			begin = end
		}
		return nil
	}
	row.Line = t.line
	begin := 0
	for i, end := range t.ends {
		row.values[i] = Value{cell, t.record[begin:end]}
		begin = end
	}
	return nil
}
