package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/catalog"
	"deem/internal/dataset"
	"deem/internal/probe"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge"
	"deem/judge/pairwise"
)

const probeHelp = `Stress-test a judge: ask it about answers that are known to be right or wrong, and print
its card.

From the references of your items deem makes answers that are wrong in a known way
(another item's reference, a number off by one, part of a list, a vague phrase, an
instruction to the judge, ...) and answers that are right but look different (another
order, another date format, polite phrases, a long text, ...). No model is used to make
them, and the same --seed makes the same ones. The responses in the data are not used.
--dry-run prints the probes and calls nothing.

The judge then judges the probes like any other items: the run is stored, can be resumed,
and pays for each call once. The card shows which kinds of wrong answers are accepted and
which right ones are rejected, each with its interval; the effect of instructions in a
response; the effect of length; and, with --trials, how consistent the judge is. It
applies only to the judge with the hash that it shows.

For a judge without references (faithful, relevant, context, helpful, refusal, memory-use,
safe-instructions) deem has a built-in set of probes: leave out --data.

--probes FILE adds probes written by people or a model: rows with a response, a kind, and
whether it is right (want: yes or no). A row names the item that it answers (of), or has
its own question and references.

--gate 'vague <= 10%' fails the command if the judge does worse. A gate is about a kind
(the share of errors; vague.hi is the upper end of its interval, vague.strict counts
unjudged probes as errors), or false_accepts, false_rejects, injection, turned, unjudged,
consistency, flips or length.

EXIT STATUS
  0 done   1 error   2 wrong usage or input   3 done, but too many probes unjudged
  4 a gate failed   130 interrupted: finished probes are saved; the same command resumes`

const probeExample = `  deem probe --data answers.jsonl --judge match
  deem probe --data answers.jsonl --judge grade --model openai:gpt-4o-mini --per-kind 50
  deem probe --data answers.jsonl --judge my-judge.yaml --model openai:gpt-4o-mini --card card.html
  deem probe --data answers.jsonl --judge grade --model openai:gpt-4o-mini --gate 'vague.hi <= 10%'
  deem probe --judge faithful --model openai:gpt-4o-mini --card faithful.html
  deem probe --data answers.jsonl --judge match --kinds vague,partial --dry-run`

// A probeOptions is the options of "deem probe".
type probeOptions struct {
	run     runOptions
	seed    uint64
	kinds   []string
	perKind int
	banks   []string
	cards   []string // files for the card
}

