package published

import (
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/words"
)

// only removes rows that do not match the source's conditions, and notes how many remain: a
// score of some rows must not be mistaken for that of all.
func (b *builder) only(rows []row) ([]row, error) {
	if len(b.src.Only) == 0 {
		return rows, nil
	}
	left := rows
	var asked []string
	for _, condition := range b.src.Only {
		column, value, valued := strings.Cut(condition, "=")
		column, value = strings.TrimSpace(column), strings.TrimSpace(value)
		if !slices.ContainsFunc(rows, func(r row) bool { return r.has(column) || r.at(column).kind != missing }) {
			return nil, deem.WithHint(fmt.Errorf("no row has a column %q to choose rows by", column), "the columns here are: %s", listed(rows[0].keys))
		}
		left = slices.DeleteFunc(slices.Clone(left), func(r row) bool {
			v := r.at(column)
			if valued {
				return !strings.EqualFold(v.str(), value)
			}
			return v.kind == missing // An empty text is a value, and so is "None": the system answered so.
		})
		if !valued {
			condition = "a value in " + column
		}
		asked = append(asked, condition)
	}
	if len(left) == 0 {
		return nil, fmt.Errorf("none of %s has %s", words.Count(len(rows), "row"), strings.Join(asked, " and "))
	}
	b.leave("%d of %s are taken, those with %s", len(left), words.Count(len(rows), "row"), strings.Join(asked, " and "))
	return left, nil
}

// split returns the references in one text.
func (b *builder) split(s string) []string {
	if b.src.Split == "" {
		return []string{s}
	}
	var list []string
	for part := range strings.SplitSeq(s, b.src.Split) {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}
