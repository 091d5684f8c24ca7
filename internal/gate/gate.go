// Package gate checks conditions such as "overall.lo >= 65%" against the results of a run.
// They have the same syntax and meaning in a command, in a lock file and on the server.
//
// [Parse] parses gates, and [CheckReport] rejects those that no report could meet. A
// [Scope] returns the number for a name, in a report ([OfReport]), in a comparison
// ([OfComparison]) or elsewhere. [Hold] returns the outcome of each gate. The caller
// decides what follows if a gate fails: a command sets an exit code, and the server
// responds.
package gate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/report/compare"
	"deem/internal/text"
	"deem/internal/usage"
	"deem/report"
	"deem/stat"
)

// A Gate is a condition that decides an exit code: "p < 0.05 and overall > 0". "and" binds
// more tightly than "or", and there are no parentheses.
type Gate struct {
	Text  string        // as given by the user
	anyOf [][]Condition // all conditions of one of these lists must hold
}

// A Condition compares one number with another.
type Condition struct {
	Name   string
	Quoted bool   // the name is in quotes, so it is a category
	Part   string // "lo" of "overall.lo"; "" is the value
	op     string
	want   float64
	unit   string // "pp", "%" or ""
	at     int    // position of the number, in characters from 1
	word   bool   // an outcome, such as "equivalent", without a comparison
}

// A Measure says what kind of number a gate refers to, and so how it may be written.
type Measure int

// The measures of numbers.
const (
	Points Measure = iota // a difference between two shares
	Share                 // a share from 0 to 1
	Plain                 // a p-value or a count
)

// A Number is the value of a name in a gate.
type Number struct {
	Value  float64
	What   Measure
	Absent string // why there is no number, in a sentence without a full stop
	Words  string // for an outcome, what was found
}

// A Scope returns the number that a condition refers to.
type Scope func(c Condition) Number

