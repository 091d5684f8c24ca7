package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/doc"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
)

const runsHelp = `List the runs in the database, newest first, with score, items and trials, system, judge
and age; or name, tag, delete and copy runs.

The first run is "last", the second "last~1". Runs over probes, runs without a record and
runs that stopped because every call failed are not "last", and only --all lists them.

A run is named by its id, the beginning of its id, last, last~1, its name, or a tag, which
means the newest run that has it.

EXIT STATUS
  0 listed   1 error   2 wrong usage`

func (a *app) runsCommand() *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use: "runs", Short: "list, name, tag, delete and copy runs", Long: runsHelp, Example: "  deem runs\n  deem runs --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage.Mark(deem.WithHint(fmt.Errorf("deem runs takes no argument, not %q", args[0]), "deem report RUN shows one run"))
			}
			return a.listRuns(cmd.Context(), all)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "include runs that \"last\" does not count")
	cmd.AddCommand(a.runsRename(), a.runsTag(), a.runsRm(), a.runsCopy())
	return cmd
}

// settle releases money that a run reserved for calls whose cost was never settled.
func (a *app) settle(ctx context.Context, ref string) error {
	st, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	run, err := findReserved(ctx, st, ref)
	if err != nil {
		return err
	}
	if err := a.notQueued(ctx, st, run.ID); err != nil {
		return err
	}
	released, err := st.Settle(ctx, run.ID)
	if err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, struct {
			Run            string `json:"run"`
			CostMicros     int64  `json:"cost_micros"`
			ReleasedMicros int64  `json:"released_micros"`
		}{run.ID, run.CostMicros, released})
	}
	fmt.Fprintf(a.out, "run %s: %s recorded, %s was set aside and counts no longer\n", run.ID, words.ExactDollars(run.CostMicros), words.ExactDollars(released))
	return nil
}

// findReserved returns the run that ref means. Here "last" counts every run: one in which all
// calls timed out has no verdict, but reserved money.
func findReserved(ctx context.Context, st store.Store, ref string) (store.Run, error) {
	var runs []store.Run
	for run, err := range st.Runs(ctx) {
		if err != nil {
			return store.Run{}, err
		}
		runs = append(runs, run)
	}
	slices.SortFunc(runs, func(x, y store.Run) int { return cmp.Compare(y.Asked, x.Asked) })
	ids := make([]string, len(runs))
	for i, run := range runs {
		ids[i] = run.ID
	}
	if id, err := store.Resolve(ref, ids, ids); err == nil {
		ref = id
	}
	return findRun(ctx, st, ref)
}

const rmHelp = `Delete runs. They are no longer listed, and "last" does not find them. The page of
deem serve shows deleted runs and can restore them; --purge removes them permanently.

EXIT STATUS
  0 done   1 error   2 wrong usage`

func (a *app) runsRm() *cobra.Command {
	purge := false
	cmd := &cobra.Command{
		Use: "rm RUN...", Short: "delete runs", Long: rmHelp, Example: "  deem runs rm last",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.edit(cmd.Context(), args, "deleted", func(about *store.About) { about.Deleted = time.Now() }, purge)
		},
	}
	cmd.Flags().BoolVar(&purge, "purge", false, "remove the records for good")
	return cmd
}

func (a *app) runsTag() *cobra.Command {
	return &cobra.Command{
		Use: "tag RUN TAG...", Short: "tag a run; -TAG removes a tag", Example: "  deem runs tag last baseline\n  deem runs tag last -- -baseline",
		Long: "Add tags to a run. A tag with a minus in front, after --, is removed. Where a run is\nexpected, a tag means the newest run that has it.\n\nEXIT STATUS\n  0 done   1 error   2 wrong usage",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage.Mark(deem.WithHint(errors.New("a run and a tag are needed"), "deem runs tag last baseline"))
			}
			return a.edit(cmd.Context(), args[:1], "tagged", func(about *store.About) {
				for _, tag := range args[1:] {
					if gone, ok := strings.CutPrefix(tag, "-"); ok {
						about.Tags = slices.DeleteFunc(about.Tags, func(t string) bool { return t == gone })
						continue
					}
					about.Tags = append(about.Tags, tag)
				}
			}, false)
		},
	}
}

func (a *app) runsRename() *cobra.Command {
	return &cobra.Command{
		Use: "rename RUN NAME", Short: "give a run a name", Example: `  deem runs rename last "after the fix"`,
		Long: "Give a run a name, which lists and pages show, and which names the run in every command.\nAn empty name removes it.\n\nEXIT STATUS\n  0 done   1 error   2 wrong usage",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage.Mark(deem.WithHint(errors.New("a run and a name are needed"), `deem runs rename last "after the fix"`))
			}
			return a.edit(cmd.Context(), args[:1], "renamed", func(about *store.About) { about.Name = args[1] }, false)
		},
	}
}

// edit changes the notes about runs, and reports each change.
func (a *app) edit(ctx context.Context, refs []string, done string, change func(*store.About), purge bool) error {
	if len(refs) == 0 {
		return usage.Mark(deem.WithHint(errors.New("a run is needed"), "deem runs lists them"))
	}
	st, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	ids := make([]string, len(refs))
	for i, ref := range refs { // Look up all before a change affects "last".
		run, err := findRun(ctx, st, ref)
		if err != nil {
			return err
		}
		ids[i] = run.ID
	}
	edited := []store.Run{}
	for _, id := range ids {
		run, err := st.Edit(ctx, id, change)
		if err == nil && purge {
			err = st.Purge(ctx, id)
		}
		if err != nil {
			return err
		}
		edited = append(edited, run)
		if !a.json {
			about := doc.Join(", ", run.About.Name, doc.Prefix("tags ", strings.Join(run.About.Tags, ", ")))
			fmt.Fprintf(a.out, "run %s %s%s\n", run.ID, done, words.Printable(doc.Prefix(": ", about)))
		}
	}
	if a.json {
		_ = writeJSON(a.out, edited)
	}
	return nil
}
