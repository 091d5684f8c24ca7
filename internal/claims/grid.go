package claims

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"deem"
)

// categoriesInRows reports whether each row is a category and each column a system. A row
// or column of sizes decides; otherwise the side with more known names does.
func (g *grid) categoriesInRows(known []Category) bool {
	score := func(fields []field) (points int, sizes bool) {
		for _, f := range fields {
			name, size, err := splitName(f.text)
			switch {
			case sizeNames[fold(name)]:
				sizes = true
			case size > 0 || err != nil || overallNames[fold(name)] || categoryOf(known, name) >= 0:
				points++
			}
		}
		return points, sizes
	}
	var labels []field
	for _, row := range g.rows[1:] {
		labels = append(labels, row[0])
	}
	head, sizesInHead := score(g.rows[0][1:])
	side, sizesInSide := score(labels)
	if sizesInHead != sizesInSide {
		return sizesInHead
	}
	return side > head
}

// categoryOf returns the index of the category with a name, or -1.
func categoryOf(known []Category, name string) int {
	folded := fold(name)
	return slices.IndexFunc(known, func(c Category) bool {
		id := fold(c.ID)
		is := func(other string) bool { return fold(other) == folded }
		return folded == id || folded == "category"+id || folded == "cat"+id || is(c.Name) || slices.ContainsFunc(c.Names, is)
	})
}

// columns decides the meaning of each column and its number of questions: from its header,
// from a row of sizes, or from the known benchmark.
func (t *Table) columns(g *grid, known []Category) error {
	var sizes []field
	for i, row := range g.rows[1:] {
		if sizeNames[fold(row[0].text)] {
			sizes = row
			g.rows = slices.Delete(g.rows, i+1, i+2)
			break
		}
	}
	kept := []int{0}
	overallAt := -1
	for i, f := range g.rows[0][1:] {
		name, size, err := splitName(f.text)
		if err == nil && size == 0 && sizes != nil && strings.TrimSpace(sizes[i+1].text) != "" {
			f.line = sizes[i+1].line
			size, err = parseSize(sizes[i+1].text)
		}
		if err != nil {
			return g.problem(f.line, "%v", err)
		}
		col := Column{Name: name, Size: size}
		at := categoryOf(known, name)
		if at < 0 && overallNames[fold(name)] && overallAt < 0 {
			t.Overall, overallAt = &col, i+1
			continue
		}
		if at >= 0 {
			c := known[at]
			col.Category = c.ID
			if col.Size = cmp.Or(col.Size, c.Size); col.Size == c.Size {
				col.Faulty = c.Faulty
			} else {
				t.Notes = append(t.Notes, fmt.Sprintf("%q has %d questions by the table and %d by %s: the table counts", name, col.Size, c.Size, t.Benchmark))
			}
		}
		if col.Size == 0 && !slices.ContainsFunc(g.rows[1:], func(row []field) bool {
			c, err := parseCell(row[i+1].text)
			return err == nil && c.Count != nil
		}) {
			t.Notes = append(t.Notes, fmt.Sprintf("column %q has no size and is left out", name))
			continue
		}
		if slices.ContainsFunc(t.Columns, func(c Column) bool {
			return fold(c.Name) == fold(name) || c.Category != "" && c.Category == col.Category
		}) {
			return g.problem(f.line, "two columns are %q", name)
		}
		t.Columns, kept = append(t.Columns, col), append(kept, i+1)
	}
	if overallAt >= 0 {
		kept = append(kept, overallAt)
	}
	for i, row := range g.rows {
		var list []field
		for _, j := range kept {
			list = append(list, row[j])
		}
		g.rows[i] = list
	}
	return t.whole(g, known)
}

// whole decides the number of questions of the overall.
func (t *Table) whole(g *grid, known []Category) error {
	if g.total.text != "" && t.Overall != nil {
		n, err := parseSize(g.total.text)
		if err != nil {
			return g.problem(g.total.line, "%v", err)
		}
		t.Overall.Size = n
	}
	var sum, faulty int64
	for _, c := range t.Columns {
		sum, faulty = sum+c.Size, faulty+c.Faulty
		if c.Size == 0 {
			sum = -1 << 40 // never the whole
		}
	}
	if o := t.Overall; o != nil {
		if len(t.Columns) == 0 {
			for _, c := range known {
				if !c.Optional {
					sum, faulty = sum+c.Size, faulty+c.Faulty
				}
			}
		}
		o.Size = cmp.Or(o.Size, max(sum, 0))
		if o.Size == sum {
			o.Faulty = faulty
		}
		if o.Size < sum {
			t.Notes = append(t.Notes, fmt.Sprintf("the categories have %d questions and the whole has %d: they overlap, so the parts are not added up", sum, o.Size))
			t.Overlap = true
		}
		if o.Size > maxSize {
			return g.problem(g.rows[0][0].line, "the whole has %d questions, more than %d", o.Size, maxSize)
		}
	}
	if len(t.Columns) == 0 && (t.Overall == nil || t.Overall.Size == 0) {
		return deem.WithHint(g.problem(g.rows[0][0].line, "no column has a size, so there is nothing to check"),
			`give the number of questions in the header, as "multi-hop (n=282)", in a row "n", or by --benchmark`)
	}
	return nil
}

// cells reads the numbers.
func (t *Table) cells(g *grid) error {
	ps := &deem.Problems{}
	shares, marked := true, false
	for i, row := range g.rows[1:] {
		r := Row{Name: cmp.Or(strings.Trim(row[0].text, "*_` "), fmt.Sprintf("row %d", i+1))}
		for j, f := range row[1:] {
			c, err := parseCell(f.text)
			if err != nil {
				ps.Add(deem.Problem{File: g.file, Line: f.line, Message: err.Error()})
			}
			if p := c.Percent; p != nil {
				shares = shares && p.units <= pow10(p.decimals)
				marked = marked || strings.Contains(f.text, "%") || c.Count != nil
			}
			if j < len(t.Columns) {
				r.Cells = append(r.Cells, c)
			} else {
				r.Overall = c
			}
		}
		t.Rows = append(t.Rows, r)
	}
	if ps.Total > 0 {
		return ps
	}
	if shares && !marked {
		// Shares between 0 and 1 become percentages.
		found := false
		for i := range t.Rows {
			row := &t.Rows[i]
			cells := []*Cell{&row.Overall}
			for j := range row.Cells {
				cells = append(cells, &row.Cells[j])
			}
			for _, c := range cells {
				if c.Percent != nil {
					p := c.Percent.asShare()
					c.Percent, found = &p, true
				}
			}
		}
		if found {
			t.Notes = append(t.Notes, "no number is above 1, so all are read as shares: 0.947 is 94.7%")
		}
	}
	if !slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Overall.says() || slices.ContainsFunc(r.Cells, Cell.says) }) {
		return g.problem(g.rows[0][0].line, "the table has no number")
	}
	return nil
}
