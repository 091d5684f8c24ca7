package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/labels"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
)

const labelsHelp = `Store human labels in the database, where "deem agree RUN" finds them.

  deem label import FILE...   import labels from files; "deem agree --help" describes them
  deem label list             print the stored labels, one per line

A label belongs to an item and its response, not to a run: every judge of the same item
is compared with the same labels. A new label by the same annotator replaces the old one.

EXIT STATUS
  0 done   1 error   2 wrong usage or input`

func (a *app) labelsImport() *cobra.Command {
	var src labels.Source
	ref := "last"
	cmd := &cobra.Command{
		Use: "import FILE... [flags]", Short: "import labels from files", Long: labelsHelp,
		Example: "  deem label import to-label.csv --run last --by anna",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage.Mark(deem.WithHint(fmt.Errorf("no file of labels is named"), "deem label import labels.csv"))
			}
			ctx := cmd.Context()
			st, run, err := a.openLabels(ctx, ref)
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			src.Names, src.Stdin, src.Labels = args, a.in, reports.LabelsOf(run, false)
			set, err := labels.Read(ctx, src)
			if err != nil {
				return usage.Mark(err)
			}
			by := map[string][]labels.Label{} // by item
			for _, l := range set.Labels {
				by[l.Item] = append(by[l.Item], l)
			}
			var list []store.Label
			now := clock()
			for rec, err := range st.Records(ctx, run.ID, store.Query{Trial: new(int)}) {
				if err != nil {
					return err
				}
				for _, l := range by[rec.Item.ID] {
					if l.Other(rec.Item.Response) {
						continue
					}
					list = append(list, store.Label{
						Item: rec.Item.Hash(), ID: rec.Item.ID, Dataset: run.Dataset.Hash, Annotator: l.Annotator,
						Yes: l.Yes, Label: l.Label, Score: l.Score, Note: l.Reason, Drawn: l.Drawn.String(), Labelled: now,
					})
				}
			}
			left := len(set.Labels) - len(list) // labels without an item
			if len(list) == 0 {
				return usage.Mark(deem.WithHint(fmt.Errorf("%s: no label is about an item of run %s, with the response that was judged", strings.Join(set.Names, ", "), run.ID),
					"--run names another run; --map item=NAME says which column holds the ids"))
			}
			if err := st.PutLabels(ctx, list); err != nil {
				return err
			}
			if a.json {
				return writeJSON(a.out, map[string]any{"run": run.ID, "labels": len(list), "left_out": left, "blank": set.Blank})
			}
			a.say("kept %s of %s in %s", words.Count(len(list), "label"), words.Count(len(set.Annotators()), "annotator"), a.dbName())
			if left > 0 {
				a.say("%s about no item of run %s, or about another response, and left out", words.Plural(left, "label is", "labels are"), run.ID)
			}
			if set.Blank > 0 {
				a.say("%s without a label yet", words.Count(set.Blank, "row"))
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&ref, "run", ref, "the `run` whose items were labelled: an id or its beginning, last, last~1")
	f.StringVar(&src.Annotator, "by", "", "the annotator's name, if the file does not have it")
	labelFlags(cmd, &src)
	return cmd
}

// openLabels opens the store for labels, and finds a run in it.
func (a *app) openLabels(ctx context.Context, ref string) (store.Database, store.Run, error) {
	st, err := a.openStore(ctx)
	if err != nil {
		return nil, store.Run{}, err
	}
	run, err := findRun(ctx, st, ref)
	if err != nil {
		return nil, store.Run{}, errors.Join(err, st.Close())
	}
	return st, run, nil
}

func (a *app) labelsList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "print the stored labels", Long: labelsHelp, Example: "  deem label list --json", Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := a.readStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			all := st.Labels(cmd.Context(), store.LabelQuery{})
			if a.json {
				return writeJSONList(a.out, all) // "deem agree --map item=id" reads it
			}
			for l, err := range all {
				if err != nil {
					return err
				}
				fmt.Fprintln(a.out, words.Printable(fmt.Sprintf("%s  %s  %s  %s", l.ID, l.Label, l.Annotator, l.Labelled.Local().Format("2006-01-02 15:04"))))
			}
			return nil
		},
	}
}