// An Outcome is the result of a gate.
type Outcome struct {
	Gate   string `json:"gate"`
	Run    string `json:"run,omitempty"` // the run it was checked against, if there are several
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`

	// Warning says that the gate demands more than this number of items can show.
	Warning string `json:"warning,omitempty"`
}

// Hold checks every gate against the numbers of scope. It returns an error if a gate is
// invalid, for example if it compares a share with percentage points; a gate that does not
// hold is an outcome.
func Hold(gates []Gate, scope Scope) ([]Outcome, error) {
	outcomes := make([]Outcome, 0, len(gates))
	for _, g := range gates {
		o, err := g.eval(scope)
		if err != nil {
			return nil, usage.Mark(fmt.Errorf("gate %q: %w", g.Text, err))
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// eval checks one gate against the numbers of scope.
func (g Gate) eval(scope Scope) (Outcome, error) {
	out := Outcome{Gate: g.Text}
	var details []string
	for _, all := range g.anyOf {
		holds := true
		for _, c := range all {
			ok, detail, err := c.eval(scope(c))
			if err != nil {
				return out, err
			}
			holds = holds && ok
			if !slices.Contains(details, detail) {
				details = append(details, detail)
			}
		}
		out.OK = out.OK || holds
	}
	out.Detail = strings.Join(details, "; ")
	return out, nil
}

// eval compares one number. A condition on a missing number does not hold.
func (c Condition) eval(n Number) (ok bool, detail string, err error) {
	if n.Absent != "" {
		return false, n.Absent, nil
	}
	if c.word {
		return n.Value == 1, n.Words, nil
	}
	want, err := c.wanted(n.What)
	if err != nil {
		return false, "", err
	}
	// 2.6pp and 13 of 500 are the same number, although their last digits may differ.
	equal := math.Abs(n.Value-want) <= 1e-12
	switch c.op {
	case ">=":
		ok = n.Value > want || equal
	case "<=":
		ok = n.Value < want || equal
	case ">":
		ok = n.Value > want && !equal
	case "<":
		ok = n.Value < want && !equal
	case "==":
		ok = equal
	case "!=":
		ok = !equal
	}
	return ok, c.title() + " is " + n.String(), nil
}

// wanted returns the number of the condition in the measure of the value it is compared
// with. A percentage of a difference is ambiguous, so it is an error.
func (c Condition) wanted(what Measure) (float64, error) {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("character %d: %s", c.at, fmt.Sprintf(format, args...))
	}
	number := strconv.FormatFloat(c.want, 'g', -1, 64)
	switch {
	case what == Points && c.unit == "%":
		return 0, fault("%s is a difference of percentages: write %spp", c.title(), number)
	case what == Points && c.unit == "" && math.Abs(c.want) > 1:
		return 0, fault("%s is a difference from -1 to 1: write %spp for percentage points", c.title(), number)
	case what == Share && c.unit == "pp":
		return 0, fault("%s is a share and no difference: write %s%%", c.title(), number)
	case what == Share && c.unit == "" && math.Abs(c.want) > 1:
		return 0, fault("%s is a share from 0 to 1: write %s%% for a percentage", c.title(), number)
	case what == Plain && c.unit != "":
		return 0, fault("%s is a plain number: write it without %s", c.title(), c.unit)
	case c.unit != "":
		return c.want / 100, nil
	}
	return c.want, nil
}

// title returns the name and the part as written.
func (c Condition) title() string {
	name := c.Name
	if c.Quoted {
		name = strconv.Quote(name)
	}
	if c.Part != "" {
		name += "." + c.Part
	}
	return name
}

// String formats the number in its measure.
func (n Number) String() string {
	switch n.What {
	case Points:
		return strconv.FormatFloat(100*n.Value, 'f', 2, 64) + " pp"
	case Share:
		return strconv.FormatFloat(100*n.Value, 'f', 2, 64) + "%"
	}
	return strconv.FormatFloat(n.Value, 'g', 4, 64)
}

// Missing returns a missing number, with the reason in a sentence without a full stop.
func Missing(format string, args ...any) Number {
	return Number{Absent: fmt.Sprintf(format, args...)}
}

// NoSuch returns a missing number for an unknown name, with the closest known name.
func NoSuch(c Condition, known []string) Number {
	if near := text.Closest(c.Name, known); near != "" {
		return Missing("there is no category %q; did you mean %q?", c.Name, near)
	}
	return Missing("there is no category %q; there are: %s", c.Name, strings.Join(known, ", "))
}

// OfComparison returns the scope of the comparison of a run with the baseline.
func OfComparison(c compare.Comparison, pair compare.Pair) Scope {
	run := c.Runs[pair.Second]
	return func(cond Condition) Number {
		if cond.word {
			return outcomeNumber(cond.Name, pair.Overall, c.Hold)
		}
		if !cond.Quoted {
			switch cond.Name {
			case "overall":
				return differenceNumber(cond.Part, pair.Overall, c.Hold)
			case "corrected":
				k := pair.Corrected
				if k == nil || k.Estimate == nil || !slices.Contains([]string{"", "lo", "hi", "p", "n"}, cond.Part) {
					return Missing("there is no corrected difference of this kind: it takes --labels of both runs")
				}
				return differenceNumber(cond.Part, k.Difference(), c.Hold)
			case "p", "n", "wins", "losses", "ties":
				return differenceNumber(cond.Name, pair.Overall, c.Hold)
			case "unjudged":
				return Number{Value: float64(run.Unjudged) / float64(max(run.Items, 1)), What: Share}
			case "score":
				return Figures(cond.Part, run.Judged, run.Strict, run.Items)
			}
		}
		known := []string{"overall", "corrected", "p", "unjudged", "score", "wins", "losses", "ties", "n"}
		for _, d := range pair.Categories {
			if d.Category == cond.Name {
				return differenceNumber(cond.Part, d, c.Hold)
			}
			known = append(known, d.Category)
		}
		return NoSuch(cond, known)
	}
}

// differenceNumber returns one number of a difference.
func differenceNumber(part string, d compare.Difference, hold *compare.Hold) Number {
	switch {
	case part == "strict":
		return Number{Value: d.Strict.Value, What: Points}
	case d.Estimate == nil && hold != nil:
		return Missing("the difference is withheld: %s", hold.Reason)
	case d.Estimate == nil:
		return Missing("no item was judged by both, so there is no difference")
	case (part == "lo" || part == "hi") && d.Estimate.Method == stat.MethodNone:
		return Missing("the data allow no interval of this difference")
	}
	switch part {
	case "lo":
		return Number{Value: d.Estimate.Lo, What: Points}
	case "hi":
		return Number{Value: d.Estimate.Hi, What: Points}
	case "p":
		if d.Adjusted == nil {
			return Missing("there is no p-value of this difference")
		}
		return Number{Value: *d.Adjusted, What: Plain}
	case "n":
		return Number{Value: float64(d.N), What: Plain}
	case "wins":
		return Number{Value: float64(d.Wins), What: Plain}
	case "losses":
		return Number{Value: float64(d.Losses), What: Plain}
	case "ties":
		return Number{Value: float64(d.Ties), What: Plain}
	}
	return Number{Value: d.Estimate.Value, What: Points}
}

// nonInferior is the outcome of a difference that is not worse than minus the margin.
const nonInferior = "non-inferior"

// CheckMargin rejects gates on equivalence if no margin is given.
func CheckMargin(gates []Gate, margin float64) error {
	for _, g := range gates {
		for _, c := range slices.Concat(g.anyOf...) {
			if c.word && margin == 0 && (c.Name == compare.Equivalent || c.Name == nonInferior) {
				return usage.Mark(deem.WithHint(fmt.Errorf("gate %q: within which margin?", g.Text), "add --margin 1pp"))
			}
		}
	}
	return nil
}

// outcomes are the words that a gate may consist of.
var outcomes = []string{compare.Better, compare.Worse, compare.Equivalent, compare.Undecided, nonInferior}

// outcomeNumber returns 1 if a difference has the outcome. A difference may be both
// established and equivalent.
func outcomeNumber(word string, d compare.Difference, hold *compare.Hold) Number {
	e := d.Equivalence
	holds := d.Outcome == word
	switch {
	case d.Estimate == nil:
		return differenceNumber("", d, hold)
	case e == nil && (word == compare.Equivalent || word == nonInferior):
		return Missing("no margin was given within which it could be %s", word)
	case word == compare.Equivalent:
		holds = e.Equivalent
	case word == nonInferior:
		holds = e.NonInferior
	}
	n := Number{What: Plain, Words: fmt.Sprintf("the outcome is %s, %.2f pp %s", d.Outcome, 100*d.Estimate.Value, d.Estimate.Ends("%.2f", 100))}
	if e != nil {
		n.Words += fmt.Sprintf("; %s within ±%s pp: p = %.4g", word, strconv.FormatFloat(100*e.Margin, 'g', 4, 64), map[bool]float64{true: e.P, false: e.NotWorse}[word != nonInferior])
	}
	if holds {
		n.Value = 1
	}
	return n
}

// rarely is the probability below which a gate gets a warning: that of an unchanged system
// passing it.
const rarely = 0.5

// Caution returns a warning if an unchanged system would rarely pass a gate on the lower
// end of the interval of a difference, and "" otherwise. The difference of an unchanged
// system scatters around 0 with the width of its interval.
func (g Gate) Caution(d compare.Difference) string {
	if d.Estimate == nil {
		return ""
	}
	for _, c := range slices.Concat(g.anyOf...) {
		want, err := c.wanted(Points)
		if c.Name != "overall" || c.Quoted || c.Part != "lo" || c.op[0] != '>' || err != nil || want > 0 {
			continue
		}
		chance := stat.PassesUnchanged(*d.Estimate, want)
		if chance >= rarely {
			continue
		}
		return fmt.Sprintf("a system that did not change passes %s %s %spp in %.0f%% of cases with these %d items; "+
			"--margin with the gate non-inferior asks for less, and deem plan --margin says how many items it takes",
			c.title(), c.op, strconv.FormatFloat(100*want, 'g', 4, 64), 100*chance, d.N)
	}
	return ""
}

// OfReport returns the scope of the report of one run: "overall" and "score" are its
// headline score, and a category is the score of that category.
func OfReport(r report.Report) Scope {
	return func(cond Condition) Number {
		if !cond.Quoted {
			switch cond.Name {
			case "overall", "score":
				return figuresOf(cond.Part, r.Metrics[0])
			case "unjudged":
				return Number{Value: float64(r.Unjudged) / float64(max(r.Items, 1)), What: Share}
			case "n":
				return Number{Value: float64(r.Judged), What: Plain}
			}
		}
		known := []string{"overall", "score", "unjudged", "n"}
		for _, c := range r.Categories {
			if c.Name == cond.Name {
				return figuresOf(cond.Part, c.Figures)
			}
			known = append(known, c.Name)
		}
		return NoSuch(cond, known)
	}
}

// CheckReport rejects gates that no report of a run could meet, before the run is paid for:
// a number in the wrong unit, a part that a score does not have, and a name that is neither
// one of a report nor a category. If categories is nil they are not known yet, and any name
// may be one.
func CheckReport(gates []Gate, categories []string) error {
	for _, g := range gates {
		for _, c := range slices.Concat(g.anyOf...) {
			names := categories
			if categories == nil {
				names = []string{c.Name}
			}
			if err := c.check(OfReport(reportOn(names))); err != nil {
				return usage.Mark(fmt.Errorf("gate %q: %w", g.Text, err))
			}
		}
	}
	return nil
}

// reportOn returns a report with every number that a report over these categories may have.
func reportOn(categories []string) report.Report {
	all := report.Figures{Judged: new(stat.Estimate), Items: 1}
	r := report.Report{Items: 1, Judged: 1, Metrics: []report.Figures{all}}
	for _, name := range categories {
		r.Categories = append(r.Categories, report.Category{Name: name, Figures: all})
	}
	return r
}

// check returns the error of a condition if scope has every number.
func (c Condition) check(scope Scope) error {
	n := scope(c)
	if n.Absent != "" {
		return errors.New(n.Absent)
	}
	_, err := c.wanted(n.What)
	return err
}

func figuresOf(part string, f report.Figures) Number {
	return Figures(part, f.Judged, f.Strict, f.Items)
}

// Figures returns one number of the figures of a run.
func Figures(part string, judged *stat.Estimate, strict stat.Estimate, items int) Number {
	switch {
	case part == "strict" && items > 0:
		return Number{Value: strict.Value, What: Share}
	case judged == nil:
		return Missing("there is no score: too many items are unjudged, or all")
	case (part == "lo" || part == "hi") && judged.Method == stat.MethodNone:
		return Missing("the data allow no interval: %s", strings.Join(judged.Warnings, "; "))
	}
	switch part {
	case "":
		return Number{Value: judged.Value, What: Share}
	case "lo":
		return Number{Value: judged.Lo, What: Share}
	case "hi":
		return Number{Value: judged.Hi, What: Share}
	case "n":
		return Number{Value: float64(judged.N), What: Plain}
	}
	return Missing("a score has no %s; it has lo, hi, n and strict", part)
}
