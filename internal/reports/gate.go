package reports

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/reports/compare"
	"deem/internal/store"
	"deem/internal/text"
	"deem/internal/usage"
	"deem/report"
	"deem/stat"
)

// A Gate is a condition that decides an exit code, such as "overall.lo >= -1pp".
type Gate struct {
	Text      string // as given by the user
	condition GateCondition
}

// A GateCondition compares one number with another.
type GateCondition struct {
	Name   string
	Quoted bool   // the name is in quotes, so it is a category
	Part   string // "lo" of "overall.lo"; "" is the value
	op     string
	want   float64
	unit   string // "pp", "%" or ""
	at     int    // position of the number, in characters from 1
	word   bool   // an outcome, such as "equivalent", without a comparison
}

// A GateMeasure says what kind of number a gate refers to, and so how it may be written.
type GateMeasure int

// The measures of numbers.
const (
	GatePoints GateMeasure = iota // a difference between two shares
	GateShare                     // a share from 0 to 1
	GatePlain                     // a p-value or a count
)

// A GateNumber is the value of a name in a gate.
type GateNumber struct {
	Value  float64
	What   GateMeasure
	Absent string // why there is no number, in a sentence without a full stop
	Words  string // for an outcome, what was found
}

// A GateScope returns the number that a condition refers to.
type GateScope func(c GateCondition) GateNumber

