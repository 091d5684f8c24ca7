package compare_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"deem/internal/doc"
	"deem/internal/reports/compare"
)

// Indistinguishable runs have no ranks: 1, 1 and 1 would look like an order.
func TestNoOrder(t *testing.T) {
	c := patterns(t, lenient, strings.Repeat("yyn", 20), strings.Repeat("yny", 20), strings.Repeat("nyy", 20))
	if c.Ranking.Ordered {
		t.Error("the ranking is ordered")
	}
	for _, p := range c.Ranking.Places {
		if p.Rank != 0 {
			t.Errorf("%s has rank %d, want none", p.Name, p.Rank)
		}
	}
	var text bytes.Buffer
	if err := doc.Text(&text, c.Document(), doc.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"No order is established", "run  score ", "Test that all runs are equally good: p = 1.0000"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, &text)
		}
	}
}

// An interval of a category excludes 0 exactly if the category is better or worse, and
// exactly if the adjusted p is below 0.05.
func TestCategoriesAgree(t *testing.T) {
	established := 0
	for run := range 60 {
		rng := rand.New(rand.NewPCG(uint64(run), 5))
		b := compare.New([]compare.Run{runOf("A"), runOf("B")}, lenient)
		for i := range 400 {
			k := i % 8
			row := compare.Row{ID: fmt.Sprint(i)}
			for j := range 2 {
				cell := compare.Cell{Present: true, Judged: true, Weight: 1, Category: fmt.Sprint(k)}
				if run%2 == 0 {
					cell.Cluster = fmt.Sprint(i / 20)
				}
				if rng.Float64() < 0.6+0.05*float64(j*k) {
					cell.Score = 1
				}
				row.Cells = append(row.Cells, cell)
			}
			b.Add(row)
		}
		for _, d := range b.Comparison().Pairs[0].Categories {
			decided := d.Outcome == compare.Better || d.Outcome == compare.Worse
			if outside := d.Estimate.Lo > 0 || d.Estimate.Hi < 0; outside != decided {
				t.Errorf("run %d, category %s: %s beside [%v, %v], p %v", run, d.Category, d.Outcome, d.Estimate.Lo, d.Estimate.Hi, *d.Adjusted)
			}
			if decided {
				established++
			}
			if d.Unjudged == 0 && d.Strict.Lo != d.Estimate.Lo {
				t.Errorf("run %d, category %s: without failures the strict interval is another one", run, d.Category)
			}
		}
	}
	if established < 20 {
		t.Errorf("%d differences are established, want more for the test to mean something", established)
	}
}

// The effect of the margin on a difference.
func TestMargin(t *testing.T) {
	same, lost := strings.Repeat("yyyn", 250), strings.Repeat("yyyn", 250)
	few := "nn" + lost[2:]                           // two items lost: 0.2 pp
	many := strings.Repeat("n", 60) + lost[60:]      // 45 items lost: 4.5 pp
	some := strings.Repeat("n", 8) + lost[8:]        // 6 items lost: 0.6 pp
	mixed := strings.Repeat("nyyy", 25) + lost[100:] // 25 lost and 25 won
	for _, tt := range []struct {
		name, second   string
		margin         float64
		outcome        string
		equivalent, ok bool
		says           string
	}{
		{"no margin", few, 0, compare.Undecided, false, false, "No difference between B and A is shown at the 5% level: -0.2 pp [-0.7, +0.2]"},
		{"within", few, 0.01, compare.Equivalent, true, true, "is equivalent within ±1.0 pp (90% interval [-0.6, +0.1], p = 0.0"},
		{"worse", many, 0.01, compare.Worse, false, false, "is worse than"},
		{"worse and still within", some, 0.02, compare.Worse, true, true, "That is equivalent within ±2.0 pp"},
		{"undecided", mixed, 0.01, compare.Undecided, false, false, "It is not shown to be equivalent within ±1.0 pp"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := lenient
			o.Margin = tt.margin
			c := patterns(t, o, same, tt.second)
			d := c.Pairs[0].Overall
			if d.Outcome != tt.outcome {
				t.Errorf("outcome %s, want %s", d.Outcome, tt.outcome)
			}
			if e := d.Equivalence; (e != nil) != (tt.margin > 0) || e != nil && (e.Equivalent != tt.equivalent || e.NonInferior != tt.ok) {
				t.Errorf("equivalence %+v, want equivalent %v, non-inferior %v", e, tt.equivalent, tt.ok)
			}
			if e := d.Equivalence; e != nil && e.Equivalent != (e.Interval.Lo > -tt.margin && e.Interval.Hi < tt.margin) {
				t.Errorf("equivalent %v beside the interval [%v, %v]", e.Equivalent, e.Interval.Lo, e.Interval.Hi)
			}
			var text bytes.Buffer
			if err := doc.Text(&text, c.Document(), doc.TextOptions{}); err != nil {
				t.Fatal(err)
			}
			if folded := strings.Join(strings.Fields(text.String()), " "); !strings.Contains(folded, tt.says) {
				t.Errorf("the text lacks %q:\n%s", tt.says, folded)
			}
		})
	}
}

// Two runs that differ in hardly any decided item, but leave many items undecided, are
// neither shown to be equivalent nor to differ: test, margin and power allow for undecided
// items as the interval does.
func TestUndecidedItemsInTestMarginAndPower(t *testing.T) {
	for _, c := range []struct {
		name      string
		lost      int // of 900 decided items
		clustered bool
	}{{"equal", 2, false}, {"a little better", 40, false}, {"in clusters", 40, true}} {
		t.Run(c.name, func(t *testing.T) {
			runs := []compare.Run{runOf("A"), runOf("B")}
			for i := range runs {
				runs[i].CalibrationError = 0.09
			}
			o := lenient
			o.Margin = 0.03
			b := compare.New(runs, o)
			for i := range 1500 {
				row := compare.Row{ID: fmt.Sprint(i)}
				for j := range 2 {
					cell := compare.Cell{Present: true, Judged: true, Weight: 1, Score: 1}
					if c.clustered {
						cell.Cluster = fmt.Sprint(i / 10)
					}
					if i%5 < 2 { // 600 items
						cell.Judged, cell.Score, cell.Guess = false, 0, new(0.5)
					} else if j == 0 && i < c.lost*5/3 {
						cell.Score = 0
					}
					row.Cells = append(row.Cells, cell)
				}
				b.Add(row)
			}
			d := b.Comparison().Pairs[0].Overall
			if d.Estimate.Lo > -0.05 || d.Estimate.Hi < 0.05 {
				t.Fatalf("the interval [%v, %v] does not allow for 600 undecided items", d.Estimate.Lo, d.Estimate.Hi)
			}
			if e := d.Equivalence; e.Equivalent || e.NonInferior || d.Outcome != compare.Undecided {
				t.Errorf("%s, %+v beside [%v, %v]", d.Outcome, *e, d.Estimate.Lo, d.Estimate.Hi)
			}
			if *d.Adjusted < 0.05 {
				t.Errorf("p = %v by %s beside [%v, %v]", *d.Adjusted, d.Test.Method, d.Estimate.Lo, d.Estimate.Hi)
			}
			if d.Detectable < 0.05 {
				t.Errorf("a difference of %v counts as detectable beside [%v, %v]", d.Detectable, d.Estimate.Lo, d.Estimate.Hi)
			}
		})
	}
}
