package claims_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"deem/internal/claims"
)

// A sheet is a table as somebody could publish it: counts, and how they are printed.
type sheet struct {
	names    []string
	sizes    []int
	systems  []printedSystem
	turned   bool     // categories stand in rows
	sizeRow  bool     // sizes stand in a row or column of their own
	percent  string   // behind the names of numbers, for example " (%)"
	decoys   []string // names of columns with other numbers
	counted  bool     // columns "Correct" and "Total" stand beside the overall
	markdown bool
}

type printedSystem struct {
	name    string
	parts   []string
	overall string
	counts  []int // of right answers, over all runs
	right   int   // their sum
	decoys  []string
}

// drawSheet draws counts and prints them as programs and people do: rounded once or twice,
// padded with zeros, cut off, as shares of all questions or as plain means, over one run or
// several.
func drawSheet(r *rand.Rand) sheet {
	s := sheet{
		turned: r.IntN(3) == 0, sizeRow: r.IntN(2) == 0, markdown: r.IntN(2) == 0,
		percent: []string{"", "", " (%)", " %", " ↑"}[r.IntN(5)],
	}
	all := 0
	for i := range 2 + r.IntN(5) {
		n := 10 + r.IntN(400)
		s.sizes, s.names = append(s.sizes, n), append(s.names, fmt.Sprintf("kind %c", 'a'+i))
		all += n
	}
	for _, decoy := range []string{"F1", "BLEU-1", "Tokens", "Latency (s)", "Wrong"} {
		if r.IntN(3) == 0 {
			s.decoys = append(s.decoys, decoy)
		}
	}
	decimals, runs := 1+r.IntN(2), 1
	if r.IntN(4) == 0 {
		runs = 2 + r.IntN(2)
	}
	s.counted = runs == 1 && r.IntN(3) == 0
	print := drawPrinter(r)
	plain := r.IntN(4) == 0 && !s.counted
	systems := 1 + r.IntN(3)
	if s.turned && (s.counted || len(s.decoys) > 0) {
		systems = 1 // other numbers of one system stand in columns beside it
	}
	for i := range systems {
		p := printedSystem{name: fmt.Sprintf("System %c", 'A'+i)}
		mean := new(big.Rat)
		for _, n := range s.sizes {
			k := 0
			for range runs {
				k += n*2/5 + r.IntN(n*3/5+1)
			}
			p.counts, p.right = append(p.counts, k), p.right+k
			mean.Add(mean, percentOf(k, runs*n))
			p.parts = append(p.parts, print(percentOf(k, runs*n), decimals))
		}
		v := percentOf(p.right, runs*all)
		if plain {
			v = mean.Quo(mean, big.NewRat(int64(len(s.sizes)), 1))
		}
		p.overall = print(v, decimals)
		for _, decoy := range s.decoys {
			value := fmt.Sprintf("%d.%d", r.IntN(90), r.IntN(10))
			if decoy == "Tokens" || decoy == "Wrong" {
				value = fmt.Sprint(120 + r.IntN(5000))
			}
			p.decoys = append(p.decoys, value)
		}
		s.systems = append(s.systems, p)
	}
	return s
}

// drawPrinter draws one way to print a percentage.
func drawPrinter(r *rand.Rand) func(v *big.Rat, decimals int) string {
	once := printers[[]string{"half up", "half even", "half down", "truncated"}[r.IntN(4)]]
	switch r.IntN(4) {
	case 0: // rounded twice: 85.046 as 85.05 and then 85.1
		return func(v *big.Rat, d int) string {
			first, _ := new(big.Rat).SetString(printers["half up"](v, d+1))
			return once(first, d)
		}
	case 1: // padded: 96.6 as 97 and then 97.0
		return func(v *big.Rat, d int) string {
			short, _ := new(big.Rat).SetString(once(v, d-1))
			return short.FloatString(d)
		}
	}
	return once
}

