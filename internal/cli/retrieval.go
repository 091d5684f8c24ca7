package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/benchmark"
	"deem/internal/dataset"
	"deem/internal/doc"
	"deem/internal/usage"
	"deem/internal/words"
)

const retrievalHelp = `Score ranked lists of documents against the documents that contain the answer. A row has
an id, a list "retrieved" with the ids of documents, best first, and a list "gold_ids";
--gold names a separate file for the second. Result files of benchmarks with such lists
work too; name the benchmark if their rows are nested.

hit@k is 1 if any gold document is among the first k, recall@k is the share of gold
documents among them, all@k is 1 if all are. docs/retrieval.md has every definition.
Intervals allow for clusters. Rows without a gold document are not counted.

EXIT STATUS
  0 shown   1 error   2 wrong usage or input`

// retrievalOptions are the options of deem retrieval.
type retrievalOptions struct {
	data, gold []string
	ks         []int
	with       map[string]string
}

func (a *app) retrievalCommand() *cobra.Command {
	var o retrievalOptions
	cmd := &cobra.Command{
		Use: "retrieval [BENCHMARK] --data FILE [flags]", Short: "score ranked lists of documents", Long: retrievalHelp, Args: atMost(1),
		Example: "  deem retrieval --data ranked.jsonl\n  deem retrieval --data ranked.jsonl --gold gold.jsonl -k 5,10,50",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if len(o.data) == 0 {
				return usage.Mark(deem.WithHint(errors.New("deem retrieval needs a file with ranked lists"), "deem retrieval --data ranked.jsonl"))
			}
			for _, k := range o.ks {
				if k < 1 || k > 100_000 {
					return usage.Errorf("-k %d is not a number of documents from 1 to 100000", k)
				}
			}
			b := doc.NewRetrieval(o.ks...)
			var err error
			if len(args) > 0 {
				err = a.rankedItems(ctx, args[0], o, b)
			} else {
				err = a.rankedRows(ctx, o, b)
			}
			if err != nil {
				return usage.Mark(err)
			}
			r := b.Retrieval()
			if r == nil {
				return usage.Mark(deem.WithHint(fmt.Errorf("%s has no ranked list", strings.Join(o.data, ", ")), needsLists))
			}
			if a.json {
				return writeJSON(a.out, r)
			}
			d := &doc.Document{Title: doc.Join(" · ", strings.Join(o.data, ", "), words.Count(r.N, "ranked list"))}
			r.AddTo(d)
			return a.document(d)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.data, "data", nil, "`file` with ranked lists; repeatable")
	f.StringArrayVar(&o.gold, "gold", nil, "`file` with the gold documents by id, if they are in a separate file")
	f.IntSliceVarP(&o.ks, "k", "k", doc.DefaultK(), "how many documents from the top count")
	f.StringToStringVar(&o.with, "with", nil, "an `option=value` of the benchmark")
	return cmd
}

// needsLists is the hint for rows that cannot be scored.
const needsLists = `a row needs "retrieved", a list of ids, and "gold_ids"; deem retrieval BENCHMARK reads the files of a benchmark`

// rankedItems adds the lists of a benchmark's items.
func (a *app) rankedItems(ctx context.Context, name string, o retrievalOptions, b *doc.RetrievalBuilder) error {
	bench, ok := benchmark.All().Named(name)
	if !ok {
		return deem.WithHint(fmt.Errorf("unknown benchmark %q", name), "deem list benchmarks")
	}
	if err := bench.Check(o.with); err != nil {
		return err
	}
	set, err := bench.Open(ctx, benchmark.Options{Data: o.data, Stdin: a.in, With: o.with})
	if err != nil {
		return err
	}
	for it, err := range set.Items() {
		if err != nil {
			return errors.Join(err, set.Close())
		}
		if l, ok := doc.RankedBy(it); ok {
			b.Add(l)
		}
	}
	return set.Close()
}

// rankedRows adds the lists of plain rows.
func (a *app) rankedRows(ctx context.Context, o retrievalOptions, b *doc.RetrievalBuilder) error {
	gold := map[string][]string{}
	if len(o.gold) > 0 {
		err := visitRows(ctx, dataset.Input{Names: o.gold, Stdin: a.in}, func(row *dataset.Row, id string) error {
			ids, ok := dataset.Gold(row.Get, "gold", "relevant", "evidence")
			if !ok {
				return errors.New(`no list "gold_ids"`)
			}
			if _, twice := gold[id]; twice {
				return fmt.Errorf("id %q again", id)
			}
			gold[id] = ids
			return nil
		})
		if err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	return visitRows(ctx, dataset.Input{Names: o.data, Stdin: a.in}, func(row *dataset.Row, id string) error {
		ranked, ok := dataset.Ranked(row.Get)
		if !ok {
			return errors.New(`no list "retrieved"`)
		}
		if seen[id] {
			return fmt.Errorf("id %q again", id)
		}
		seen[id] = true
		want, known := gold[id]
		if len(o.gold) == 0 {
			want, known = dataset.Gold(row.Get, "gold", "relevant", "evidence")
		}
		if !known {
			return fmt.Errorf("no gold documents for %q", id)
		}
		b.Add(doc.RankedList{Cluster: first(row, "cluster"), Ranked: dataset.Sessions(ranked, want), Gold: want})
		return nil
	})
}

// visitRows calls visit with each row of files and its id. Errors have the position of the
// row.
func visitRows(ctx context.Context, in dataset.Input, visit func(row *dataset.Row, id string) error) error {
	files, err := dataset.OpenFiles(ctx, in)
	if err != nil {
		return err
	}
	var problems deem.Problems
	n := 0
	for row, err := range files.Rows(ctx) {
		if err != nil {
			return errors.Join(err, files.Close())
		}
		n++
		id := first(row, "id")
		if id == "" {
			id = fmt.Sprint(n)
		}
		if err := visit(row, id); err != nil {
			problems.Add(deem.Problem{File: row.File, Line: row.Line, Message: err.Error()})
		}
	}
	err = problems.Err()
	if err != nil {
		err = deem.WithHint(err, needsLists)
	}
	return errors.Join(err, files.Close())
}

// first returns the text of a part of a row under the first of its names.
func first(row *dataset.Row, part string) string {
	for _, name := range dataset.ColumnNames(part) {
		if v := row.Get(name); !v.Blank() {
			return v.Str()
		}
	}
	return ""
}
