package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/catalog"
	"deem/internal/doc"
	"deem/internal/reports"
	"deem/internal/reports/agree"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge"
	"deem/report"
	"deem/stat"
)

const reportHelp = `Show the results of a run: the score with its interval, the items that could not be
judged, the categories, the cost. A report calls no model; it reads stored records, also
while the run is still going.

A run is named by its id, the beginning of its id, or "last" (the default), "last~1" and
so on; "deem runs" lists them. Everywhere a run is expected, a run file written by
"deem export" works too. With several runs over the same items, the judge of the first
is compared with the others: agreement, kappa, and the items on which they differ.

--errata FILE applies a list of known errors in the answer key: the score on the sound
items, the score with corrected references as far as it needs no new calls, and the
ceiling that correct answers could reach (docs/errata.md).

Intervals come from formulas that allow for clusters if items name them. With
--bootstrap they come from resampling, and the report prints the number of draws and the
seed: the same seed gives the same digits everywhere. docs/statistics.md explains each number.

A gate is a condition on the results, for example --gate 'overall.lo >= 65%' or --gate
'unjudged <= 1%'; docs/compare.md has the grammar.

EXIT STATUS
  0 shown   1 error   2 wrong usage   3 too many items unjudged: the score is withheld
  4 a gate failed`

// Limits on the number of bootstrap draws: with fewer, the ends of an interval are the
// extremes of the draws, and more would take too long.
const (
	minDraws = 100
	maxDraws = 1_000_000
)

func (a *app) reportCommand() *cobra.Command {
	want := showing{Options: reports.Options{MaxUnjudged: report.DefaultMaxUnjudged}}
	var gates []string
	cmd := &cobra.Command{
		Use: "report [RUN...] [flags]", Short: "show the results of a run", Long: reportHelp,
		Example: "  deem report\n  deem report last~1 --json\n  deem report last~1 last",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"last"}
			}
			var err error
			if want.gates, err = reportGates(gates); err != nil {
				return err
			}
			st, err := a.readRuns(cmd.Context(), args...)
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			if want.Bootstrap, err = bootstrapOf(cmd); err != nil {
				return err
			}
			for _, ref := range args {
				if !a.stream {
					break
				}
				run, err := findRun(cmd.Context(), st, ref)
				if err != nil {
					return err
				}
				if err := a.emitKept(cmd.Context(), st, run); err != nil {
					return err
				}
			}
			return a.show(cmd.Context(), st, args, want)
		},
	}
	cmd.Flags().Var(shareFlag(&want.MaxUnjudged), "max-unjudged", "withhold the score if more than this `share` of items is unjudged")
	cmd.Flags().StringVar(&want.errata, "errata", "", "show how the known errors of the answer key in this `file` change the score (default: the run's own --errata)")
	cmd.Flags().StringArrayVar(&gates, "gate", nil, gateUsage)
	a.verboseFlag(cmd)
	bootstrapFlags(cmd)
	a.streamFlag(cmd.Flags())
	return cmd
}

// gateUsage is the usage text of --gate for a single run.
const gateUsage = "exit with 4 unless this `condition` holds, for example 'overall.lo >= 65%'; repeatable"

// bootstrapFlags adds the flags for resampling.
func bootstrapFlags(cmd *cobra.Command) {
	cmd.Flags().Bool("bootstrap", false, "make all intervals by resampling items, or clusters where items name them")
	cmd.Flags().Int("draws", stat.DefaultDraws, "number of resamples; needs --bootstrap")
	cmd.Flags().Uint64("seed", 1, "random seed; needs --bootstrap")
}

// bootstrapOf returns the resampling options, or nil if not requested.
func bootstrapOf(cmd *cobra.Command) (*report.Bootstrap, error) {
	f := cmd.Flags()
	asked, _ := f.GetBool("bootstrap") // The command has these flags.
	draws, _ := f.GetInt("draws")
	seed, _ := f.GetUint64("seed")
	if f.Changed("bootstrap") && !asked || !asked && !f.Changed("draws") && !f.Changed("seed") {
		return nil, nil
	}
	if draws < minDraws || draws > maxDraws {
		return nil, usage.Errorf("--draws %d: an interval at 95%% needs from %s to %s draws", draws, words.Comma(minDraws), words.Comma(maxDraws))
	}
	return &report.Bootstrap{Draws: draws, Seed: seed}, nil
}