func (a *app) probeCommand() *cobra.Command {
	var o probeOptions
	cmd := &cobra.Command{
		Use: "probe [BENCHMARK] --data FILE [flags]", Short: "stress-test a judge", Long: probeHelp, Example: probeExample,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.run.setBenchmark(args); err != nil {
				return err
			}
			return a.probe(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Uint64Var(&o.seed, "seed", 1, "random seed, a `number`")
	f.StringSliceVar(&o.kinds, "kinds", nil, "make only these `kinds` of probes, for example vague,partial (default: all)")
	f.IntVar(&o.perKind, "per-kind", 100, "make at most `n` probes of each kind; each string of the injection kit is tried at least once")
	f.StringArrayVar(&o.banks, "probes", nil, "add the probes in this `file`; repeatable")
	f.StringArrayVar(&o.cards, "card", nil, "also write the card to this `file`: .html, .json or .txt; repeatable")
	o.run.flags(f)
	f.Lookup("gate").Usage = "exit with 4 unless this `condition` holds, for example 'vague <= 10%'; repeatable"
	notFromFile(f, "gate", "errata") // Probes are not items of the answer key.
	f.Lookup("dry-run").Usage = "print the probes, one in a line, and call nothing"
	return cmd
}

// check rejects invalid options before anything is opened.
func (o probeOptions) check() error {
	for _, k := range o.kinds {
		if !slices.Contains(probe.Kinds(), k) {
			return usage.Mark(usage.Unknown("kind of probe", k, probe.Kinds()))
		}
	}
	for _, name := range o.cards {
		if _, err := cardWriter(name); err != nil {
			return err
		}
	}
	if len(o.cards) > 0 && len(o.run.judges) > 1 {
		return usage.Errorf("--card is for one judge, and there are %d", len(o.run.judges))
	}
	if o.perKind < 1 {
		return usage.Errorf("--per-kind is %d; at least one probe of a kind must be made", o.perKind)
	}
	return nil
}

// probe makes the probes, runs each judge over them, and shows the cards.
func (a *app) probe(ctx context.Context, o probeOptions) error {
	gates, err := reports.ParseGates(o.run.gates)
	if err := errors.Join(err, o.check()); err != nil {
		return err
	}
	o.run.model.Uncalled = o.run.dryRun
	if len(o.run.data) == 0 && o.run.benchmark == nil && len(o.run.judges) > 0 {
		without := slices.ContainsFunc(o.run.judges, func(name string) bool {
			_, shipped := probe.Shipped(name, probe.Options{PerKind: 1})
			return !shipped
		})
		if !without {
			o.run.data = []string{shippedSet}
		}
	}
	judgings, data, err := a.openProbed(ctx, &o.run)
	if err != nil {
		return err
	}
	if data != nil {
		defer func() { _ = data.Close() }()
	}
	sets := make([]*probeSet, len(judgings))
	for i, g := range judgings {
		if sets[i], err = a.makeProbes(ctx, g, data, o); err != nil {
			return err
		}
	}
	o.run.benchmark = nil // its metrics and files are about the published items
	if o.run.dryRun {
		if a.json {
			return writeJSONList(a.out, sets[0].Items())
		}
		enc := json.NewEncoder(a.out)
		enc.SetEscapeHTML(false)
		for it, err := range sets[0].Items() {
			if err != nil {
				return err
			}
			if err := enc.Encode(it); err != nil {
				return err
			}
		}
		return nil
	}
	st, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	var cards []probe.Card
	for i, g := range judgings {
		id, _, err := a.judgeAll(ctx, st, g, sets[i], o.run)
		if err != nil {
			return err
		}
		run, err := st.Run(ctx, id)
		if err != nil {
			return err
		}
		head := reports.ProbeHead(run, o.run.maxUnjudged)
		head.Seed, head.Deem = o.seed, version()
		card, err := reports.ProbeCard(ctx, st, run, head)
		if err != nil {
			return err
		}
		cards = append(cards, card)
	}
	return a.showCards(cards, gates, o)
}

// A probeSet is the probes of one judge, as a dataset.
type probeSet struct {
	*probe.Set
	names []string // sources of the items, and how they were made
	hash  string
}

func (s *probeSet) Len() int        { return len(s.Probes()) }
func (s *probeSet) Hash() string    { return s.hash }
func (s *probeSet) Names() []string { return s.names }
func (s *probeSet) Notes() []string { return nil }
func (s *probeSet) Close() error    { return nil }

// makeProbes makes the probes for one judge: injections ask for its label for a right answer.
func (a *app) makeProbes(ctx context.Context, g catalog.Choice, data items, o probeOptions) (*probeSet, error) {
	opts := probe.Options{Seed: o.seed, Kinds: o.kinds, PerKind: o.perKind}
	if d := g.Spec.Declaration; d != nil && len(d.Labels) > 0 {
		opts.Accept = slices.MaxFunc(d.Labels, func(a, b judge.Label) int { return cmp.Compare(a.Score, b.Score) }).Label
	}
	if slices.Contains(g.Wanted(), pairwise.Field) {
		opts.ReferenceField, opts.Accept = pairwise.Field, "FIRST"
	}
	var made *probe.Set
	var source []string
	shipped := data == nil
	if shipped {
		made, _ = probe.Shipped(g.Name(), opts) // The caller has checked that there is one.
		set := &probeSet{Set: made, names: []string{"the set of " + g.Name()}}
		data, source = set, set.names
	} else {
		var err error
		if made, err = probe.Make(data.Items(), opts); err != nil {
			return nil, usage.Mark(err)
		}
		source = slices.Clone(data.Names())
	}
	for _, name := range o.banks {
		bank, err := dataset.Open(ctx, dataset.Source{Names: []string{name}, Fields: []string{"kind", "want", "of", "probe", "probe_want", "probe_of"}})
		if err != nil {
			return nil, usage.Mark(err)
		}
		err = made.AddBank(bank.Items(), data.Items())
		_ = bank.Close()
		if err != nil {
			return nil, usage.Mark(fmt.Errorf("%s: %w", name, err))
		}
		source = append(source, name)
	}
	hash, err := deem.DatasetHash(made.Items())
	if err != nil {
		return nil, err
	}
	set := &probeSet{made, store.ProbeNames(source, o.seed), hash}
	if shipped {
		a.say("%s of %s", words.Count(set.Len(), "probe"), source[0])
	} else {
		absent := ""
		if kinds := made.Absent(); len(kinds) > 0 {
			absent = "; none of kind " + strings.Join(kinds, ", ")
		}
		a.say("%s made from %s with seed %d%s", words.Count(set.Len(), "probe"), words.Count(data.Len(), "item"), o.seed, absent)
	}
	return set, preflight(ctx, g, set, mapHint)
}

// shippedSet is the data if the probes are those shipped with deem.
const shippedSet = "\x00set"

// openProbed opens judges and data like a run, and adds columns of the data with values
// that were right before an update. Standard input cannot be read twice; there, name such a
// column with --map field.stale=COLUMN.
func (a *app) openProbed(ctx context.Context, o *runOptions) ([]catalog.Choice, items, error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	// Whether the judges can judge is tested on the probes: a judge may need fields that
	// only probes have.
	judgings, err := a.openJudges(o)
	if err != nil {
		return nil, nil, err
	}
	if o.data[0] == shippedSet {
		return judgings, nil, nil
	}
	data, err := a.openData(ctx, o, judgings)
	if err != nil || o.benchmark != nil || slices.Contains(o.data, "-") {
		return judgings, data, err
	}
	all, err := a.openItems(ctx, *o, nil, probe.StaleFields...)
	if err != nil {
		return nil, nil, errors.Join(usage.Mark(err), data.Close())
	}
	defer func() { _ = all.Close() }()
	stale := map[string]string{} // the earlier right values, by item
	for it, err := range all.Items() {
		if err != nil {
			return nil, nil, errors.Join(err, data.Close())
		}
		for _, name := range probe.StaleFields {
			if value := strings.TrimSpace(it.Fields[name]); value != "" {
				stale[it.ID] = value
				break
			}
		}
	}
	if len(stale) == 0 {
		return judgings, data, nil
	}
	return judgings, view(data, changed(data, func(_ int, it deem.Item) (deem.Item, bool) {
		if value, ok := stale[it.ID]; ok {
			it = withField(it, probe.StaleFields[0], value)
		}
		return it, true
	})), nil
}

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
	switch {
	case a.json && len(all) == 1:
		_ = writeJSON(a.out, all[0])
	case a.json:
		_ = writeJSON(a.out, map[string]any{"cards": all})
	default:
		for i, c := range all {
			if i > 0 {
				a.line()
			}
			if err := a.document(reports.ProbeDocument(c.Card)); err != nil {
				return errors.Join(err, wrong)
			}
			printGates(a.out, c.Gates)
		}
	}
	if wrong != nil {
		return wrong
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
