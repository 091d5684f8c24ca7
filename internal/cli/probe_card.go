package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"deem"
	"deem/internal/findings"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/probe"
	reportprobe "deem/report/probe"
)

// card counts what the judge did.
func (a *app) card(ctx context.Context, st store.Store, id string, set *probeSet, o probeOptions) (probe.Card, error) {
	run, err := st.Run(ctx, id)
	if err != nil {
		return probe.Card{}, err
	}
	h := findings.ProbeHead(run, o.run.maxUnjudged)
	h.Sources, h.Seed, h.Deem = set.Sources(), o.seed, version()
	return findings.Card(ctx, st, run, h)
}

// A cardJSON is a card with what became of the gates.
type cardJSON struct {
	probe.Card
	Gates []gateOutcome `json:"gates,omitempty"`
}

// showCards prints the cards, writes them to files, and holds the gates against them.
func (a *app) showCards(cards []probe.Card, gates []gate, o probeOptions) error {
	var all []cardJSON
	var outcomes []gateOutcome
	for _, c := range cards {
		held, err := evalGates(gates, cardScope(c))
		if err != nil {
			return err
		}
		all = append(all, cardJSON{c, held})
		outcomes = append(outcomes, held...)
	}
	for _, name := range o.cards {
		if err := a.writeCard(name, cards[0]); err != nil {
			return err
		}
	}
	if err := a.printCards(all); err != nil {
		return err
	}
	if err := gatesFailed(outcomes); err != nil {
		return err
	}
	for _, c := range cards {
		if c.Withheld() {
			err := fmt.Errorf("%w: %s of %s, and more than %s withholds a rate", errUnjudged, words.Thousands(c.Unjudged), words.Count(c.Probes, "probe"), shareFlag{&c.MaxUnjudged})
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
		if err := reportprobe.Text(a.out, c.Card); err != nil {
			return err
		}
		a.printGates(c.Gates)
	}
	return nil
}

// printGates prints what became of the gates of one card.
func (a *app) printGates(outcomes []gateOutcome) {
	if len(outcomes) == 0 {
		return
	}
	fmt.Fprintln(a.out, "\ngates")
	for _, o := range outcomes {
		mark := "FAIL"
		if o.OK {
			mark = "ok"
		}
		fmt.Fprintf(a.out, "  %-4s  %s  (%s)\n", mark, words.Printable(o.Gate), words.Printable(o.Detail))
	}
}

// writeCard writes the card to a file, in the place of an older one.
func (a *app) writeCard(name string, c probe.Card) error {
	form, err := cardWriter(name)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	if err := form(&buf, c); err != nil {
		return err
	}
	if err := replaceFile(name, buf.Bytes()); err != nil {
		return usage.Mark(err)
	}
	a.say("wrote %s", name)
	return nil
}

// cardScope finds numbers on a card. A rate of which too many probes are unjudged is
// none; its strict form counts them as errors.
func cardScope(c probe.Card) gateScope {
	return func(cond condition) gateNumber {
		switch {
		case cond.name == "false_accepts":
			return rateNumber(c, cond, c.FalseAccepts)
		case cond.name == "false_rejects":
			return rateNumber(c, cond, c.FalseRejects)
		case cond.name == "turned" && c.Injected != nil:
			return rateNumber(c, cond, c.Injected.Turned)
		case cond.name == "unjudged":
			return gateNumber{value: float64(c.Unjudged) / float64(max(c.Probes, 1)), what: share}
		case cond.name == "consistency":
			return consistencyNumber(c, cond)
		case cond.name == "flips":
			return flipsNumber(c, cond)
		case cond.name == "length":
			return lengthNumber(c, cond)
		}
		if r, ok := c.Rate(probe.Kind(cond.name)); ok {
			return rateNumber(c, cond, r.Rate)
		}
		known := []string{"false_accepts", "false_rejects", "turned", "unjudged", "consistency", "flips", "length"}
		for _, r := range c.Kinds {
			known = append(known, string(r.Kind))
		}
		return noSuch(cond, known)
	}
}

// rateNumber returns one number of a rate.
func rateNumber(c probe.Card, cond condition, r probe.Rate) gateNumber {
	switch {
	case cond.part == "strict" && r.Probes > 0:
		return gateNumber{value: r.Band[1], what: share}
	case cond.part == "n":
		return gateNumber{value: float64(r.Judged), what: plain}
	case c.Thin(r):
		return missing("%s is withheld: %s of %s unjudged", cond.name, words.Thousands(r.Unjudged), words.Count(r.Probes, "probe"))
	case r.Estimate == nil:
		return missing("no probe of %s was judged", cond.name)
	}
	return figuresNumber(cond.part, r.Estimate, *r.Estimate, r.Probes)
}

func consistencyNumber(c probe.Card, cond condition) gateNumber {
	if c.Consistency == nil {
		return missing("consistency needs --trials 2 or more")
	}
	est := c.Consistency.Steady
	return figuresNumber(cond.part, &est, est, c.Consistency.Probes)
}

// flipsNumber returns how often the order of two responses decides.
func flipsNumber(c probe.Card, cond condition) gateNumber {
	if c.Order == nil {
		return missing("the judge compares no two responses, so there are no flips")
	}
	return figuresNumber(cond.part, &c.Order.Flips, c.Order.Flips, c.Order.Pairs)
}

// lengthNumber returns by how much more often wrong answers are accepted in a long text.
func lengthNumber(c probe.Card, cond condition) gateNumber {
	if c.Length == nil || c.Length.Wrong == nil {
		return missing("no wrong answer was judged both as it is and in a long text")
	}
	est := c.Length.Wrong.Estimate
	n := figuresNumber(cond.part, &est, est, est.N)
	if n.what == share {
		n.what = points
	}
	return n
}

// A cardForm writes a card in one form.
type cardForm func(w io.Writer, c probe.Card) error

// cardWriter returns the form that the name of a file asks for.
func cardWriter(name string) (cardForm, error) {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".html", ".htm":
		return reportprobe.HTML, nil
	case ".json":
		return reportprobe.JSON, nil
	case ".txt":
		return reportprobe.Text, nil
	default:
		return nil, usage.Errorf("--card %s: a card is written as .html, .json or .txt", name)
	}
}
