package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"deem"
	"deem/internal/catalog"
	"deem/internal/model"
	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge"
	"deem/judge/rule"
)

const planHelp = `Print how many calls a run would make, what it would cost and how long it would take.
Nothing is called and nothing is written.

The flags are those of "deem run". Prompts are rendered, and their tokens are estimated by
their bytes, corrected by what the vendor counted in earlier replies to the same judge. Of
more than 1,000 items 1,000 are looked at. Items that an earlier run has judged, cached
replies and repeated prompts cost nothing. The plan prints the expected cost and the
highest possible cost, as the run does before it begins.

With --margin it also prints how many items it takes to show that two runs are equivalent
within the margin. That needs no data.

With --split it prints how many items to judge how many times for the most precise score
within a number of calls. It estimates the variances from a run with several trials (--from).

EXIT STATUS
  0 planned   1 error   2 wrong usage or input`

func (a *app) planCommand() *cobra.Command {
	var (
		o        runOptions
		margin   float64
		split    int
		from     = "last"
		itemCost float64
	)
	cmd := &cobra.Command{
		Use: "plan [BENCHMARK] --data FILE [flags]", Short: "estimate cost and time of a run, or lock it", Long: planHelp,
		Example: "  deem plan --data answers.jsonl --judge grade --model openai:gpt-4o-mini\n" +
			"  deem plan longmemeval --data longmemeval_s.json --responses hyp.jsonl --model openai:gpt-4o-2024-08-06 --rpm 500\n" +
			"  deem plan --margin 1pp\n  deem plan --split 2000 --from last",
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("split") {
				return a.planSplit(cmd.Context(), from, split, itemCost)
			}
			if err := o.setBenchmark(args); err != nil {
				return err
			}
			return a.plan(cmd.Context(), o, margin)
		},
	}
	o.flags(cmd.Flags())
	o.sampleFlags(cmd.Flags())
	cmd.AddCommand(hiding(a.lockCommand(), "queue", "record", "yes", "fresh", "dry-run"))
	cmd.Flags().Var(pointsFlag(&margin), "margin", "print how many items it takes to show that two runs are equivalent within this margin, for example `1pp`")
	cmd.Flags().IntVar(&split, "split", 0, "print how to divide this `number` of calls between items and trials, and do nothing else")
	cmd.Flags().StringVar(&from, "from", from, "the `run` with several trials from which variances are estimated, for --split")
	cmd.Flags().Float64Var(&itemCost, "item-cost", 0, "what one more item costs, in `calls`, for --split (default: only the items of the run)")
	notFromFile(cmd.Flags(), "split", "from", "item-cost")
	return cmd
}

// plan prints the plan of each judge, and the items needed for the margin if it is not 0.
func (a *app) plan(ctx context.Context, o runOptions, margin float64) error {
	if margin > 0 && o.benchmark == nil && len(o.data) == 0 {
		equivalence, err := planMargin(ctx, nil, nil, margin)
		if err != nil {
			return err
		}
		return a.printPlans([]run.Plan{}, equivalence)
	}
	o.model.Uncalled = true
	judgings, data, err := a.open(ctx, &o)
	if err != nil {
		return err
	}
	defer func() { _ = data.Close() }()
	st, err := a.readStore(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // A plan needs no store, and creates none.
		return err
	}
	if st != nil {
		defer func() { _ = st.Close() }()
	}
	plans := []run.Plan{} // rules have none, which JSON shows as an empty list
	for _, g := range judgings {
		if embeds(g, o) {
			p, err := a.planEmbeddings(ctx, st, g, data, o)
			if err != nil {
				return err
			}
			plans = append(plans, p)
			continue
		}
		if !g.Spec.Asks() {
			a.say("%s is a rule: it judges %s and calls nobody", g.Name(), words.Count(data.Len(), "item"))
			continue
		}
		for _, l := range g.Leaves() {
			p, err := a.planLeaf(ctx, st, l, data, o)
			if err != nil {
				return err
			}
			plans = append(plans, p)
		}
	}
	var equivalence *marginPlan
	if margin > 0 {
		if equivalence, err = planMargin(ctx, st, data, margin); err != nil {
			return err
		}
	}
	return a.printPlans(plans, equivalence)
}

func (a *app) printPlans(plans []run.Plan, equivalence *marginPlan) error {
	switch {
	case a.json && len(plans) == 1:
		return writeJSON(a.out, struct {
			run.Plan
			Equivalence *marginPlan `json:"equivalence,omitempty"`
		}{plans[0], equivalence}) //nolint:gosec // There is one plan.
	case a.json:
		return writeJSON(a.out, struct {
			Plans       []run.Plan  `json:"plans"`
			Equivalence *marginPlan `json:"equivalence,omitempty"`
		}{plans, equivalence})
	}
	for i, p := range plans {
		if i > 0 {
			a.line()
		}
		if err := p.Text(a.out); err != nil {
			return err
		}
	}
	if equivalence != nil {
		if len(plans) > 0 {
			a.line()
		}
		equivalence.print(a.out)
	}
	return nil
}

