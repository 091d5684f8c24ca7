package claims_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deem/internal/claims"
)

// The ways in which programs print a percentage. Each is written on its own, with big
// rationals, and shares nothing with the code under test.
var printers = map[string]func(v *big.Rat, decimals int) string{
	"half up": func(v *big.Rat, d int) string {
		scaled := new(big.Rat).Mul(v, pow10(d))
		return decimal(floor(scaled.Add(scaled, big.NewRat(1, 2))), d)
	},
	// A tie goes down where the float behind it lies a little below, as 37.49999999999999.
	"half down": func(v *big.Rat, d int) string {
		scaled := new(big.Rat).Mul(v, pow10(d))
		up := floor(scaled.Neg(scaled.Sub(scaled, big.NewRat(1, 2))))
		return decimal(up.Neg(up), d)
	},
	"half even": func(v *big.Rat, d int) string {
		scaled := new(big.Rat).Mul(v, pow10(d))
		whole := floor(scaled)
		rest := new(big.Rat).Sub(scaled, new(big.Rat).SetInt(whole))
		if c := rest.Cmp(big.NewRat(1, 2)); c > 0 || c == 0 && whole.Bit(0) == 1 {
			whole.Add(whole, big.NewInt(1))
		}
		return decimal(whole, d)
	},
	"truncated": func(v *big.Rat, d int) string { return decimal(floor(new(big.Rat).Mul(v, pow10(d))), d) },
}

func pow10(n int) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
}

func floor(v *big.Rat) *big.Int { return new(big.Int).Div(v.Num(), v.Denom()) }

func decimal(units *big.Int, decimals int) string {
	return new(big.Rat).Quo(new(big.Rat).SetInt(units), pow10(decimals)).FloatString(decimals)
}

// percentOf returns 100*k/n.
func percentOf(k, n int) *big.Rat { return big.NewRat(int64(100*k), int64(n)) }

// A made is a row that a program could print, and how.
type made struct {
	sizes   []int
	parts   []string
	overall string
}

func (m made) csv() string {
	var head, row strings.Builder
	for i, n := range m.sizes {
		fmt.Fprintf(&head, ",c%d (n=%d)", i, n)
		fmt.Fprintf(&row, ",%s%%", m.parts[i])
	}
	return fmt.Sprintf("system%s,overall\nS%s,%s%%\n", head.String(), row.String(), m.overall)
}

// drawRow draws counts for up to three runs and prints them.
func drawRow(t *rapid.T) made {
	runs := rapid.IntRange(1, 3).Draw(t, "runs")
	plain := rapid.Bool().Draw(t, "plain mean")
	decimals := rapid.IntRange(0, 4).Draw(t, "decimals")
	kinds := rapid.SampledFrom([]string{"half up", "half even", "truncated"})
	part, overall := printers[kinds.Draw(t, "parts")], printers[kinds.Draw(t, "overall")]
	var m made
	right, all, mean := 0, 0, new(big.Rat)
	for range rapid.IntRange(1, 6).Draw(t, "categories") {
		n := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(1, 3000)).Draw(t, "n")
		k := 0
		for range runs {
			k += rapid.IntRange(0, n).Draw(t, "k")
		}
		m.sizes = append(m.sizes, n)
		m.parts = append(m.parts, part(percentOf(k, runs*n), decimals))
		right, all = right+k, all+runs*n
		mean.Add(mean, percentOf(k, runs*n))
	}
	v := percentOf(right, all)
	if plain {
		v = mean.Quo(mean, big.NewRat(int64(len(m.sizes)), 1))
	}
	m.overall = overall(v, rapid.IntRange(0, 4).Draw(t, "decimals of the overall"))
	return m
}

// Tables that a program could print are never called impossible, however it rounds, weighs
// and repeats.
func TestConsistentTablesAreNeverImpossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawRow(t)
		table, err := claims.Read("t.csv", []byte(m.csv()), claims.Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, m.csv())
		}
		if r := table.Audit(claims.DefaultRuns); r.Impossible > 0 {
			t.Fatalf("%+v\n%s", r.Findings, m.csv())
		}
	})
}

// Several rows of one table that a program could print are never called impossible either,
// nor are they when systems stand in columns, and sizes in a column of their own.
func TestConsistentTablesByColumn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawRow(t)
		var b strings.Builder
		b.WriteString("| category | n | A | B |\n|---|--:|:-:|---|\n")
		for i, n := range m.sizes {
			fmt.Fprintf(&b, "| c%d | %d | %s%% | **%s** |\n", i, n, m.parts[i], m.parts[i])
		}
		fmt.Fprintf(&b, "| overall | | %s%% | %s |\n", m.overall, m.overall)
		table, err := claims.Read("t.md", []byte(b.String()), claims.Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		if r := table.Audit(claims.DefaultRuns); r.Impossible > 0 || len(r.Systems) != 2 {
			t.Fatalf("%d systems, %+v\n%s", len(r.Systems), r.Findings, b.String())
		}
	})
}

// printed returns every way to print a percentage: rounded to the nearest with ties either
// way or cut off, perhaps rounded at one more decimal before, and perhaps at fewer decimals
// with zeros behind.
func printed(v *big.Rat, decimals int) map[string]bool {
	all := map[string]bool{}
	for shown := 0; shown <= decimals; shown++ {
		first, _ := new(big.Rat).SetString(printers["half up"](v, shown+1))
		for _, from := range []*big.Rat{v, first} {
			for _, how := range []string{"half up", "half down", "truncated"} {
				short, _ := new(big.Rat).SetString(printers[how](from, shown))
				all[short.FloatString(decimals)] = true
			}
		}
	}
	return all
}

