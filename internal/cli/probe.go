package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/dataset"
	"deem/internal/store"
	"deem/judge"
	"deem/probe"
	reportprobe "deem/report/probe"
)

const probeHelp = `Stress a judge: ask it about answers whose worth is known, and print its card.

From the references of your items deem makes answers that are wrong in a certain way
(another item's reference, a number off by one, a part of a list, a vague phrase, an
instruction to the judge, ...) and answers that are right though they look different
(another order, a date written otherwise, courtesies, a long text, ...). No model is
asked to make them, and the same --seed makes the same ones. The responses in the data
are not used. --dry-run prints the probes and calls nothing.

The judge then goes over the probes as over any other items: the run is kept, goes on
when it was interrupted, and pays for each call once. The card says which kinds of wrong
answers are accepted and which right ones are rejected, each with its interval; what
instructions in a response achieve; what length does; and, with --trials, how steady the
judge is. It holds for the judge with the hash that it shows, and for no other.

--probes FILE adds answers that people or a model wrote: rows with a response, a kind,
and whether it is right (want: yes or no). A row names the item that it answers (of), or
has a question and references of its own.

--gate 'vague <= 10%' fails the command when the judge does worse. A gate speaks of a
kind (the share of errors; vague.hi is the upper end of its interval, vague.strict counts
the unjudged as errors), of false_accepts, false_rejects, injection, turned, unjudged,
consistency or length.

EXIT STATUS
  0 done   1 could not   2 wrong usage or input   3 done, but too many probes unjudged
  4 a gate failed   130 interrupted: what was judged is saved, and the same command goes on`

const probeExample = `  deem probe --data answers.jsonl --judge match
  deem probe --data answers.jsonl --judge universal --model openai:gpt-4o-mini --per-kind 50
  deem probe --data answers.jsonl --judge my-judge.yaml --model openai:gpt-4o-mini --card card.html
  deem probe --data answers.jsonl --judge universal --model openai:gpt-4o-mini --gate 'vague.hi <= 10%'
  deem probe --data answers.jsonl --judge match --kinds vague,partial --dry-run`

// A probeOptions is what "deem probe" was told.
type probeOptions struct {
	run     runOptions
	seed    uint64
	kinds   []string
	perKind int
	banks   []string
	cards   []string // files to write the card to
}

