package claims

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"deem"
)

// categoriesInRows reports whether each row is a category and each column a system. The side
// with more sized or known categories decides, then an overall, then sizes.
func (g *grid) categoriesInRows(benchmark string, known []Category) bool {
	type side struct {
		categories     int
		overall, sizes bool
	}
	look := func(lines [][]field) (s side) {
		for i, r := range rolesOf(lines, known) {
			name, size, err := splitName(lines[i][0].text)
			switch {
			case r == plainRole && (size > 0 || err != nil || categoryOf(known, name) >= 0):
				s.categories++
			case r == overallRole || r == rightRole || isNamedAfter(name, benchmark):
				s.overall = true
			case r == sizeRole:
				s.sizes = true
			}
		}
		return s
	}
	head, labels := look(transposed(g.rows)[1:]), look(g.rows[1:])
	switch {
	case head.categories != labels.categories:
		return labels.categories > head.categories
	case head.overall != labels.overall:
		return labels.overall
	}
	return head.sizes && !labels.sizes
}

// isNamedAfter reports whether a column has the name of a benchmark, as LongMemEval-S has.
func isNamedAfter(name, benchmark string) bool {
	return benchmark != "" && strings.HasPrefix(fold(name), fold(benchmark))
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

// systems takes the rows that are not systems out of the grid, and returns the row of sizes
// and the row of right answers, nil if there is none.
func (t *Table) systems(g *grid) (sizes, rights []field) {
	kept := g.rows[:1:1]
	roles := rolesOf(g.rows[1:], nil)
	systems := 0
	for _, r := range roles {
		if r == plainRole {
			systems++
		}
	}
	for i, row := range g.rows[1:] {
		switch name := row[0].text; {
		case roles[i] == sizeRole && sizes == nil:
			sizes = row
		case roles[i] == rightRole && rights == nil:
			rights = row
		case roles[i] == otherRole, roles[i] == sizeRole, roles[i] == rightRole:
			t.note("%q is not a share of right answers and is left out", name)
		case roles[i] == overallRole && systems > 1:
			t.note("%q is over several systems and is left out", name)
		case g.turned && len(g.rows) > 2 && !arePercentages(row[1:]):
			t.note("the numbers of %q are not percentages, and it is left out", name)
		default:
			kept = append(kept, row)
		}
	}
	g.rows = kept
	return sizes, rights
}

func (t *Table) note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

// columns decides the meaning of each column and its number of questions: from its header,
// from a row of sizes, or from the known benchmark.
func (t *Table) columns(g *grid, known Benchmark) error { //nolint:gocyclo // A case for each role of a column.
	sizes, rights := t.systems(g)
	kept, overallAt, sizeAt, rightAt := []int{0}, -1, -1, -1
	roles := append([]role{plainRole}, rolesOf(transposed(g.rows)[1:], known.Categories)...)
	for i := 1; i < len(g.rows[0]); i++ {
		f := g.rows[0][i]
		name, size, err := splitName(f.text)
		if err == nil && size == 0 && sizes != nil && strings.TrimSpace(sizes[i].text) != "" {
			f.line = sizes[i].line
			size, err = parseSize(sizes[i].text)
		}
		if err != nil {
			return g.problem(f.line, "%v", err)
		}
		col := Column{Name: name, Size: size}
		isWhole := roles[i] == overallRole || roles[i] == plainRole && isNamedAfter(name, t.Benchmark)
		switch {
		case isWhole && overallAt < 0:
			t.Overall, overallAt = &col, i
			continue
		case roles[i] == sizeRole && sizeAt < 0:
			sizeAt = i
			continue
		case roles[i] == rightRole && rightAt < 0:
			rightAt = i
			continue
		case isWhole:
			t.note("column %q is a second overall and is left out", name)
			continue
		case roles[i] != plainRole:
			t.note("column %q is not a share of right answers and is left out", name)
			continue
		}
		t.category(&col, known.Categories)
		if col.Size == 0 && !slices.ContainsFunc(g.rows[1:], func(row []field) bool {
			c, err := parseCell(row[i].text)
			return err == nil && c.Count != nil
		}) {
			t.note("column %q has no size and is left out", name)
			continue
		}
		if slices.ContainsFunc(t.Columns, func(c Column) bool {
			return fold(c.Name) == fold(name) || c.Category != "" && c.Category == col.Category
		}) {
			return g.problem(f.line, "two columns are %q", name)
		}
		t.Columns, kept = append(t.Columns, col), append(kept, i)
	}
	if overallAt < 0 && rightAt > 0 {
		name, size, _ := splitName(g.rows[0][rightAt].text) // read without an error above
		t.Overall, overallAt = &Column{Name: name, Size: size}, rightAt
	}
	if err := t.whole(g, known, sizeAt > 0); err != nil {
		return err
	}
	if err := t.ownSizes(g, sizeAt); err != nil {
		return err
	}
	if rightAt > 0 {
		t.mergeColumn(g, overallAt, rightAt)
	}
	if overallAt >= 0 {
		kept = append(kept, overallAt)
	}
	if rights != nil {
		g.rows = append(g.rows, rights)
	}
	for i, row := range g.rows {
		var list []field
		for _, j := range kept {
			list = append(list, row[j])
		}
		g.rows[i] = list
	}
	if rights != nil {
		t.mergeRow(g)
	}
	return nil
}

// category sets what a known benchmark says about a column.
func (t *Table) category(col *Column, known []Category) {
	at := categoryOf(known, col.Name)
	if at < 0 {
		return
	}
	c := known[at]
	col.Category = c.ID
	if col.Size != 0 && col.Size != c.Size {
		t.note("%q has %d questions by the table and %d by %s: the table counts", col.Name, col.Size, c.Size, t.Benchmark)
		return
	}
	col.Size, col.Faulty = c.Size, c.Faulty
	for _, other := range known {
		if slices.ContainsFunc(other.Others, func(name string) bool { return fold(name) == fold(col.Name) }) {
			col.Other = other.Size
		}
	}
}

// ownSizes reads the numbers of questions that rows give for themselves.
func (t *Table) ownSizes(g *grid, at int) error {
	t.sizes = make([]int64, len(g.rows)-1)
	if at < 0 {
		return nil
	}
	for i, row := range g.rows[1:] {
		if isBlank(strings.TrimSpace(row[at].text)) {
			continue
		}
		n, err := parseSize(row[at].text)
		if err != nil {
			return g.problem(row[at].line, "%v", err)
		}
		t.sizes[i] = n
	}
	return nil
}

// mergeColumn adds the right answers of each row to its overall: 80.0 and 120 of 150 become
// "80.0 (120/150)".
func (t *Table) mergeColumn(g *grid, overallAt, rightAt int) {
	m := merger{}
	for i, row := range g.rows[1:] {
		m.add(&row[overallAt], row[rightAt], cmp.Or(t.sizes[i], t.Overall.Size), overallAt == rightAt)
	}
	m.merge(t, g.rows[0][rightAt].text)
}

// mergeRow adds the last row, of right answers by category, to the only system, or makes it
// one.
func (t *Table) mergeRow(g *grid) {
	last := len(g.rows) - 1
	rights := g.rows[last]
	if last > 2 {
		t.note("%q does not say of which system it is and is left out", rights[0].text)
		g.rows = g.rows[:last]
		return
	}
	m := merger{}
	for j := range rights[1:] {
		var size int64
		if j < len(t.Columns) {
			size = t.Columns[j].Size
		} else {
			size = t.Overall.Size
		}
		m.add(&g.rows[1][j+1], rights[j+1], size, last == 1)
	}
	m.merge(t, rights[0].text)
	if last == 2 {
		g.rows = g.rows[:last]
	}
	t.sizes = make([]int64, len(g.rows)-1)
}

// A merger adds printed numbers of right answers to the percentages beside them.
type merger struct {
	into   []*field
	counts []string

	// How many of the numbers agree with their percentage as counts, and as percentages.
	asCount, asPercent int
}

// add notes a number of right answers. It is alone if there is no percentage beside it.
func (m *merger) add(into *field, right field, size int64, alone bool) {
	text := strings.ReplaceAll(strings.Trim(right.text, "*_` "), ",", "")
	if !wholeNumber.MatchString(text) || size == 0 {
		if alone {
			into.text = ""
		}
		return
	}
	count := fmt.Sprintf("%s/%d", text, size)
	if alone || isBlank(strings.TrimSpace(into.text)) {
		into.text = count
		return
	}
	m.into, m.counts = append(m.into, into), append(m.counts, count)
	c, err := parseCell(into.text)
	k, _ := strconv.ParseInt(text, 10, 64) // up to nine digits
	if err != nil || c.Percent == nil {
		return
	}
	if c.Percent.asShareOf(k, size) {
		m.asCount++
	} else if c.allows(big.NewRat(k, 1), Loose) {
		m.asPercent++
	}
}

// merge writes the counts, unless they are percentages again.
func (m *merger) merge(t *Table, name string) {
	if m.asPercent > m.asCount {
		t.note("%q repeats the percentages and is left out", name)
		return
	}
	for i, f := range m.into {
		f.text = fmt.Sprintf("%s (%s)", strings.Trim(f.text, "*_` "), m.counts[i])
	}
}

// whole decides the number of questions of the overall. Rows may have sizes of their own.
func (t *Table) whole(g *grid, known Benchmark, own bool) error {
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
		t.Conversations = known.Conversations
		if len(t.Columns) == 0 {
			for _, c := range known.Categories {
				if !c.Optional {
					sum, faulty = sum+c.Size, faulty+c.Faulty
					t.Categories = append(t.Categories, c.Size)
				}
			}
			if o.Size != 0 && o.Size != sum {
				t.Categories, t.Conversations = nil, nil
			}
		}
		if !own {
			o.Size = cmp.Or(o.Size, max(sum, 0))
		}
		if o.Size == sum {
			o.Faulty = faulty
		}
		if o.Size > 0 && o.Size < sum {
			t.note("the categories have %d questions and the whole has %d: they overlap, so the parts are not added up", sum, o.Size)
			t.Overlap = true
		}
		if o.Size > maxSize {
			return g.problem(g.rows[0][0].line, "the whole has %d questions, more than %d", o.Size, maxSize)
		}
	}
	if len(t.Columns) > 0 || t.Overall != nil && (t.Overall.Size > 0 || own || hasCounts(g)) {
		return nil
	}
	hint := `give the number of questions in the header, as "multi-hop (n=282)", in a row "n", or by --benchmark`
	if t.Benchmark != "" {
		var list []string
		for _, c := range known.Categories {
			list = append(list, cmp.Or(c.Name, c.ID))
		}
		hint = fmt.Sprintf(`name the columns as %s does: %s, overall; or give the number of questions in the header, as "multi-hop (n=282)"`,
			t.Benchmark, strings.Join(list, ", "))
	}
	return deem.WithHint(g.problem(g.rows[0][0].line, "no column has a size, so there is nothing to check"), "%s", hint)
}

// hasCounts reports whether a cell prints a count such as 646/670.
func hasCounts(g *grid) bool {
	return slices.ContainsFunc(g.rows[1:], func(row []field) bool {
		return slices.ContainsFunc(row[1:], func(f field) bool {
			c, err := parseCell(f.text)
			return err == nil && c.Count != nil
		})
	})
}

// cells reads the numbers.
func (t *Table) cells(g *grid) error {
	ps := &deem.Problems{}
	shares, marked := true, false
	for i, row := range g.rows[1:] {
		r := Row{Name: cmp.Or(strings.Trim(row[0].text, "*_` "), fmt.Sprintf("row %d", i+1)), Size: t.sizes[i]}
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
