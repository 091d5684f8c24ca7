package dataset

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"deem"
	"deem/internal/rows"
)

// findNested finds the rows inside the only object of a file, which is read into memory: in
// a list for each conversation, or as members that their keys name. whole reports whether an
// object with the given keys is a row.
func findNested(r io.Reader, name string, whole func(keys []string) bool) (rows.Found, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxNested+1))
	if err != nil {
		return rows.Found{}, err
	}
	if len(data) > maxNested {
		return rows.Found{}, fmt.Errorf("its rows are not in one list, and it is larger than %d MB", maxNested>>20)
	}
	n, err := rows.Parse(data)
	if err != nil {
		return rows.Found{}, nil //nolint:nilerr // It is reported when it is read as a row.
	}
	f := rows.Finder{
		Grade: func(o rows.Node, _ bool) rows.Grade {
			if whole(o.Keys) {
				return rows.Strong
			}
			return rows.None
		},
		Same:     func(o rows.Node) string { return string(o.AppendJSON(nil)) },
		Question: func(o rows.Node) string { return o.Named(rows.Question).Str() },
	}
	found := f.Find([]rows.Value{{Node: n, File: name, Line: 1}})
	if len(found.Rivals) > 0 {
		return found, deem.WithHint(fmt.Errorf("several lists answer the same questions: %s", Listed(found.Rivals)),
			"take one of them out of it: jq '%s' %s > part.json", jqPath(found.Rivals[0]), name)
	}
	return found, nil
}

// maxNested is the maximum size of a file whose rows are not in one list. Such files are
// results of one benchmark, with some megabytes.
const maxNested = 512 << 20

// jqPath writes a path as jq does.
func jqPath(path string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(path, ".") {
		key, index, _ := strings.Cut(part, "[")
		fmt.Fprintf(&b, ".[%q]", key)
		if index != "" {
			b.WriteString("[" + index)
		}
	}
	return b.String()
}

// nestedRows yields the rows that are inside one object. The key of a row is its id, and the
// name of its list its conversation, unless it has columns for them.
func nestedRows(r io.Reader, name string, whole func(keys []string) bool, yield yield) (notes []string, err error) {
	found, err := findNested(r, name, whole)
	if err != nil {
		return nil, err
	}
	o := &objectReader{row: Row{File: name}}
	for _, row := range found.Rows {
		n := rows.Node{Kind: rows.Object}
		for _, extra := range [][2]string{{rows.ID, row.Key}, {rows.Cluster, row.Group}, {rows.Category, row.Category}} {
			if extra[1] != "" && row.Named(extra[0]).Kind == rows.Missing {
				n.Keys, n.Vals = append(n.Keys, extra[0]), append(n.Vals, rows.Text(extra[1]))
			}
		}
		n.Keys, n.Vals = slices.Concat(n.Keys, row.Keys), slices.Concat(n.Vals, row.Vals)
		if !yield(o.read(n.AppendJSON(nil), row.Line)) {
			break
		}
	}
	for _, sentence := range found.LeftOut {
		notes = append(notes, fmt.Sprintf("in %s, %s", name, sentence))
	}
	return notes, nil
}
