package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/benchmark"
	"deem/internal/dataset"
	"deem/internal/doc"
	"deem/internal/rows"
	"deem/internal/usage"
	"deem/internal/words"
)

const retrievalHelp = `Score ranked lists of documents against the documents that contain the answer. A row has
an id, a list "retrieved" with the ids of documents, best first, and a list "gold_ids";
--gold names a separate file for the second, and --map names columns that are called
otherwise. Result files of benchmarks with such lists work too; name the benchmark if their
rows are nested. If no gold document is in any list, the ids do not belong together, and
nothing is scored.

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
	columns    map[string]string // of the parts of a row, as mapped
}

// rankedParts are the parts of a row that --map can name a column for.
var rankedParts = []string{"retrieved", "gold", "id", "cluster"}

// check rejects options that mean nothing.
func (o retrievalOptions) check(args []string) error {
	if len(o.data) == 0 {
		return deem.WithHint(errors.New("deem retrieval needs a file with ranked lists"), "deem retrieval --data ranked.jsonl")
	}
	for _, k := range o.ks {
		if k < 1 || k > 100_000 {
			return fmt.Errorf("-k %d is not a number of documents from 1 to 100000", k)
		}
	}
	for part := range o.columns {
		if !slices.Contains(rankedParts, part) {
			return deem.WithHint(fmt.Errorf("--map: a ranked list has no part %q", part), "the parts are %s", strings.Join(rankedParts, ", "))
		}
	}
	if len(o.columns) > 0 && len(args) > 0 {
		return errors.New("--map is for plain rows, and " + args[0] + " knows its own columns")
	}
	return nil
}

func (a *app) retrievalCommand() *cobra.Command {
	var o retrievalOptions
	cmd := &cobra.Command{
		Use: "retrieval [BENCHMARK] --data FILE [flags]", Short: "score ranked lists of documents", Long: retrievalHelp, Args: atMost(1),
		Example: "  deem retrieval --data ranked.jsonl\n  deem retrieval --data ranked.jsonl --gold gold.jsonl -k 5,10,50",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if err := o.check(args); err != nil {
				return usage.Mark(err)
			}
			b := doc.NewRetrieval(o.ks...)
			var err error
			hint := needsLists
			if len(args) > 0 {
				err = a.rankedItems(ctx, args[0], o, b)
			} else {
				hint, err = a.rankedRows(ctx, o, b)
			}
			if err != nil {
				return usage.Mark(err)
			}
			r := b.Retrieval()
			if r == nil {
				return usage.Mark(deem.WithHint(fmt.Errorf("%s has no ranked list", strings.Join(o.data, ", ")), "%s", hint))
			}
			if err := r.Err(); err != nil {
				return usage.Mark(deem.WithHint(fmt.Errorf("%s: %w", strings.Join(o.data, ", "), err), "%s", hint))
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
	f.StringToStringVar(&o.columns, "map", nil, "which `columns` hold what, for example retrieved=found,gold=targets; the parts are "+strings.Join(rankedParts, ", "))
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

// rankedRows adds the lists of plain rows. It returns a hint for rows whose columns are not
// the right ones.
func (a *app) rankedRows(ctx context.Context, o retrievalOptions, b *doc.RetrievalBuilder) (string, error) {
	gold := map[string][]string{}
	goldOf := func(row *dataset.Row) ([]string, bool) {
		return dataset.Gold(o.reader(row, "gold"), "gold", "relevant", "evidence")
	}
	if len(o.gold) > 0 {
		v := rankedVisit{options: o, missing: o.missing("gold", "gold_ids")}
		err := v.rows(ctx, dataset.Input{Names: o.gold, Stdin: a.in}, func(row *dataset.Row, id string) error {
			ids, ok := goldOf(row)
			if !ok {
				return v.missing
			}
			if _, twice := gold[id]; twice {
				return fmt.Errorf("id %q again", id)
			}
			gold[id] = ids
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	seen := map[string]bool{}
	v := rankedVisit{options: o, missing: o.missing("retrieved", "retrieved")}
	err := v.rows(ctx, dataset.Input{Names: o.data, Stdin: a.in}, func(row *dataset.Row, id string) error {
		ranked, ok := dataset.Ranked(o.reader(row, "retrieved"))
		if !ok {
			return v.missing
		}
		if seen[id] {
			return fmt.Errorf("id %q again", id)
		}
		seen[id] = true
		want, known := gold[id]
		if len(o.gold) == 0 {
			want, known = goldOf(row)
		}
		if !known {
			return fmt.Errorf("no gold documents for %q", id)
		}
		b.Add(doc.RankedList{Cluster: cmp.Or(o.text(row, "cluster"), rows.Conversation(id)), Ranked: dataset.Sessions(ranked, want), Gold: want})
		return nil
	})
	return v.hint(), err
}

// reader returns what reads the columns of a part in a row: the mapped column, whichever name
// is asked for, or the row itself.
func (o retrievalOptions) reader(row *dataset.Row, part string) func(path string) dataset.Value {
	if column, ok := o.columns[part]; ok {
		return func(string) dataset.Value { return row.Get(column) }
	}
	return row.Get
}

// text returns the text of a part of a row.
func (o retrievalOptions) text(row *dataset.Row, part string) string {
	get := o.reader(row, part)
	for _, name := range rows.Names(part) {
		if v := get(name); !v.Blank() {
			return v.Str()
		}
	}
	return ""
}

// missing returns the error of a row without the list of a part.
func (o retrievalOptions) missing(part, name string) error {
	if column, ok := o.columns[part]; ok {
		return fmt.Errorf("no list in the column %q", column)
	}
	return fmt.Errorf("no list %q", name)
}

// A rankedVisit visits the rows of files.
type rankedVisit struct {
	options retrievalOptions
	missing error    // of a row without its list, told once with the number of such rows
	columns []string // of the first row
	lists   []string // the columns of the first row that contain lists, sorted
}

// rows calls visit with each row of files and its id. Errors have the position of the row.
func (v *rankedVisit) rows(ctx context.Context, in dataset.Input, visit func(row *dataset.Row, id string) error) error {
	files, err := dataset.OpenFiles(ctx, in)
	if err != nil {
		return err
	}
	var problems deem.Problems
	var without deem.Problem
	n, missing := 0, 0
	for row, err := range files.Rows(ctx) {
		if err != nil {
			return errors.Join(err, files.Close())
		}
		if n++; n == 1 {
			v.columns, v.lists = row.Names(), listsOf(row)
		}
		err := visit(row, cmp.Or(v.options.text(row, "id"), fmt.Sprint(n)))
		switch {
		case err == nil:
		case errors.Is(err, v.missing):
			if missing++; missing == 1 {
				without = deem.Problem{File: row.File, Line: row.Line}
			}
		default:
			problems.Add(deem.Problem{File: row.File, Line: row.Line, Message: err.Error()})
		}
	}
	if missing > 0 {
		without.Message = fmt.Sprintf("%v (%s)", v.missing, words.Count(missing, "row"))
		problems.Add(without)
	}
	err = problems.Err()
	if err != nil {
		err = deem.WithHint(err, "%s", v.hint())
	}
	return errors.Join(err, files.Close())
}

// hint says which columns --map can name.
func (v *rankedVisit) hint() string {
	if len(v.lists) == 0 {
		return "--map retrieved=COLUMN,gold=COLUMN names the columns; this file has " + strings.Join(v.columns, ", ")
	}
	return "--map retrieved=COLUMN,gold=COLUMN names other columns; this file has lists in " + strings.Join(v.lists, ", ")
}

// listsOf returns the columns of a row that contain lists, and those inside its objects.
func listsOf(row *dataset.Row) []string {
	var list []string
	var visit func(path string, v dataset.Value, depth int)
	visit = func(path string, v dataset.Value, depth int) {
		if _, ok := v.List(); ok {
			list = append(list, path)
			return
		}
		if depth <= 3 {
			v.Members(func(key string, value dataset.Value) { visit(path+"."+key, value, depth+1) })
		}
	}
	for _, name := range row.Names() {
		visit(name, row.Get(name), 1)
	}
	slices.Sort(list)
	return list
}