// atMost rejects more than n arguments.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usage.Errorf("%s takes at most %s, not %q", cmd.CommandPath(), words.Count(n, "argument"), args[n])
		}
		return nil
	}
}

// findRun returns the run that ref means. A missing run is a usage error.
func findRun(ctx context.Context, st store.Store, ref string) (store.Run, error) {
	run, err := store.Find(ctx, st, ref)
	if errors.Is(err, store.ErrNotFound) && catalog.FileExists(ref) {
		return run, usage.Mark(deem.WithHint(fmt.Errorf("%s is a file and not a run", ref), "judge it first: deem run --data %s; then its run is last", ref))
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrAmbiguous) {
		return run, usage.Mark(err)
	}
	return run, err
}

// A finished run is the findings of a run and the outcomes of the gates.
type finished struct {
	reports.Found
	gates []reports.GateOutcome
}

// showing says how a run is shown.
type showing struct {
	reports.Options
	errata string // a list of faults; "" means that of the run

	gates []reports.Gate

	live map[string]*reports.Reporter // of the runs judged just now, by id
}

// show prints the reports of runs and, if there are several, the agreement of the first
// judge with the others. The error is errUnjudged if a score is withheld.
func (a *app) show(ctx context.Context, st store.Store, refs []string, want showing) error {
	var all []finished
	var wrong error // An invalid gate, for example of an old lock, must not suppress the report.
	for _, ref := range refs {
		run, err := findRun(ctx, st, ref)
		if err != nil {
			return err
		}
		f, err := want.findings(ctx, st, run)
		if err != nil {
			return err
		}
		faults, err := a.errataOf(ctx, st, run, f.Report.Head, want.errata)
		if err != nil {
			return err
		}
		reports.AddErrata(&f.Report, faults)
		gates, err := reports.Gates(want.gates, f.Run, f.Report)
		wrong = cmp.Or(wrong, err)
		if faults != nil {
			f.Report.Errata = *faults
		}
		if len(gates) > 0 {
			f.Report.Gates = gates
		}
		all = append(all, finished{f, gates})
	}
	var agreements []agree.Pairing
	for _, other := range all[1:] {
		ag, err := reports.CompareJudges(ctx, st, all[0].Run, other.Run)
		if err != nil {
			return err
		}
		agreements = append(agreements, ag)
	}
	if err := errors.Join(a.print(ctx, st, all, agreements), wrong); err != nil {
		return err
	}
	for _, f := range all {
		if err := gatesFailed(f.gates); err != nil {
			return err
		}
	}
	for _, f := range all {
		if f.Report.Hold == nil {
			continue
		}
		err := withheld(f.Report, want.MaxUnjudged)
		// If calls failed, the server's message says why.
		for rec, recErr := range st.Records(ctx, f.Run.ID, store.Query{Kinds: unanswered, Brief: true, Limit: 1}) {
			if recErr == nil {
				err = fmt.Errorf("%w; item %s: %s", err, rec.Item.ID, words.Clip(words.Printable(rec.Failure.Detail), 200))
			}
		}
		return err
	}
	return nil
}

