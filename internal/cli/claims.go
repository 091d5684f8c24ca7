package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"deem"
	"deem/benchmark"
	"deem/internal/claims"
	"deem/internal/usage"
	"deem/internal/words"
)

const claimsHelp = `Check a published table of percentages by arithmetic alone: no rows, no key and no
network are needed. TABLE is a Markdown, CSV, YAML or JSON file, or - for standard
input, with a row for each system and a column for each category, or the other way
round. The number of questions in a category is given in the header, for example
"multi-hop (n=282)", in a row or column "n", or is known for the benchmark.

For every number deem prints which counts of correct answers produce it and the width of
its 95% interval. It reports a number that no count produces, parts that do not add up
to the overall, an overall that is a plain mean, numbers that fit other categories than
the columns name, and a score above what the known errors of the answer key allow.

A number is called impossible only if no rounding, not even of a number rounded before,
and no mean of a few runs produces it. Each finding says what the arithmetic does not
show.

EXIT STATUS
  0 nothing is impossible   1 error   2 wrong usage or input   4 something is impossible`

// errImpossible is returned if a table contains something impossible.
var errImpossible = errors.New("the table holds something impossible")

func (a *app) claimsCommand() *cobra.Command {
	var o claims.Options
	var runs int
	cmd := &cobra.Command{
		Use: "claims TABLE [flags]", Short: "check a table of percentages by arithmetic", Long: claimsHelp,
		Example:     "  deem claims table.md\n  deem claims table.csv --benchmark locomo",
		Annotations: map[string]string{noConfig: "yes"},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage.Mark(deem.WithHint(fmt.Errorf("deem claims needs one table, not %s", words.Count(len(args), "file")), "deem claims table.md"))
			}
			if runs < 1 || runs > 10 {
				return usage.Errorf("--runs is %d, want 1 to 10", runs)
			}
			name, in := args[0], a.in
			if name != "-" {
				f, err := os.Open(name)
				if err != nil {
					return usage.Mark(err)
				}
				defer func() { _ = f.Close() }()
				in = f
			}
			data, err := io.ReadAll(io.LimitReader(in, claims.MaxBytes+1))
			if err == nil && len(data) > claims.MaxBytes {
				err = errors.New(name + ": a table has at most 16 MiB")
			}
			if err != nil {
				return usage.Mark(err)
			}
			table, err := claims.Read(name, data, o)
			if err != nil {
				return usage.Mark(err)
			}
			r := table.Audit(runs)
			for _, note := range r.Notes {
				a.say("%s", words.Printable(note))
			}
			if a.json {
				_ = writeJSON(a.out, r)
			} else if err := r.Text(a.out); err != nil {
				return err
			}
			if r.Impossible > 0 {
				return errImpossible
			}
			return nil
		},
	}
	o.Known = knownSizes
	cmd.Flags().StringVar(&o.Benchmark, "benchmark", "", "use the categories of this `benchmark`, such as locomo")
	cmd.Flags().IntVar(&runs, "runs", claims.DefaultRuns, "a number may be the mean of up to `n` runs")
	return cmd
}

func knownSizes(name string) (claims.Benchmark, error) {
	b, _ := benchmark.All().Named(name)
	if len(b.Categories) == 0 {
		var sized []string
		for _, b := range benchmark.All() {
			if len(b.Categories) > 0 {
				sized = append(sized, b.Name)
			}
		}
		return claims.Benchmark{}, usage.Mark(usage.Unknown("benchmark with known sizes", name, sized))
	}
	known := claims.Benchmark{}
	for _, c := range b.Categories {
		known.Categories = append(known.Categories, claims.Category{
			ID: c.ID, Name: c.Name, Names: c.Names, Others: c.Others, Size: int64(c.Items), Faulty: int64(c.Faulty), Optional: c.Optional,
		})
	}
	for _, n := range b.Conversations {
		known.Conversations = append(known.Conversations, int64(n))
	}
	return known, nil
}
