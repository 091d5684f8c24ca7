// Package gate holds conditions against what a run found, as "overall.lo >= 65%": the
// same words mean the same wherever they are given, to a command, in a lock or to the
// server.
//
// [Parse] reads gates, and [CheckReport] refuses those that no report could meet. A
// [Scope] says which number a name stands for, in a report
// ([OfReport]), in a comparison ([OfComparison]) or elsewhere. [Hold] says what becomes
// of each gate. What follows when one does not hold is for others to say: a command
// ends with an exit code, and the server answers.
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

// A Gate is a condition that decides an exit code: "p < 0.05 and overall > 0". "and"
// binds stronger than "or", and there are no parentheses.
type Gate struct {
	Text  string        // as it was given
	anyOf [][]Condition // one of these lists must hold as a whole
}

// A Condition compares one number with another.
type Condition struct {
	Name   string
	Quoted bool   // the name stands in quotes, so it is a category
	Part   string // "lo" of "overall.lo"; "" is the value
	op     string
	want   float64
	unit   string // "pp", "%" or ""
	at     int    // where the number stands, in characters from 1
	word   bool   // an outcome, as "equivalent", with nothing to compare it with
}

// A Measure says what a number in a gate is, and so how it may be written.
type Measure int

// The measures of numbers.
const (
	Points Measure = iota // a difference of two shares
	Share                 // a share from 0 to 1
	Plain                 // a p-value or a count
)

// A Number is what a name in a gate stands for.
type Number struct {
	Value  float64
	What   Measure
	Absent string // why there is no number, in a sentence without a full stop
	Words  string // of an outcome: what was found
}

// A Scope finds the number that a condition speaks of.
type Scope func(c Condition) Number

// An Outcome is what became of a gate.
type Outcome struct {
	Gate   string `json:"gate"`
	Run    string `json:"run,omitempty"` // the run it was held against, if there are several
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`

	// Warning says that the gate asks for more than so many items can show.
	Warning string `json:"warning,omitempty"`
}

// Hold holds every gate against what scope finds. Its error is a gate that is
// wrong in itself, as one that wants a share in percentage points; a gate that does
// not hold is an outcome.
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

// eval holds one gate against what scope finds.
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

// eval compares one number. A number that is not there holds nothing.
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
	// 2.6pp and 13 of 500 are one number, although their last digits may differ.
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

// wanted returns the number of the condition in the measure of what it is compared
// with. Percent of a difference could mean two things, so it means neither.
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

// title returns the name and the part as they were written.
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

// String returns the number in its measure.
func (n Number) String() string {
	switch n.What {
	case Points:
		return strconv.FormatFloat(100*n.Value, 'f', 2, 64) + " pp"
	case Share:
		return strconv.FormatFloat(100*n.Value, 'f', 2, 64) + "%"
	}
	return strconv.FormatFloat(n.Value, 'g', 4, 64)
}

// Missing returns a number that is not there, with the reason in a sentence without a
// full stop.
func Missing(format string, args ...any) Number {
	return Number{Absent: fmt.Sprintf(format, args...)}
}

// NoSuch returns the number of a name that means nothing, with the likeliest name.
func NoSuch(c Condition, known []string) Number {
	if near := text.Closest(c.Name, known); near != "" {
		return Missing("there is no category %q; did you mean %q?", c.Name, near)
	}
	return Missing("there is no category %q; there are: %s", c.Name, strings.Join(known, ", "))
}

// OfComparison finds numbers in the comparison of a run with the baseline.
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

// nonInferior is the outcome of a difference that lies above the margin below 0.
const nonInferior = "non-inferior"

// CheckMargin refuses gates on equivalence when no margin is given.
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

// outcomeNumber returns 1 when a difference has the outcome. A difference may be both
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

// rarely is the chance below which a gate that an unchanged system passes gets a warning.
const rarely = 0.5

// Caution says that a system which did not change would rarely pass a gate on the lower
// end of the interval of a difference, and "" where it would pass often enough. The
// difference of an unchanged system scatters about 0 as widely as its interval says.
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

// OfReport finds numbers in the report of one run: "overall" and "score" are its
// headline, and a category is the headline of that category.
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

// CheckReport refuses gates that no report of a run could meet, before there is one and
// before it is paid for: a number in the wrong unit, a part that a score does not have,
// and a name that is neither a report's own nor one of the categories. Where categories
// is nil nobody knows them yet, and any name may be one.
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

// reportOn returns a report with every number that one over these categories may have.
func reportOn(categories []string) report.Report {
	all := report.Figures{Judged: new(stat.Estimate), Items: 1}
	r := report.Report{Items: 1, Judged: 1, Metrics: []report.Figures{all}}
	for _, name := range categories {
		r.Categories = append(r.Categories, report.Category{Name: name, Figures: all})
	}
	return r
}

// check says what is wrong with a condition where scope has every number.
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