// planWith plans a run with the requests that ask returns for an item: none if the item is
// decided without a call.
func (a *app) planWith(ctx context.Context, st store.Store, g catalog.Choice, data items, o runOptions, opts run.PlanOptions, ask func(deem.Item) ([]deem.Request, error)) (run.Plan, error) {
	// done reports whether an earlier run of the same command has a trial of an item. It is
	// nil if there is no such run, or it has no records yet.
	var done func(context.Context, deem.Item, int) (bool, error)
	if st != nil && !o.Fresh {
		j, err := g.Judge()
		if err != nil {
			return run.Plan{}, err
		}
		spec, err := run.Spec(g, j, o.datasetOf(data), o.Trials)
		if err != nil {
			return run.Plan{}, err
		}
		earlier, found, err := run.Find(ctx, st, spec.Key())
		if err == nil && found && earlier.Records > 0 {
			done, err = run.Done(ctx, st, earlier, o.RetryUnjudged)
		}
		if err != nil {
			return run.Plan{}, err
		}
	}
	// The items of a resumed run that are done are mostly the first, and long ones may be
	// anywhere, so it looks at items from beginning to end.
	step := max(1, (data.Len()+glance-1)/glance)
	p := run.NewPlanner(opts)
	n := -1
	for it, err := range data.Items() {
		if err != nil {
			return run.Plan{}, err
		}
		if n++; n%step != 0 {
			continue
		}
		reqs, failed := ask(it)
		switch {
		case failed != nil:
			p.AddUnjudgeable(failed)
		case len(reqs) == 0:
			p.AddDecided()
		case done == nil:
			err = p.Add(ctx, reqs...)
		default:
			var missing []int
			for trial := range o.Trials {
				ok, err := done(ctx, it, trial)
				if err != nil {
					return run.Plan{}, err
				}
				if !ok {
					missing = append(missing, trial)
				}
			}
			err = p.AddMissing(ctx, missing, reqs...)
		}
		if err != nil {
			return run.Plan{}, err
		}
	}
	return p.PlanOf(data.Len()), nil
}

// earlierReplies is how many records of an earlier run a plan learns from.
const earlierReplies = 50

// earlierCalls returns what a plan learns from the first replies of the newest run with the
// same judge and model: what the vendor counted for each token that was estimated, and the
// mean length and latency of replies. They are 0 if there are none.
func earlierCalls(ctx context.Context, st store.Store, g catalog.Leaf) (input float64, output int, latency time.Duration, err error) {
	for earlier, err := range st.Runs(ctx) {
		if err != nil {
			return 0, 0, 0, err
		}
		if earlier.Judge.Name != g.Name() || earlier.Model != g.Wire.Name() || earlier.Records == 0 {
			continue
		}
		n, batched, counted, estimated := 0, 0, 0, 0
		for rec, err := range st.Records(ctx, earlier.ID, store.Query{WithCalls: true, Limit: earlierReplies}) {
			if err != nil {
				return 0, 0, 0, err
			}
			reqs, err := judge.Requests(g.Protocol, rec.Item)
			same := err == nil && len(reqs) == len(rec.Calls) // else it is not known which call had which request
			for i, c := range rec.Calls {
				if c.Reply == nil || c.Reply.Cached {
					continue
				}
				n++
				output += c.Reply.Usage.Output
				latency += c.Reply.Latency
				if c.Reply.Batch != "" {
					batched++ // with unknown latency
				}
				if same && c.Reply.Usage.Input > 0 {
					counted += c.Reply.Usage.Input
					estimated += run.Tokens(reqs[i])
				}
			}
		}
		if n > 0 {
			return float64(counted) / float64(max(1, estimated)), (output + n - 1) / n, latency / time.Duration(max(1, n-batched)), nil
		}
	}
	return 0, 0, 0, nil
}

// glance is the number of items that a plan looks at. It is the same before a run and in
// deem plan, so that both print the same estimate.
const glance = 1000

// announcePlan prints the plan before money is spent, one line for each judge that uses a
// model, and asks for confirmation if the run may cost more than the user's threshold.
func (a *app) announcePlan(ctx context.Context, r *run.Run, g catalog.Choice, data items, o runOptions) error {
	st := r.Setup.Store
	if !g.Spec.Asks() && !embeds(g, o) || g.External() || r.State == store.Done && !o.RetryUnjudged {
		return nil
	}
	if bs, ok := st.(store.Batches); ok {
		if list, err := bs.Batches(ctx, r.ID); err != nil || len(list) > 0 {
			return err // it was printed before the batches were submitted
		}
	}
	var plans []run.Plan
	add := func(who string, p run.Plan) {
		a.say("plan: %s%s", who, o.planLine(p))
		for _, w := range p.Warnings {
			a.say("warning: %s", w)
		}
		plans = append(plans, p)
	}
	if embeds(g, o) {
		p, err := a.planEmbeddings(ctx, st, g, data, o)
		if err != nil {
			return err
		}
		add(g.Name()+" with "+embeddingModel(o).Name()+": ", p)
	} else {
		for _, l := range g.Leaves() {
			p, err := a.planLeaf(ctx, st, l, data, o)
			if err != nil {
				return err
			}
			if o.batch.on && p.BatchCostMicros != nil {
				p.CostMicros, p.CostMaxMicros = p.BatchCostMicros, p.BatchCostMaxMicros
			}
			add(l.Who(g), p)
		}
	}
	p := sumPlans(plans)
	enough := p.CostMaxMicros != nil && *p.CostMaxMicros <= o.askAbove.Value
	if !o.askAbove.Set || o.yes || enough || p.Calls == 0 {
		return nil
	}
	// Without a terminal the answer is no: the threshold exists so that no run exceeds it
	// unnoticed.
	in, ok := a.in.(*os.File)
	if !ok || a.json || !term.IsTerminal(int(in.Fd())) || slices.Contains(o.data, "-") {
		err := fmt.Errorf("the run may cost more than --ask-above %s, and there is nobody to ask", moneyFlag(&o.askAbove))
		return usage.Mark(deem.WithHint(err, "--yes confirms it; --max-cost limits the cost: %s", p.Line()))
	}
	fmt.Fprint(a.err, "deem: continue? [y/N] ")
	answer, _ := bufio.NewReader(in).ReadString('\n') // If it cannot be read, it is not yes.
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return errors.New("not started: the answer was not yes")
	}
	return nil
}