func (a *app) probeCommand() *cobra.Command {
	var o probeOptions
	cmd := &cobra.Command{
		Use: "probe [BENCHMARK] --data FILE [flags]", Short: "stress a judge", Long: probeHelp, Example: probeExample,
		Args: atMost(1), ValidArgs: benchmarkNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.run.setBenchmark(args); err != nil {
				return err
			}
			return a.probe(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Uint64Var(&o.seed, "seed", 1, "the `number` that chance begins with")
	f.StringSliceVar(&o.kinds, "kinds", nil, "make only these `kinds` of probes, as vague,partial (default: all)")
	f.IntVar(&o.perKind, "per-kind", probe.DefaultPerKind, "make `n` probes of each kind at most; each string of the injection kit is tried at least once")
	f.StringArrayVar(&o.banks, "probes", nil, "add the probes in this `file`; may be given again")
	f.StringArrayVar(&o.cards, "card", nil, "write the card to this `file` too: .html, .json or .txt; may be given again")
	o.run.flags(f)
	f.Lookup("gate").Usage = "exit with 4 unless this `condition` holds, as 'vague <= 10%'; may be given again"
	f.Lookup("dry-run").Usage = "print the probes, one in a line, and call nothing"
	return cmd
}

// check refuses what makes no sense before anything is opened.
func (o probeOptions) check() error {
	for _, k := range o.kinds {
		if _, ok := probe.Kind(k).Want(); !ok {
			return usage(unknown("kind of probe", k, kindNames()))
		}
	}
	for _, name := range o.cards {
		if _, err := cardWriter(name); err != nil {
			return err
		}
	}
	if len(o.cards) > 0 && len(o.run.judges) > 1 {
		return usagef("--card is for one judge, and there are %d", len(o.run.judges))
	}
	if o.perKind < 1 {
		return usagef("--per-kind is %d; at least one probe of a kind must be made", o.perKind)
	}
	return nil
}

func kindNames() []string {
	var names []string
	for _, k := range probe.Kinds() {
		names = append(names, string(k))
	}
	return names
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
		return nil, usagef("--card %s: a card is written as .html, .json or .txt", name)
	}
}

// probe makes the probes, lets each judge go over them, and shows the cards.
func (a *app) probe(ctx context.Context, o probeOptions) error {
	gates, err := parseGates(o.run.gates)
	if err := errors.Join(err, o.check()); err != nil {
		return err
	}
	judgings, data, err := a.openProbed(ctx, &o.run)
	if err != nil {
		return err
	}
	defer func() { _ = data.Close() }()
	sets := make([]*probeSet, len(judgings))
	for i, g := range judgings {
		if sets[i], err = a.makeProbes(ctx, g, data, o); err != nil {
			return err
		}
	}
	o.run.benchmark = nil // its metrics and files are about the published items
	if o.run.dryRun {
		return a.printProbes(sets[0])
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
		card, err := a.card(ctx, st, id, sets[i], o)
		if err != nil {
			return err
		}
		cards = append(cards, card)
	}
	return a.showCards(cards, gates, o)
}

// openProbed opens judges and data as a run does, and adds what columns of the data say
// was right before an update. Standard input cannot be read again; there, such a column
// is named with --map field.stale=COLUMN.
func (a *app) openProbed(ctx context.Context, o *runOptions) ([]judging, items, error) {
	judgings, data, err := a.open(ctx, o)
	if err != nil || o.benchmark != nil || slices.Contains(o.data, "-") {
		return judgings, data, err
	}
	stale, err := a.staleValues(ctx, *o)
	if err != nil {
		return nil, nil, errors.Join(err, data.Close())
	}
	if len(stale) == 0 {
		return judgings, data, nil
	}
	return judgings, staleItems{data, stale}, nil
}

// staleValues returns what was right before, by item.
func (a *app) staleValues(ctx context.Context, o runOptions) (map[string]string, error) {
	all, err := a.openItems(ctx, o, []judging{{choice: choice{wanted: probe.StaleFields}}})
	if err != nil {
		return nil, usage(err)
	}
	defer func() { _ = all.Close() }()
	stale := map[string]string{}
	for it, err := range all.Items() {
		if err != nil {
			return nil, err
		}
		if value := firstOf(it.Fields, probe.StaleFields...); value != "" {
			stale[it.ID] = value
		}
	}
	return stale, nil
}

// staleItems are items that also know what was right before an update.
type staleItems struct {
	items
	stale map[string]string
}

func (s staleItems) Items() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for it, err := range s.items.Items() {
			if value, ok := s.stale[it.ID]; ok {
				it.Fields = maps.Clone(it.Fields)
				if it.Fields == nil {
					it.Fields = map[string]string{}
				}
				it.Fields[probe.StaleFields[0]] = value
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

// A probeSet is the probes of one judge, as a dataset.
type probeSet struct {
	*probe.Set
	source []string // where the items come from
	names  []string
	hash   string
}

func (s *probeSet) Hash() string    { return s.hash }
func (s *probeSet) Names() []string { return s.names }
func (s *probeSet) Notes() []string { return nil }
func (s *probeSet) Close() error    { return nil }

// makeProbes makes the probes for one judge: injections ask for the label that it has.
func (a *app) makeProbes(ctx context.Context, g judging, data items, o probeOptions) (*probeSet, error) {
	opts := probe.Options{Seed: o.seed, PerKind: o.perKind, Accept: acceptLabel(g.choice)}
	for _, k := range o.kinds {
		opts.Kinds = append(opts.Kinds, probe.Kind(k))
	}
	made, err := probe.Make(data.Items(), opts)
	if err != nil {
		return nil, usage(err)
	}
	source := slices.Clone(data.Names())
	for _, name := range o.banks {
		if err := addBank(ctx, made, name, data); err != nil {
			return nil, usage(err)
		}
		source = append(source, name)
	}
	hash, err := dataset.HashItems(made.Items())
	if err != nil {
		return nil, err
	}
	names := append(slices.Clone(source), fmt.Sprintf("probes, seed %d", o.seed))
	set := &probeSet{made, source, names, hash}
	a.say("%s made from %s with seed %d%s", count(made.Len(), "probe"), count(data.Len(), "item"), o.seed, absentKinds(made, opts.Kinds))
	return set, preflight(ctx, g.choice, set)
}

// absentKinds names the kinds of which no probe could be made.
func absentKinds(set *probe.Set, wanted []probe.Kind) string {
	there := map[probe.Kind]bool{}
	for _, p := range set.Probes() {
		there[p.Kind] = true
	}
	if wanted == nil {
		wanted = probe.Kinds()
	}
	var absent []string
	for _, k := range wanted {
		if !there[k] {
			absent = append(absent, string(k))
		}
	}
	if len(absent) == 0 {
		return ""
	}
	return "; none of kind " + strings.Join(absent, ", ")
}

// acceptLabel returns what the judge says of a right answer, as far as it declares that;
// "" otherwise.
func acceptLabel(c choice) string {
	d, ok := c.protocol.(*judge.Declared)
	if !ok || len(d.Declaration().Labels) == 0 {
		return ""
	}
	best := slices.MaxFunc(d.Declaration().Labels, func(a, b judge.Label) int {
		switch {
		case a.Score < b.Score:
			return -1
		case a.Score > b.Score:
			return 1
		default:
			return 0
		}
	})
	return best.Label
}

// addBank adds the probes of a file. A row without references answers the item that it
// names.
func addBank(ctx context.Context, set *probe.Set, name string, data items) error {
	bank, err := dataset.Open(ctx, dataset.Source{Names: []string{name}, Fields: []string{"kind", "want", "of", probe.FieldKind, probe.FieldWant, probe.FieldOf}})
	if err != nil {
		return err
	}
	defer func() { _ = bank.Close() }()
	known, err := named(bank.Items(), data)
	if err != nil {
		return err
	}
	for row, err := range bank.Items() {
		if err != nil {
			return err
		}
		p, err := bankProbe(row, known)
		if err == nil {
			err = set.Add(p)
		}
		if err != nil {
			return fmt.Errorf("%s: row %s: %w", name, row.ID, err)
		}
	}
	return nil
}

// of returns the item that a row of a bank names.
func of(row deem.Item) string { return firstOf(row.Fields, "of", probe.FieldOf) }

// firstOf returns the first of some fields that is not empty.
func firstOf(fields map[string]string, names ...string) string {
	for _, name := range names {
		if v := strings.TrimSpace(fields[name]); v != "" {
			return v
		}
	}
	return ""
}

// named returns the items of the data that the rows of a bank name.
func named(rows iter.Seq2[deem.Item, error], data items) (map[string]*deem.Item, error) {
	known := map[string]*deem.Item{}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		if id := of(row); id != "" {
			known[id] = nil
		}
	}
	if len(known) == 0 {
		return known, nil
	}
	for it, err := range data.Items() {
		if err != nil {
			return nil, err
		}
		if _, ok := known[it.ID]; ok {
			known[it.ID] = &it
		}
	}
	return known, nil
}

// bankProbe makes a probe of a row.
func bankProbe(row deem.Item, known map[string]*deem.Item) (probe.Probe, error) {
	kind := probe.Kind(firstOf(row.Fields, "kind", probe.FieldKind))
	if kind == "" {
		kind = "bank"
	}
	want, err := wanted(kind, firstOf(row.Fields, "want", probe.FieldWant))
	if err != nil {
		return probe.Probe{}, err
	}
	it := row
	if id := of(row); id != "" && len(row.References) == 0 {
		if known[id] == nil {
			return probe.Probe{}, fmt.Errorf("there is no item %q to answer", id)
		}
		it = *known[id]
	}
	fields := maps.Clone(it.Fields)
	for _, name := range []string{"kind", "want", "of"} {
		delete(fields, name)
	}
	it.Fields = fields
	p := probe.New(it, kind, "", want, row.Response)
	p.ID = string(kind) + "/" + row.ID
	return p, nil
}

// wanted reads whether an answer of a bank is right. For a kind of our own it need not
// say.
func wanted(kind probe.Kind, text string) (bool, error) {
	switch strings.ToLower(text) {
	case "yes", "true", "right", "correct", "accept", "1":
		return true, nil
	case "no", "false", "wrong", "incorrect", "reject", "0":
		return false, nil
	case "":
		if want, ok := kind.Want(); ok {
			return want, nil
		}
		return false, deem.WithHint(errors.New("it does not say whether the answer is right"), "a column want says yes or no")
	default:
		return false, fmt.Errorf("want is %q, and neither yes nor no", text)
	}
}

// printProbes prints the probes as items, one in a line.
func (a *app) printProbes(set *probeSet) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	for it, err := range set.Items() {
		if err != nil {
			return err
		}
		if err := enc.Encode(it); err != nil {
			return err
		}
	}
	return nil
}

// card counts what the judge did.
func (a *app) card(ctx context.Context, st store.Store, id string, set *probeSet, o probeOptions) (probe.Card, error) {
	run, err := st.Run(ctx, id)
	if err != nil {
		return probe.Card{}, err
	}
	b := probe.NewBuilder(probe.Head{
		Judge: run.Judge.Name, JudgeHash: run.Judge.Hash, Model: run.Model, Run: run.ID,
		Data: set.source, Dataset: run.Dataset.Hash, Sources: set.Sources(), Seed: o.seed,
		Deem: version(), Trials: run.Trials, MaxUnjudged: o.run.maxUnjudged,
	})
	for rec, err := range store.Ahead(st.Records(ctx, id, store.Query{})) {
		if err != nil {
			return probe.Card{}, err
		}
		b.Add(rec)
	}
	return b.Card(), nil
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
			err := fmt.Errorf("%w: %s of %s, and more than %s withholds a rate", errUnjudged, thousands(c.Unjudged), count(c.Probes, "probe"), shareFlag{&c.MaxUnjudged})
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
		fmt.Fprintf(a.out, "  %-4s  %s  (%s)\n", mark, printable(o.Gate), printable(o.Detail))
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
		return usage(err)
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
		case cond.name == "length":
			return lengthNumber(c, cond)
		}
		if r, ok := c.Rate(probe.Kind(cond.name)); ok {
			return rateNumber(c, cond, r.Rate)
		}
		known := []string{"false_accepts", "false_rejects", "turned", "unjudged", "consistency", "length"}
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
		return missing("%s is withheld: %s of %s unjudged", cond.name, thousands(r.Unjudged), count(r.Probes, "probe"))
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