// print prints reports, and the agreement of several. As JSON, one report is printed
// unchanged, and several in one object.
func (a *app) print(ctx context.Context, st store.Store, all []finished, agreements []agree.Pairing) error {
	list := make([]report.Report, len(all))
	for i, f := range all {
		list[i] = f.Report
	}
	switch {
	case a.stream:
		for i := range list {
			a.emit(event{Event: "report", Report: &list[i]})
		}
		return nil
	case a.json && len(list) == 1:
		return writeJSON(a.out, list[0])
	case a.json:
		return writeJSON(a.out, struct {
			Reports    []report.Report `json:"reports"`
			Agreements []agree.Pairing `json:"agreements"`
		}{list, agreements})
	}
	for i, f := range all {
		if i > 0 {
			a.line()
		}
		if a.quiet && len(all) > 1 {
			fmt.Fprintln(a.out, words.Printable(doc.Join(", ", f.Report.Head.Judge, f.Report.Head.Model)))
		}
		d := f.Report.Document()
		if len(all) == 1 && !a.verbose {
			a.next(ctx, st, d, f.Run, f.Report)
		}
		if err := a.document(d); err != nil {
			return err
		}
		printGates(a.out, f.gates)
	}
	for _, ag := range agreements {
		a.line()
		if err := a.document(ag.Document()); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) line() { fmt.Fprintln(a.out) }

// withheld says why there is no score, and suggests a remedy for the most frequent kind of
// failure.
func withheld(r report.Report, most float64) error {
	frequent := report.Failures{}
	for _, f := range r.Failures {
		if f.N > frequent.N {
			frequent = f
		}
	}
	hint := "deem show ITEM prints what the judge said; --max-unjudged allows more"
	switch {
	case frequent.Kind == deem.Unsure && r.Members != nil:
		hint = "deem show ITEM says why; in a panel, --tie first decides ties; in a cascade, --queue FILE writes the rest for people to label"
	case frequent.Kind == deem.Input:
		hint = "these items lack what the judge needs; deem show ITEM says what"
	case slices.Contains(unanswered, frequent.Kind):
		hint = "the same command with --retry-unjudged asks again about these items only"
	case frequent.Kind == store.Unfinished:
		hint = "the run was interrupted between two calls about these items; the same command judges them"
	case frequent.Kind == deem.Truncated:
		hint = "the replies were truncated; --max-tokens allows longer ones"
	case r.Head.Reading == judge.Upstream:
		hint = "deem show ITEM prints what the judge said; --reading strict reads more forms of replies; --max-unjudged allows more"
	}
	return deem.WithHint(fmt.Errorf("%w: %s of %s, and more than %s withholds the score",
		errUnjudged, words.Comma(r.Hold.Unjudged), words.Comma(r.Hold.Items), percent(most)), "%s", hint)
}

// unanswered are the failures of calls that may succeed later.
var unanswered = []deem.Kind{deem.Provider, deem.Timeout, deem.Budget}

// findings returns the findings of a run: those of the live reporter, or else those of the
// store.
func (want showing) findings(ctx context.Context, st store.Store, run store.Run) (reports.Found, error) {
	o := want.Options
	o.Redacted = redacted(st, run)
	live := want.live[run.ID]
	if live == nil {
		return reports.Of(ctx, st, run, o)
	}
	live.End(run)
	return live.Found(run).WithParts(ctx, st)
}

// errGate is returned if a gate failed.
var errGate = errors.New("a gate failed")

// errClaim is returned if the rows of a file do not give a number that is claimed for them.
var errClaim = errors.New("claim not confirmed")

// reportGates parses gates on the report of a run. It rejects gates that no report could
// meet before anything is read or paid for.
func reportGates(texts []string) ([]reports.Gate, error) {
	gates, err := reports.ParseGates(texts)
	if err != nil {
		return nil, err
	}
	return gates, reports.CheckGates(gates, nil)
}

// checkCategories rejects gates on categories that no item has. The categories are known
// from the items, before anything is paid for.
func checkCategories(gates []reports.Gate, data items) error {
	if len(gates) == 0 {
		return nil
	}
	seen := map[string]bool{}
	for it, err := range data.Items() {
		if err != nil {
			return err
		}
		seen[it.Category] = true
	}
	if seen[""] {
		delete(seen, "")
		if len(seen) > 0 {
			seen["(none)"] = true // their name in reports
		}
	}
	return reports.CheckGates(gates, slices.AppendSeq([]string{}, maps.Keys(seen)))
}

// gatesFailed returns errGate unless all gates passed.
func gatesFailed(outcomes []reports.GateOutcome) error {
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

func printGates(w io.Writer, outcomes []reports.GateOutcome) {
	if len(outcomes) > 0 {
		fmt.Fprintln(w, "\ngates")
	}
	for _, o := range outcomes {
		word, run := "failed", ""
		if o.OK {
			word = "ok"
		}
		if o.Run != "" {
			run = words.Printable(o.Run) + ": "
		}
		fmt.Fprintf(w, "  %-7s %s%s: %s\n", word, run, words.Printable(o.Gate), words.Printable(o.Detail))
		if o.Warning != "" {
			fmt.Fprintf(w, "  %-7s %s%s\n", "warning", run, words.Printable(o.Warning))
		}
	}
}
