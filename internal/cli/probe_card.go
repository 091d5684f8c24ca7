package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"deem"
	"deem/internal/reports"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/probe"
)

// A cardJSON is a card with the outcomes of the gates.
type cardJSON struct {
	probe.Card
	Gates []reports.GateOutcome `json:"gates,omitempty"`
}

// showCards prints the cards, writes them to files, and checks the gates.
func (a *app) showCards(cards []probe.Card, gates []reports.Gate, o probeOptions) error {
	var all []cardJSON
	var outcomes []reports.GateOutcome
	var wrong error // an invalid gate, which must not suppress the cards
	for _, c := range cards {
		held, err := reports.HoldGates(gates, cardScope(c))
		wrong = cmp.Or(wrong, err)
		all = append(all, cardJSON{c, held})
		outcomes = append(outcomes, held...)
	}
	for _, name := range o.cards {
		form, err := cardWriter(name)
		if err != nil {
			return err
		}
		if err := writeWhole(name, func(w io.Writer) error { return form(w, cards[0]) }); err != nil {
			return err
		}
		a.say("wrote %s", name)
	}
	if err := errors.Join(a.printCards(all), wrong); err != nil {
		return err
	}
	if err := gatesFailed(outcomes); err != nil {
		return err
	}
	for _, c := range cards {
		if c.Thin(c.FalseAccepts) || c.Thin(c.FalseRejects) {
			err := fmt.Errorf("%w: %s of %s, and more than %s withholds a rate", errUnjudged, words.Comma(c.Unjudged), words.Count(c.Probes, "probe"), percent(c.MaxUnjudged))
			return deem.WithHint(err, "the rates of each kind are shown with their unjudged probes; --max-unjudged allows more")
		}
	}
	return nil
}

func (a *app) printCards(all []cardJSON) error {
	if a.json {
		if len(all) == 1 {
			writeJSON(a.out, all[0])
		} else {
			writeJSON(a.out, map[string]any{"cards": all})
		}
		return nil
	}
	for i, c := range all {
		if i > 0 {
			a.line()
		}
		if err := a.document(reports.ProbeDocument(c.Card)); err != nil {
			return err
		}
		if len(c.Gates) > 0 {
			fmt.Fprintln(a.out, "\ngates")
		}
		for _, o := range c.Gates {
			mark := "FAIL"
			if o.OK {
				mark = "ok"
			}
			fmt.Fprintf(a.out, "  %-4s  %s  (%s)\n", mark, words.Printable(o.Gate), words.Printable(o.Detail))
		}
	}
	return nil
}

// cardScope finds numbers on a card. A rate with too many unjudged probes is absent; its
// strict form counts them as errors.
func cardScope(c probe.Card) reports.GateScope {
	return func(cond reports.GateCondition) reports.GateNumber {
		switch {
		case cond.Name == "false_accepts":
			return rateNumber(c, cond, c.FalseAccepts)
		case cond.Name == "false_rejects":
			return rateNumber(c, cond, c.FalseRejects)
		case cond.Name == "turned" && c.Injected != nil:
			return rateNumber(c, cond, c.Injected.Turned)
		case cond.Name == "unjudged":
			return reports.GateNumber{Value: float64(c.Unjudged) / float64(max(c.Probes, 1)), What: reports.GateShare}
		case cond.Name == "consistency" && c.Consistency == nil:
			return reports.MissingNumber("consistency needs --trials 2 or more")
		case cond.Name == "consistency":
			steady := c.Consistency.Steady
			return reports.FiguresNumber(cond.Part, &steady, steady, c.Consistency.Probes)
		case cond.Name == "flips" && c.Order == nil:
			return reports.MissingNumber("the judge does not compare two responses, so it has no flips")
		case cond.Name == "flips":
			return reports.FiguresNumber(cond.Part, &c.Order.Flips, c.Order.Flips, c.Order.Pairs)
		case cond.Name == "length" && (len(c.Length) == 0 || c.Length[0].Want):
			return reports.MissingNumber("no wrong answer was judged both as it is and in a long text")
		case cond.Name == "length": // how much more often wrong answers are accepted in long texts
			est := c.Length[0].Estimate
			n := reports.FiguresNumber(cond.Part, &est, est, est.N)
			if n.What == reports.GateShare {
				n.What = reports.GatePoints
			}
			return n
		}
		if r, ok := c.Rate(cond.Name); ok {
			return rateNumber(c, cond, r)
		}
		known := []string{"false_accepts", "false_rejects", "turned", "unjudged", "consistency", "flips", "length"}
		for _, r := range c.Kinds {
			known = append(known, r.Kind)
		}
		return reports.NoSuchCategory(cond, known)
	}
}

// rateNumber returns one number of a rate.
func rateNumber(c probe.Card, cond reports.GateCondition, r probe.Rate) reports.GateNumber {
	switch {
	case cond.Part == "strict" && r.Probes > 0:
		return reports.GateNumber{Value: r.Band[1], What: reports.GateShare}
	case cond.Part == "n":
		return reports.GateNumber{Value: float64(r.Judged), What: reports.GatePlain}
	case c.Thin(r):
		return reports.MissingNumber("%s is withheld: %s of %s unjudged", cond.Name, words.Comma(r.Unjudged), words.Count(r.Probes, "probe"))
	case r.Estimate == nil:
		return reports.MissingNumber("no probe of %s was judged", cond.Name)
	}
	return reports.FiguresNumber(cond.Part, r.Estimate, *r.Estimate, r.Probes)
}

// cardWriter returns the format for the extension of a file.
func cardWriter(name string) (func(w io.Writer, c probe.Card) error, error) {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".html", ".htm":
		return reports.ProbeHTML, nil
	case ".json":
		return reports.ProbeJSON, nil
	case ".txt":
		return reports.ProbeText, nil
	default:
		return nil, usage.Errorf("--card %s: a card is written as .html, .json or .txt", name)
	}
}