// printable returns every row of numbers that a program can print for categories of these
// sizes: for all counts, ways to print each number, means and up to three runs.
func printable(sizes []int, decimals int) map[string]bool {
	all := map[string]bool{}
	total := 0
	for _, n := range sizes {
		total += n
	}
	share := big.NewRat(1, int64(len(sizes)))
	for runs := 1; runs <= claims.DefaultRuns; runs++ {
		var try func(row []string, right int, plain, weightedPrinted, plainPrinted *big.Rat)
		try = func(row []string, right int, plain, weightedPrinted, plainPrinted *big.Rat) {
			if i := len(row); i < len(sizes) {
				n := sizes[i]
				for k := 0; k <= runs*n; k++ {
					v := percentOf(k, runs*n)
					for text := range printed(v, decimals) {
						number, _ := new(big.Rat).SetString(text)
						weighted := new(big.Rat).Mul(number, big.NewRat(int64(n), int64(total)))
						try(append(row[:i:i], text), right+k, new(big.Rat).Add(plain, v),
							weighted.Add(weighted, weightedPrinted), number.Add(number, plainPrinted))
					}
				}
				return
			}
			for _, v := range []*big.Rat{
				percentOf(right, runs*total), new(big.Rat).Mul(plain, share), weightedPrinted, new(big.Rat).Mul(plainPrinted, share),
			} {
				for text := range printed(v, decimals) {
					all[strings.Join(row, " ")+" "+text] = true
				}
			}
		}
		try(nil, 0, new(big.Rat), new(big.Rat), new(big.Rat))
	}
	return all
}

// On small categories a row is called impossible exactly when nobody can print it, as trying
// everything shows.
func TestImpossibleMeansNobodyCanPrintIt(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	for _, c := range []struct {
		sizes    []int
		decimals int
	}{{[]int{3, 5}, 0}, {[]int{4, 6}, 1}, {[]int{2, 3}, 0}, {[]int{7}, 1}, {[]int{4, 4}, 2}} {
		can := printable(c.sizes, c.decimals)
		impossible, possible := 0, 0
		check := func(t *rapid.T, numbers []string) {
			m := made{c.sizes, numbers[:len(numbers)-1], numbers[len(numbers)-1]}
			table, err := claims.Read("t.csv", []byte(m.csv()), claims.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := table.Audit(claims.DefaultRuns).Impossible == 0
			if want := can[strings.Join(numbers, " ")]; got != want {
				t.Fatalf("sizes %v, numbers %v: possible is %t, want %t", c.sizes, numbers, got, want)
			}
			if got {
				possible++
			} else {
				impossible++
			}
		}
		var rows []string
		for row := range can {
			rows = append(rows, row)
		}
		rapid.Check(t, func(t *rapid.T) {
			numbers := strings.Fields(rapid.SampledFrom(rows).Draw(t, "row"))
			check(t, numbers)
			// One number is changed, as a misprint or a wish would.
			at := rapid.IntRange(0, len(numbers)-1).Draw(t, "changed")
			limit := 100
			for range c.decimals {
				limit *= 10
			}
			v, _ := new(big.Rat).SetString(numbers[at])
			units := int(floor(v.Mul(v, pow10(c.decimals))).Int64())
			to := rapid.OneOf(rapid.IntRange(0, limit), rapid.IntRange(max(0, units-2), min(limit, units+2))).Draw(t, "to")
			numbers[at] = decimal(big.NewInt(int64(to)), c.decimals)
			check(t, numbers)
		})
		if impossible == 0 || possible == 0 {
			t.Errorf("sizes %v: %d rows were impossible and %d possible, want some of both", c.sizes, impossible, possible)
		}
	}
}

// A swapped table is found: the numbers of a row are assigned to the categories in another
// order, and the reading that undoes this is among those that fit.
func TestSwappedColumnsAreFound(t *testing.T) {
	found, total := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		sizes := []int{841, 282, 321, 96}
		order := rapid.Permutation([]int{0, 1, 2, 3}).Draw(t, "order")
		m := made{sizes: sizes, parts: make([]string, len(sizes))}
		right := 0
		for i, at := range order {
			k := rapid.IntRange(sizes[i]/2, sizes[i]).Draw(t, "k")
			right += k
			m.parts[at] = printers["half even"](percentOf(k, sizes[i]), 2)
		}
		m.overall = printers["half even"](percentOf(right, 1540), 2)
		table, err := claims.Read("t.csv", []byte(m.csv()), claims.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := table.Audit(claims.DefaultRuns).Systems[0]
		if total++; len(s.Fits) > 0 {
			return // it is possible as labelled too
		}
		if found++; len(s.Reading) != 4 || s.Read == claims.ReadNearest {
			t.Fatalf("%+v for the order %v\n%s", s, order, m.csv())
		}
		if s.Read != claims.ReadOnly {
			return
		}
		for i, at := range order {
			if s.Reading[at].Size != int64(sizes[i]) {
				t.Fatalf("%+v for the order %v\n%s", s, order, m.csv())
			}
		}
	})
	if found < total/2 {
		t.Errorf("%d of %d swapped tables were impossible as labelled, want most", found, total)
	}
}
