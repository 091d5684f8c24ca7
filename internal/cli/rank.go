package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge/pairwise"
	"deem/report"
	"deem/stat"
)

const rankHelp = `Rank several systems that a judge compared in pairs. Each run is one of
"deem run --data A --other B --judge pairwise": two systems, every pair of responses shown
in both orders. Systems are named after their files, or as the argument says:
"deem rank rag:memory=last~1 memory:plain=last".

Strengths come from a Bradley-Terry model with ties and an order effect. Their intervals
allow for clusters, and all comparisons of one item are one cluster. A system that won or
lost everything has no finite strength, and the command says so. Ranks are shown where an
order is established, with p-values adjusted for all pairs.

EXIT STATUS
  0 shown   1 error, or the runs have different judges   2 wrong usage
  3 too many pairs unjudged`

func (a *app) rankCommand() *cobra.Command {
	most, anyway := report.DefaultMaxUnjudged, false
	cmd := &cobra.Command{
		Use: "rank RUN... [flags]", Short: "rank systems compared in pairs", Long: rankHelp,
		Example: "  deem rank last~2 last~1 last\n  deem rank rag:memory=last~1 memory:plain=last --json",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.rank(cmd.Context(), args, most, anyway) },
	}
	cmd.Flags().Var(shareFlag(&most), "max-unjudged", "withhold the strengths if more than this `share` of pairs is unjudged")
	cmd.Flags().BoolVar(&anyway, "anyway", false, "combine verdicts of different judges, with a warning")
	return cmd
}

// rank reads pairwise runs and prints the strengths of their systems.
func (a *app) rank(ctx context.Context, args []string, most float64, anyway bool) error {
	if len(args) == 0 {
		return usage.Mark(deem.WithHint(fmt.Errorf("deem rank needs runs that compare systems"), "deem rank last~1 last"))
	}
	st, err := a.readRuns(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	b := &reports.RankBuilder{}
	var runs []store.Run
	for _, arg := range args {
		names, ref, named := strings.Cut(arg, "=")
		if !named || isBundle(arg) && !isBundle(ref) {
			names, ref = "", arg
		}
		run, err := findRun(ctx, st, ref)
		if err != nil {
			return err
		}
		for _, other := range runs {
			switch {
			case other.ID == run.ID:
				return usage.Errorf("run %s is named twice", run.ID)
			case other.Judge.Hash != run.Judge.Hash && !anyway:
				return deem.WithHint(fmt.Errorf("runs %s and %s have different judges: %s (%s) and %s (%s)", other.ID, run.ID,
					other.Judge.Name, deem.ShortHash(other.Judge.Hash), run.Judge.Name, deem.ShortHash(run.Judge.Hash)), "judge all pairs in the same way, or add --anyway")
			}
		}
		runs = append(runs, run)
		if err := addPairs(ctx, st, b, run, names); err != nil {
			return err
		}
	}
	r, err := b.Report(stat.DefaultLevel)
	if err != nil {
		return deem.WithHint(fmt.Errorf("%w: no pair of responses has a verdict", errUnjudged), "deem report says why")
	}
	r.Judge = runs[0].Judge.Name
	for _, run := range runs {
		r.Runs = append(r.Runs, run.ID)
	}
	if slices.ContainsFunc(runs, func(run store.Run) bool { return run.Judge.Hash != runs[0].Judge.Hash }) {
		r.Notes = append(r.Notes, "the runs have different judges: a difference of systems may be one of judges")
	}
	if float64(r.Unjudged) > most*float64(r.Items) {
		return deem.WithHint(fmt.Errorf("%w: %s of %s, and more than %s withholds the strengths",
			errUnjudged, words.Comma(r.Unjudged), words.Comma(r.Items), percent(most)), "deem report says why; --max-unjudged 1 ranks them anyway")
	}
	if a.json {
		return writeJSON(a.out, r)
	}
	return a.document(r.Document())
}

// addPairs adds the verdicts of a run. The names are those of its systems, as "A:B", or ""
// for the names of its files.
func addPairs(ctx context.Context, st store.Store, b *reports.RankBuilder, run store.Run, names string) error {
	first, second, ok := strings.Cut(names, ":")
	if names != "" && (!ok || first == "" || second == "" || first == second) {
		return usage.Mark(deem.WithHint(fmt.Errorf("%q does not name two systems", names), "deem rank rag:memory=%s", run.ID))
	}
	if files := run.Dataset.Names; names == "" && len(files) == 2 {
		first, second = stem(files[0]), stem(files[1])
	}
	if first == second {
		return usage.Mark(deem.WithHint(fmt.Errorf("run %s does not tell its two systems by their files", run.ID), "name them: deem rank rag:memory=%s", run.ID))
	}
	for rec, err := range st.Records(ctx, run.ID, store.Query{Brief: true}) {
		if err != nil {
			return err
		}
		if rec.Verdict == nil {
			b.Unjudged()
			continue
		}
		shownFirst, ok := rec.Verdict.Aspects[pairwise.AspectFirst]
		shownSecond, both := rec.Verdict.Aspects[pairwise.AspectSecond]
		if !ok || !both {
			return usage.Mark(deem.WithHint(fmt.Errorf("run %s: %s does not compare responses in both orders", run.ID, run.Judge.Name),
				"deem run --data a.jsonl --other b.jsonl --judge pairwise --model openai:gpt-4o-mini makes such a run"))
		}
		b.Add(reports.RankVerdict{A: first, B: second, ShownFirst: shownFirst, ShownSecond: shownSecond, Item: rec.Item.ID, Cluster: rec.Item.Cluster})
	}
	return nil
}

// stem returns the name of a file without its folder and extension.
func stem(name string) string {
	base := filepath.Base(name)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
