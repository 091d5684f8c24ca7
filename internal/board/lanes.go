package board

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"deem"
	"deem/internal/reports"
	"deem/internal/reports/compare"
	"deem/stat"
)

// A laneResult is a lane with its rows.
type laneResult struct {
	lane
	rows []*row // as the files are named, and then by score

	compared *compare.Comparison // of the rows other than lines; nil for fewer than two
}

// ranked returns the rows that are compared, and the lines.
func (l *laneResult) ranked() (rows, lines []*row) {
	for _, r := range l.rows {
		if l.isLine(r.System) != "" {
			lines = append(lines, r)
		} else {
			rows = append(rows, r)
		}
	}
	return rows, lines
}

// score returns the estimate of a row by which it stands in its lane: with failures counted
// as wrong if it is otherwise withheld.
func (r *row) score() stat.Estimate {
	if m := r.report.Metrics[0]; m.Judged != nil {
		return *m.Judged
	}
	return r.report.Metrics[0].Strict
}

// compare compares all rows of the lane in pairs, and puts those that are not shown to
// differ into groups.
func (l *laneResult) compare(maxUnjudged float64) error {
	slices.SortStableFunc(l.rows, func(x, y *row) int {
		return cmp.Or(cmp.Compare(y.score().Value, x.score().Value), cmp.Compare(x.System, y.System), cmp.Compare(x.file, y.file))
	})
	rows, _ := l.ranked()
	if len(rows) < 2 {
		return nil
	}
	runs := make([]compare.Run, len(rows))
	records := make([]iter.Seq2[deem.Record, error], len(rows))
	for i, r := range rows {
		runs[i] = reports.Compared{Run: r.run, Name: r.System}.Describe()
		records[i] = recordsOf(r.slim)
	}
	b := compare.New(runs, compare.Options{MaxUnjudged: maxUnjudged})
	for joined, err := range compare.Join(records...) {
		if err != nil {
			return err
		}
		b.Add(joined)
	}
	c := b.Comparison()
	l.compared = &c
	if c.Ranking == nil || c.Refused {
		return nil
	}
	differ := map[[2]int]bool{}
	for _, p := range c.Ranking.Pairs {
		differ[[2]int{p.First, p.Second}] = p.Outcome == compare.Better || p.Outcome == compare.Worse
	}
	for i, text := range letters(len(rows), func(i, j int) bool { return differ[[2]int{min(i, j), max(i, j)}] }) {
		rows[i].letter = text
	}
	return nil
}

func recordsOf(list []deem.Record) iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		for _, rec := range list {
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// sameAnswers notes rows of different systems with the same answers.
func (l *laneResult) sameAnswers(c *Checked) {
	first := map[string]*row{}
	for _, r := range l.rows {
		if other, ok := first[r.answers]; ok {
			if l.isLine(r.System) == "" {
				c.find(KindDuplicate, r.file, "every answer is that of %s in %s", other.System, other.file)
			}
			continue
		}
		first[r.answers] = r
	}
}

// letters returns the groups of rows 0 to n-1, best first: two rows share a letter if and
// only if they do not differ. It is the algorithm of insertion and absorption.
//
// Source: H.-P. Piepho, "An algorithm for a letter-based representation of all-pairwise
// comparisons", Journal of Computational and Graphical Statistics 13 (2004), 456-466.
func letters(n int, differ func(i, j int) bool) []string {
	all := make([]bool, n)
	for i := range all {
		all[i] = true
	}
	groups := [][]bool{all}
	for i := range n {
		for j := i + 1; j < n; j++ {
			if differ(i, j) {
				groups = split(groups, i, j)
			}
		}
	}
	slices.SortStableFunc(groups, func(x, y []bool) int { return cmp.Compare(slices.Index(x, true), slices.Index(y, true)) })
	list := make([]string, n)
	for g, in := range groups {
		for i := range n {
			if in[i] {
				list[i] += letter(g)
			}
		}
	}
	return list
}

// split separates i and j in every group that has both, and drops groups inside others.
func split(groups [][]bool, i, j int) [][]bool {
	var next [][]bool
	for _, g := range groups {
		if !g[i] || !g[j] {
			next = append(next, g)
			continue
		}
		for _, out := range []int{i, j} {
			part := slices.Clone(g)
			part[out] = false
			next = append(next, part)
		}
	}
	var kept [][]bool
	for a, g := range next {
		inside := false
		for b, other := range next {
			inside = inside || b != a && within(g, other) && (b < a || !within(other, g))
		}
		if !inside {
			kept = append(kept, g)
		}
	}
	return kept
}

// within reports whether all members of a are members of b.
func within(a, b []bool) bool {
	for i := range a {
		if a[i] && !b[i] {
			return false
		}
	}
	return true
}

// letter names a group: a, b, ..., z, a', b', ...
func letter(g int) string {
	text := string(rune('a' + g%26))
	if g >= 26 {
		text += strings.Repeat("'", g/26)
	}
	return text
}