// text prints the sheet.
func (s sheet) text() (name, text string) {
	total := 0
	head := []string{"System"}
	for i, name := range s.names {
		if !s.sizeRow {
			name = fmt.Sprintf("%s (n=%d)", name, s.sizes[i])
		}
		head = append(head, name+s.percent)
		total += s.sizes[i]
	}
	head = append(head, "Overall"+s.percent)
	sizes := []string{"n"}
	for _, n := range s.sizes {
		sizes = append(sizes, fmt.Sprint(n))
	}
	sizes = append(sizes, fmt.Sprint(total))
	rows := [][]string{head}
	if s.sizeRow {
		rows = append(rows, sizes)
	}
	for _, p := range s.systems {
		rows = append(rows, append(append([]string{p.name}, p.parts...), p.overall))
	}
	// Other numbers are columns beside the overall, or columns beside the system.
	switch {
	case s.turned:
		for i, decoy := range s.decoys {
			row := []string{decoy}
			for range len(s.sizes) + 1 {
				row = append(row, s.systems[0].decoys[i])
			}
			rows = append(rows, row)
		}
		if s.counted {
			row := []string{"Correct"}
			for _, k := range append(s.systems[0].counts, s.systems[0].right) {
				row = append(row, fmt.Sprint(k))
			}
			rows = append(rows, row)
		}
		turned := make([][]string, len(rows[0]))
		for i := range turned {
			for _, row := range rows {
				turned[i] = append(turned[i], row[i])
			}
		}
		rows = turned
	default:
		at := 1
		if s.sizeRow {
			at = 2
			for range s.decoys {
				rows[1] = append(rows[1], "")
			}
		}
		rows[0] = append(rows[0], s.decoys...)
		for i, p := range s.systems {
			rows[at+i] = append(rows[at+i], p.decoys...)
		}
		if s.counted {
			rows[0] = append(rows[0], "Correct", "Total")
			if s.sizeRow {
				rows[1] = append(rows[1], "", "")
			}
			for i, p := range s.systems {
				rows[at+i] = append(rows[at+i], fmt.Sprint(p.right), fmt.Sprint(total))
			}
		}
	}
	var b strings.Builder
	for i, row := range rows {
		if !s.markdown {
			b.WriteString(strings.Join(row, ",") + "\n")
			continue
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	if s.markdown {
		return "t.md", b.String()
	}
	return "t.csv", b.String()
}

func (s sheet) audit(t *testing.T) *claims.Report {
	t.Helper()
	name, text := s.text()
	table, err := claims.Read(name, []byte(text), claims.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r := table.Audit(claims.DefaultRuns)
	if len(r.Systems) != len(s.systems) {
		t.Fatalf("%d systems, want %d; %q\n%s", len(r.Systems), len(s.systems), r.Notes, text)
	}
	return r
}

func sheets(many int) int {
	if testing.Short() {
		return many / 10
	}
	return many
}

// Tables that people could print are never called impossible, whatever stands in other
// columns.
func TestRandomSheetsAreNeverImpossible(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 2000))
	for i := range sheets(2000) {
		s := drawSheet(r)
		if report := s.audit(t); report.Impossible > 0 {
			_, text := s.text()
			t.Fatalf("table %d: %+v\n%s", i, report.Findings, text)
		}
	}
}

// One number of such a table is moved by 2 to 20 points, and nearly always this is found.
func TestPlantedErrorsAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 500))
	all, found := sheets(500), 0
	for range all {
		s := drawSheet(r)
		s.plant(r)
		if s.audit(t).Impossible > 0 {
			found++
		}
	}
	t.Logf("%d of %d planted errors were found, %.1f%%", found, all, 100*float64(found)/float64(all))
	if found*100 < all*95 {
		t.Errorf("%d of %d planted errors were found, want 95%%", found, all)
	}
}

// plant moves one percentage.
func (s *sheet) plant(r *rand.Rand) {
	p := &s.systems[r.IntN(len(s.systems))]
	cell := &p.overall
	if at := r.IntN(len(p.parts) + 1); at < len(p.parts) {
		cell = &p.parts[at]
	}
	_, digits, _ := strings.Cut(*cell, ".")
	v, _ := new(big.Rat).SetString(*cell)
	by := big.NewRat(int64(200+r.IntN(1800)), 100)
	if up := new(big.Rat).Add(v, by); r.IntN(2) == 0 && up.Cmp(big.NewRat(100, 1)) <= 0 {
		v = up
	} else {
		v = v.Sub(v, by)
	}
	*cell = v.FloatString(len(digits))
}