// planLine returns a plan as one line. The duration of batches is unknown.
func (o runOptions) planLine(p run.Plan) string {
	line := p.Line()
	if cut := strings.LastIndex(line, ", "); o.batch.on && p.Calls > 0 && cut >= 0 {
		return line[:cut] + ", in batches within a day"
	}
	return line
}

// planLeaf plans the requests of one judge of a composed judge. Earlier runs tell how the
// vendor counts tokens, and how long replies are.
func (a *app) planLeaf(ctx context.Context, st store.Store, g catalog.Leaf, data items, o runOptions) (run.Plan, error) {
	o.Trials *= g.Times
	opts := run.PlanOptions{
		Model: g.Wire.Name(), Prices: o.Prices, Tier: model.TierOf(g.Wire), Room: model.RoomOf(g.Wire), Concurrency: o.Concurrency, RPM: o.RPM, TPM: o.TPM, Trials: o.Trials,
	}
	if st != nil {
		if !o.Fresh && !o.RetryUnjudged {
			opts.Cached = func(ctx context.Context, req deem.Request) (bool, error) {
				_, ok, err := st.Reply(ctx, model.Key(g.Wire, req))
				return ok, err
			}
		}
		var err error
		if opts.Input, opts.Output, opts.Latency, err = earlierCalls(ctx, st, g); err != nil {
			return run.Plan{}, err
		}
	}
	return a.planWith(ctx, st, g.Choice, data, o, opts, func(it deem.Item) ([]deem.Request, error) {
		if d, ok := g.Protocol.(judge.Decider); ok {
			if _, ok := d.Decide(it); ok {
				return nil, nil
			}
		}
		return judge.Requests(g.Protocol, it)
	})
}

// sumPlans returns the sum of several plans. An unknown price makes the sum unknown.
func sumPlans(plans []run.Plan) run.Plan {
	add := func(a, b *int64) *int64 {
		if a == nil || b == nil {
			return nil
		}
		return new(*a + *b)
	}
	sum := plans[0]
	for _, p := range plans[1:] {
		sum.Calls += p.Calls
		sum.Time += p.Time
		sum.CostMicros = add(sum.CostMicros, p.CostMicros)
		sum.CostMaxMicros = add(sum.CostMaxMicros, p.CostMaxMicros)
	}
	return sum
}

// embeds reports whether a rule uses embeddings of a server, which may cost money.
func embeds(g catalog.Choice, o runOptions) bool {
	return !g.Spec.Asks() && embeddingModel(o) != nil && rule.NeedsEmbedder(g.Name())
}

// A listener is an embedder that records the texts and does not embed them.
type listener struct{ texts []string }

var _ rule.Embedder = (*listener)(nil)

func (*listener) Name() string { return "listener" }

// Embed returns the same vector for every text, so that a rule runs to its end.
func (l *listener) Embed(_ context.Context, texts []string) ([][]float32, error) {
	l.texts = append([]string{}, texts...)
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = []float32{1}
	}
	return vectors, nil
}

// planEmbeddings plans the run of a rule that uses embeddings of a server. It runs the
// rule, so that the plan has the same texts as the run.
func (a *app) planEmbeddings(ctx context.Context, st store.Store, g catalog.Choice, data items, o runOptions) (run.Plan, error) {
	heard := &listener{}
	asked := rule.Semantic(heard)
	opts := run.PlanOptions{
		Model: embeddingModel(o).Name(), Prices: o.Prices, Concurrency: o.Concurrency, RPM: o.RPM, TPM: o.TPM, Trials: o.Trials,
	}
	return a.planWith(ctx, st, g, data, o, opts, func(it deem.Item) ([]deem.Request, error) {
		heard.texts = nil
		if _, err := asked.Judge(ctx, it); err != nil && heard.texts == nil {
			return nil, err
		}
		return []deem.Request{catalog.EmbedRequest(heard.texts)}, nil
	})
}
