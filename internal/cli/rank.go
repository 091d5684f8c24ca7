package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge/pairwise"
	"deem/stat"
)

// rank prints the strengths of the systems that pairwise runs compare.
func (a *app) rank(ctx context.Context, st store.Store, runs []reports.Compared, o compareOptions) error {
	if len(o.gates) > 0 {
		return usage.Errorf("a gate is about the difference of two runs, and runs of a pairwise judge are ranked")
	}
	b, first := &reports.RankBuilder{}, runs[0]
	for _, run := range runs {
		if run.Judge.Hash != first.Judge.Hash && !o.Anyway {
			return deem.WithHint(fmt.Errorf("runs %s and %s have different judges: %s (%s) and %s (%s)", first.ID, run.ID,
				first.Judge.Name, deem.ShortHash(first.Judge.Hash), run.Judge.Name, deem.ShortHash(run.Judge.Hash)), "judge all pairs in the same way, or add --anyway")
		}
		if err := addPairs(ctx, st, b, run.Run, run.Name); err != nil {
			return err
		}
	}
	r, err := b.Report(stat.DefaultLevel)
	if err != nil {
		return deem.WithHint(fmt.Errorf("%w: no pair of responses has a verdict", errUnjudged), "deem report says why")
	}
	r.Judge = first.Judge.Name
	for _, run := range runs {
		r.Runs = append(r.Runs, run.ID)
	}
	if slices.ContainsFunc(runs, func(run reports.Compared) bool { return run.Judge.Hash != first.Judge.Hash }) {
		r.Notes = append(r.Notes, "the runs have different judges: a difference of systems may be one of judges")
	}
	if float64(r.Unjudged) > o.MaxUnjudged*float64(r.Items) {
		return deem.WithHint(fmt.Errorf("%w: %s of %s, and more than %s withholds the strengths",
			errUnjudged, words.Comma(r.Unjudged), words.Comma(r.Items), percent(o.MaxUnjudged)), "deem report says why; --max-unjudged 1 ranks them anyway")
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
		return usage.Mark(deem.WithHint(fmt.Errorf("%q does not name two systems", names), "deem compare rag:memory=%s", run.ID))
	}
	if files := run.Dataset.Names; names == "" && len(files) == 2 {
		first, second = stem(files[0]), stem(files[1])
	}
	if first == second {
		return usage.Mark(deem.WithHint(fmt.Errorf("run %s does not tell its two systems by their files", run.ID), "name them: deem compare rag:memory=%s", run.ID))
	}
	for rec, err := range st.Records(ctx, run.ID, store.Query{Brief: true}) {
		if err != nil {
			return err
		}
		if rec.Verdict == nil {
			b.Unjudged()
			continue
		}
		shownFirst, shownSecond := rec.Verdict.Aspects[pairwise.AspectFirst], rec.Verdict.Aspects[pairwise.AspectSecond]
		b.Add(reports.RankVerdict{A: first, B: second, ShownFirst: shownFirst, ShownSecond: shownSecond, Item: rec.Item.ID, Cluster: rec.Item.Cluster})
	}
	return nil
}

// stem returns the name of a file without its folder and extension.
func stem(name string) string {
	base := filepath.Base(name)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
