package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"deem/internal/usage"
	"deem/report"
	"deem/report/compare"
	"deem/stat"
	"deem/text"
)

// errGate means that a gate did not hold.
var errGate = errors.New("a gate failed")

// A gate is a condition that decides the exit code: "p < 0.05 and overall > 0". "and"
// binds stronger than "or", and there are no parentheses.
type gate struct {
	text  string
	anyOf [][]condition // one of these lists must hold as a whole
}

// A condition compares one number with another.
type condition struct {
	name   string
	quoted bool   // the name stands in quotes, so it is a category
	part   string // "lo" of "overall.lo"; "" is the value
	op     string
	want   float64
	unit   string // "pp", "%" or ""
	at     int    // where the number stands, in characters from 1
}

// A measure says what a number in a gate is, and so how it may be written.
type measure int

const (
	points measure = iota // a difference of two shares
	share                 // a share from 0 to 1
	plain                 // a p-value or a count
)

// A gateNumber is what a name in a gate stands for.
type gateNumber struct {
	value  float64
	what   measure
	absent string // why there is no number, in a sentence without a full stop
}

// A gateScope finds the number that a condition speaks of.
type gateScope func(c condition) gateNumber

// A gateOutcome is what became of a gate.
type gateOutcome struct {
	Gate   string `json:"gate"`
	Run    string `json:"run,omitempty"` // the run it was held against, if there are several
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// evalGates holds every gate against what scope finds. Its error is a gate that is
// wrong in itself, as one that wants a share in percentage points; a gate that does
// not hold is an outcome.
func evalGates(gates []gate, scope gateScope) ([]gateOutcome, error) {
	outcomes := make([]gateOutcome, 0, len(gates))
	for _, g := range gates {
		o, err := g.eval(scope)
		if err != nil {
			return nil, usage.Mark(fmt.Errorf("gate %q: %w", g.text, err))
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// gatesFailed returns errGate unless all gates hold.
func gatesFailed(outcomes []gateOutcome) error {
	failed := 0
	for _, o := range outcomes {
		if !o.OK {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d of %d", errGate, failed, len(outcomes))
}

// eval holds one gate against what scope finds.
func (g gate) eval(scope gateScope) (gateOutcome, error) {
	out := gateOutcome{Gate: g.text}
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
func (c condition) eval(n gateNumber) (ok bool, detail string, err error) {
	if n.absent != "" {
		return false, n.absent, nil
	}
	want, err := c.wanted(n.what)
	if err != nil {
		return false, "", err
	}
	// 2.6pp and 13 of 500 are one number, although their last digits may differ.
	equal := math.Abs(n.value-want) <= 1e-12
	switch c.op {
	case ">=":
		ok = n.value > want || equal
	case "<=":
		ok = n.value < want || equal
	case ">":
		ok = n.value > want && !equal
	case "<":
		ok = n.value < want && !equal
	case "==":
		ok = equal
	case "!=":
		ok = !equal
	}
	return ok, c.title() + " is " + n.String(), nil
}

// wanted returns the number of the condition in the measure of what it is compared
// with. Percent of a difference could mean two things, so it means neither.
func (c condition) wanted(what measure) (float64, error) {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("character %d: %s", c.at, fmt.Sprintf(format, args...))
	}
	number := strconv.FormatFloat(c.want, 'g', -1, 64)
	switch {
	case what == points && c.unit == "%":
		return 0, fault("%s is a difference of percentages: write %spp", c.title(), number)
	case what == points && c.unit == "" && math.Abs(c.want) > 1:
		return 0, fault("%s is a difference from -1 to 1: write %spp for percentage points", c.title(), number)
	case what == share && c.unit == "pp":
		return 0, fault("%s is a share and no difference: write %s%%", c.title(), number)
	case what == share && c.unit == "" && math.Abs(c.want) > 1:
		return 0, fault("%s is a share from 0 to 1: write %s%% for a percentage", c.title(), number)
	case what == plain && c.unit != "":
		return 0, fault("%s is a plain number: write it without %s", c.title(), c.unit)
	case c.unit != "":
		return c.want / 100, nil
	}
	return c.want, nil
}

// title returns the name and the part as they were written.
func (c condition) title() string {
	name := c.name
	if c.quoted {
		name = strconv.Quote(name)
	}
	if c.part != "" {
		name += "." + c.part
	}
	return name
}

// String returns the number in its measure.
func (n gateNumber) String() string {
	switch n.what {
	case points:
		return strconv.FormatFloat(100*n.value, 'f', 2, 64) + " pp"
	case share:
		return strconv.FormatFloat(100*n.value, 'f', 2, 64) + "%"
	}
	return strconv.FormatFloat(n.value, 'g', 4, 64)
}

// missing returns a number that is not there, with the reason.
func missing(format string, args ...any) gateNumber {
	return gateNumber{absent: fmt.Sprintf(format, args...)}
}

// noSuch returns the number of a name that means nothing, with the likeliest name.
func noSuch(c condition, known []string) gateNumber {
	if near := text.Closest(c.name, known); near != "" {
		return missing("there is no category %q; did you mean %q?", c.name, near)
	}
	return missing("there is no category %q; there are: %s", c.name, strings.Join(known, ", "))
}

// compareScope finds numbers in the comparison of a run with the baseline.
func compareScope(c compare.Comparison, pair compare.Pair) gateScope {
	run := c.Runs[pair.Second]
	return func(cond condition) gateNumber {
		if !cond.quoted {
			switch cond.name {
			case "overall":
				return differenceNumber(cond.part, pair.Overall, c.Hold)
			case "p", "n", "wins", "losses", "ties":
				return differenceNumber(cond.name, pair.Overall, c.Hold)
			case "unjudged":
				return gateNumber{value: float64(run.Unjudged) / float64(max(run.Items, 1)), what: share}
			case "score":
				return figuresNumber(cond.part, run.Judged, run.Strict, run.Items)
			}
		}
		known := []string{"overall", "p", "unjudged", "score", "wins", "losses", "ties", "n"}
		for _, d := range pair.Categories {
			if d.Category == cond.name {
				return differenceNumber(cond.part, d, c.Hold)
			}
			known = append(known, d.Category)
		}
		return noSuch(cond, known)
	}
}

// differenceNumber returns one number of a difference.
func differenceNumber(part string, d compare.Difference, hold *compare.Hold) gateNumber {
	switch {
	case part == "strict":
		return gateNumber{value: d.Strict.Value, what: points}
	case d.Estimate == nil && hold != nil:
		return missing("the difference is withheld: %s", hold.Reason)
	case d.Estimate == nil:
		return missing("no item was judged by both, so there is no difference")
	}
	switch part {
	case "lo":
		return gateNumber{value: d.Estimate.Lo, what: points}
	case "hi":
		return gateNumber{value: d.Estimate.Hi, what: points}
	case "p":
		if d.Adjusted == nil {
			return missing("there is no p-value of this difference")
		}
		return gateNumber{value: *d.Adjusted, what: plain}
	case "n":
		return gateNumber{value: float64(d.N), what: plain}
	case "wins":
		return gateNumber{value: float64(d.Wins), what: plain}
	case "losses":
		return gateNumber{value: float64(d.Losses), what: plain}
	case "ties":
		return gateNumber{value: float64(d.Ties), what: plain}
	}
	return gateNumber{value: d.Estimate.Value, what: points}
}

// reportScope finds numbers in the report of one run: "overall" and "score" are its
// headline, and a category is the headline of that category.
func reportScope(r report.Report) gateScope {
	return func(cond condition) gateNumber {
		if !cond.quoted {
			switch cond.name {
			case "overall", "score":
				return figuresOf(cond.part, r.Metrics[0])
			case "unjudged":
				return gateNumber{value: float64(r.Unjudged) / float64(max(r.Items, 1)), what: share}
			case "n":
				return gateNumber{value: float64(r.Judged), what: plain}
			}
		}
		known := []string{"overall", "score", "unjudged", "n"}
		for _, c := range r.Categories {
			if c.Name == cond.name {
				return figuresOf(cond.part, c.Figures)
			}
			known = append(known, c.Name)
		}
		return noSuch(cond, known)
	}
}

func figuresOf(part string, f report.Figures) gateNumber {
	return figuresNumber(part, f.Judged, f.Strict, f.Items)
}

// figuresNumber returns one number of the figures of a run.
func figuresNumber(part string, judged *stat.Estimate, strict stat.Estimate, items int) gateNumber {
	switch {
	case part == "strict" && items > 0:
		return gateNumber{value: strict.Value, what: share}
	case judged == nil:
		return missing("there is no score: too many items are unjudged, or all")
	}
	switch part {
	case "":
		return gateNumber{value: judged.Value, what: share}
	case "lo":
		return gateNumber{value: judged.Lo, what: share}
	case "hi":
		return gateNumber{value: judged.Hi, what: share}
	case "n":
		return gateNumber{value: float64(judged.N), what: plain}
	}
	return missing("a score has no %s; it has lo, hi, n and strict", part)
}