// A GateOutcome is the result of a gate.
type GateOutcome struct {
	Gate   string `json:"gate"`
	Run    string `json:"run,omitempty"` // the run it was checked against, if there are several
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`

	// Warning says that the gate demands more than this number of items can show.
	Warning string `json:"warning,omitempty"`
}

// HoldGates checks every gate against the numbers of scope. It returns an error if a gate is
// invalid, for example if it compares a share with percentage points; a gate that does not
// hold is an outcome.
func HoldGates(gates []Gate, scope GateScope) ([]GateOutcome, error) {
	outcomes := make([]GateOutcome, 0, len(gates))
	for _, g := range gates {
		ok, detail, err := g.condition.eval(scope(g.condition))
		if err != nil {
			return nil, usage.Mark(fmt.Errorf("gate %q: %w", g.Text, err))
		}
		outcomes = append(outcomes, GateOutcome{Gate: g.Text, OK: ok, Detail: detail})
	}
	return outcomes, nil
}

// eval compares one number. A condition on a missing number does not hold.
func (c GateCondition) eval(n GateNumber) (ok bool, detail string, err error) {
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
func (c GateCondition) wanted(what GateMeasure) (float64, error) {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("character %d: %s", c.at, fmt.Sprintf(format, args...))
	}
	number := strconv.FormatFloat(c.want, 'g', -1, 64)
	switch {
	case what == GatePoints && c.unit == "%":
		return 0, fault("%s is a difference of percentages: write %spp", c.title(), number)
	case what == GatePoints && c.unit == "" && math.Abs(c.want) > 1:
		return 0, fault("%s is a difference from -1 to 1: write %spp for percentage points", c.title(), number)
	case what == GateShare && c.unit == "pp":
		return 0, fault("%s is a share and no difference: write %s%%", c.title(), number)
	case what == GateShare && c.unit == "" && math.Abs(c.want) > 1:
		return 0, fault("%s is a share from 0 to 1: write %s%% for a percentage", c.title(), number)
	case what == GatePlain && c.unit != "":
		return 0, fault("%s is a plain number: write it without %s", c.title(), c.unit)
	case c.unit != "":
		return c.want / 100, nil
	}
	return c.want, nil
}

// title returns the name and the part as written.
func (c GateCondition) title() string {
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
func (n GateNumber) String() string {
	switch n.What {
	case GatePoints:
		return strconv.FormatFloat(100*n.Value, 'f', 2, 64) + " pp"
	case GateShare:
		return strconv.FormatFloat(100*n.Value, 'f', 2, 64) + "%"
	}
	return strconv.FormatFloat(n.Value, 'g', 4, 64)
}

// MissingNumber returns a missing number, with the reason in a sentence without a full stop.
func MissingNumber(format string, args ...any) GateNumber {
	return GateNumber{Absent: fmt.Sprintf(format, args...)}
}

// NoSuchCategory returns a missing number for an unknown name, with the closest known name.
func NoSuchCategory(c GateCondition, known []string) GateNumber {
	if near := text.Closest(c.Name, known); near != "" {
		return MissingNumber("there is no category %q; did you mean %q?", c.Name, near)
	}
	return MissingNumber("there is no category %q; there are: %s", c.Name, strings.Join(known, ", "))
}

// ComparisonScope returns the scope of the comparison of a run with the baseline.
func ComparisonScope(c compare.Comparison, pair compare.Pair) GateScope {
	run := c.Runs[pair.Second]
	return func(cond GateCondition) GateNumber {
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
					return MissingNumber("there is no corrected difference of this kind: it takes --labels of both runs")
				}
				return differenceNumber(cond.Part, k.Difference(), c.Hold)
			case "p", "n", "wins", "losses", "ties":
				return differenceNumber(cond.Name, pair.Overall, c.Hold)
			case "unjudged":
				return GateNumber{Value: float64(run.Unjudged) / float64(max(run.Items, 1)), What: GateShare}
			case "score":
				return FiguresNumber(cond.Part, run.Judged, run.Strict, run.Items)
			}
		}
		known := []string{"overall", "corrected", "p", "unjudged", "score", "wins", "losses", "ties", "n"}
		for _, d := range pair.Categories {
			if d.Category == cond.Name {
				return differenceNumber(cond.Part, d, c.Hold)
			}
			known = append(known, d.Category)
		}
		return NoSuchCategory(cond, known)
	}
}

func differenceNumber(part string, d compare.Difference, hold *compare.Hold) GateNumber {
	switch {
	case part == "strict":
		return GateNumber{Value: d.Strict.Value, What: GatePoints}
	case d.Estimate == nil && hold != nil:
		return MissingNumber("the difference is withheld: %s", hold.Reason)
	case d.Estimate == nil:
		return MissingNumber("no item was judged by both, so there is no difference")
	case (part == "lo" || part == "hi") && d.Estimate.Method == stat.MethodNone:
		return MissingNumber("the data allow no interval of this difference")
	}
	switch part {
	case "lo":
		return GateNumber{Value: d.Estimate.Lo, What: GatePoints}
	case "hi":
		return GateNumber{Value: d.Estimate.Hi, What: GatePoints}
	case "p":
		if d.Adjusted == nil {
			return MissingNumber("there is no p-value of this difference")
		}
		return GateNumber{Value: *d.Adjusted, What: GatePlain}
	case "n":
		return GateNumber{Value: float64(d.N), What: GatePlain}
	case "wins":
		return GateNumber{Value: float64(d.Wins), What: GatePlain}
	case "losses":
		return GateNumber{Value: float64(d.Losses), What: GatePlain}
	case "ties":
		return GateNumber{Value: float64(d.Ties), What: GatePlain}
	}
	return GateNumber{Value: d.Estimate.Value, What: GatePoints}
}

// nonInferior is the outcome of a difference that is not worse than minus the margin.
const nonInferior = "non-inferior"

// CheckMargin rejects gates on equivalence if no margin is given.
func CheckMargin(gates []Gate, margin float64) error {
	for _, g := range gates {
		if c := g.condition; c.word && margin == 0 && (c.Name == compare.Equivalent || c.Name == nonInferior) {
			return usage.Mark(deem.WithHint(fmt.Errorf("gate %q: within which margin?", g.Text), "add --margin 1pp"))
		}
	}
	return nil
}

// gateOutcomes are the words that a gate may consist of.
var gateOutcomes = []string{compare.Better, compare.Worse, compare.Equivalent, compare.Undecided, nonInferior}

// outcomeNumber returns 1 if a difference has the outcome. A difference may be both
// established and equivalent.
func outcomeNumber(word string, d compare.Difference, hold *compare.Hold) GateNumber {
	e := d.Equivalence
	holds := d.Outcome == word
	switch {
	case d.Estimate == nil:
		return differenceNumber("", d, hold)
	case e == nil && (word == compare.Equivalent || word == nonInferior):
		return MissingNumber("no margin was given within which it could be %s", word)
	case word == compare.Equivalent:
		holds = e.Equivalent
	case word == nonInferior:
		holds = e.NonInferior
	}
	n := GateNumber{What: GatePlain, Words: fmt.Sprintf("the outcome is %s, %.2f pp %s", d.Outcome, 100*d.Estimate.Value, d.Estimate.Ends("%.2f", 100))}
	if e != nil {
		n.Words += fmt.Sprintf("; %s within ±%s pp: p = %.4g", word, strconv.FormatFloat(100*e.Margin, 'g', 4, 64), map[bool]float64{true: e.P, false: e.NotWorse}[word != nonInferior])
	}
	if holds {
		n.Value = 1
	}
	return n
}

// rarePass is the probability below which a gate gets a warning: that of an unchanged system
// passing it.
const rarePass = 0.5

// Caution returns a warning if an unchanged system would rarely pass a gate on the lower
// end of the interval of a difference, and "" otherwise. The difference of an unchanged
// system scatters around 0 with the width of its interval.
func (g Gate) Caution(d compare.Difference) string {
	if d.Estimate == nil {
		return ""
	}
	c := g.condition
	want, err := c.wanted(GatePoints)
	if c.Name != "overall" || c.Quoted || c.Part != "lo" || c.op[0] != '>' || err != nil || want > 0 {
		return ""
	}
	chance := passesUnchanged(*d.Estimate, want)
	if chance >= rarePass {
		return ""
	}
	return fmt.Sprintf("a system that did not change passes %s %s %spp in %.0f%% of cases with these %d items; "+
		"--margin with the gate non-inferior asks for less, and deem plan --margin says how many items it takes",
		c.title(), c.op, strconv.FormatFloat(100*want, 'g', 4, 64), 100*chance, d.N)
}

// passesUnchanged returns the probability that the lower end of the interval of a difference
// reaches a bound, for example -0.01, if there is no difference and the interval is as wide
// as this one: by the normal distribution, with the half-width of the interval as the number
// of standard errors for its level.
func passesUnchanged(est stat.Estimate, bound float64) float64 {
	z := math.Sqrt2 * math.Erfinv(est.Level)
	se := (est.Hi - est.Lo) / 2 / z
	if !(se > 0) {
		return 1
	}
	return 0.5 * math.Erfc((bound/se+z)/math.Sqrt2)
}

// ReportScope returns the scope of the report of one run: "overall" and "score" are its
// headline score, and a category is the score of that category.
func ReportScope(r report.Report) GateScope {
	return func(cond GateCondition) GateNumber {
		if !cond.Quoted {
			switch cond.Name {
			case "overall", "score":
				f := r.Metrics[0]
				return FiguresNumber(cond.Part, f.Judged, f.Strict, f.Items)
			case "unjudged":
				return GateNumber{Value: float64(r.Unjudged) / float64(max(r.Items, 1)), What: GateShare}
			case "n":
				return GateNumber{Value: float64(r.Judged), What: GatePlain}
			}
		}
		known := []string{"overall", "score", "unjudged", "n"}
		for _, c := range r.Categories {
			if c.Name == cond.Name {
				return FiguresNumber(cond.Part, c.Judged, c.Strict, c.Items)
			}
			known = append(known, c.Name)
		}
		return NoSuchCategory(cond, known)
	}
}

// Gates checks the report of a run against gates: those given, and those promised when the
// run was locked.
func Gates(gates []Gate, run store.Run, r report.Report) ([]GateOutcome, error) {
	if l := SettingsOf(run.Spec).Lock; l != nil {
		locked, err := ParseGates(l.Gates)
		if err != nil {
			return nil, err
		}
		gates = slices.Clone(gates)
		for _, g := range locked {
			if !slices.ContainsFunc(gates, func(have Gate) bool { return have.Text == g.Text }) {
				gates = append(gates, g)
			}
		}
	}
	return HoldGates(gates, ReportScope(r))
}

// CheckGates rejects gates that no report of a run could meet, before the run is paid for:
// a number in the wrong unit, a part that a score does not have, and a name that is neither
// one of a report nor a category. If categories is nil they are not known yet, and any name
// may be one.
func CheckGates(gates []Gate, categories []string) error {
	for _, g := range gates {
		c, names := g.condition, categories
		if categories == nil {
			names = []string{c.Name}
		}
		// A report with every number that a report over these categories may have.
		all := report.Figures{Judged: new(stat.Estimate), Items: 1}
		r := report.Report{Items: 1, Judged: 1, Metrics: []report.Figures{all}}
		for _, name := range names {
			r.Categories = append(r.Categories, report.Category{Name: name, Figures: all})
		}
		n := ReportScope(r)(c)
		_, err := c.wanted(n.What)
		if n.Absent != "" {
			err = errors.New(n.Absent)
		}
		if err != nil {
			return usage.Mark(fmt.Errorf("gate %q: %w", g.Text, err))
		}
	}
	return nil
}

// FiguresNumber returns one number of the figures of a run.
func FiguresNumber(part string, judged *stat.Estimate, strict stat.Estimate, items int) GateNumber {
	switch {
	case part == "strict" && items > 0:
		return GateNumber{Value: strict.Value, What: GateShare}
	case judged == nil:
		return MissingNumber("there is no score: too many items are unjudged, or all")
	case (part == "lo" || part == "hi") && judged.Method == stat.MethodNone:
		return MissingNumber("the data allow no interval: %s", strings.Join(judged.Warnings, "; "))
	}
	switch part {
	case "":
		return GateNumber{Value: judged.Value, What: GateShare}
	case "lo":
		return GateNumber{Value: judged.Lo, What: GateShare}
	case "hi":
		return GateNumber{Value: judged.Hi, What: GateShare}
	case "n":
		return GateNumber{Value: float64(judged.N), What: GatePlain}
	}
	return MissingNumber("a score has no %s; it has lo, hi, n and strict", part)
}
