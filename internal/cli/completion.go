package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deem/internal/catalog"
	"deem/internal/dataset"
	"deem/internal/reports"
	"deem/internal/words"
	"deem/model/fake"
)

// completedRuns is the maximum number of runs that completion offers.
const completedRuns = 50

// completeValues adds shell completion of flag values and arguments: judges, models,
// formats, benchmarks and runs.
func (a *app) completeValues(cmd *cobra.Command) {
	lists := map[string]func(ctx context.Context) []string{
		"judge": func(context.Context) []string {
			var names []string
			for _, j := range catalog.Judges() {
				names = append(names, j.Name+"\t"+j.About)
			}
			return names
		},
		"model": func(context.Context) []string { // the prefixes of model names, and the models for tests
			var names []string
			for _, v := range a.env.Vendors() {
				names = append(names, v.Name+":\t"+v.About)
			}
			for _, f := range fake.Names() {
				name, _, _ := strings.Cut(f.Spec, "[")
				names = append(names, "fake:"+name+"\t"+f.Doc)
			}
			return names
		},
		"format": func(context.Context) []string {
			if cmd.Name() == "export" {
				return exportFormats
			}
			return dataset.Formats()
		},
		"run": a.runNames,
	}
	complete := func(list func(context.Context) []string, also cobra.ShellCompDirective) cobra.CompletionFunc {
		return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if a.prepare(cmd) != nil { // A shell cannot show an error.
				return nil, cobra.ShellCompDirectiveDefault
			}
			names := slices.DeleteFunc(slices.Clone(list(cmd.Context())), func(name string) bool { return !strings.HasPrefix(name, typed) })
			return names, also
		}
	}
	for name, list := range lists {
		also := cobra.ShellCompDirectiveNoFileComp
		if name == "judge" {
			also = cobra.ShellCompDirectiveDefault // A YAML file is a judge too.
		}
		if name == "model" {
			also |= cobra.ShellCompDirectiveNoSpace
		}
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, complete(list, also)) // It fails only without the flag.
		}
	}
	if strings.Contains(cmd.Use, "[BENCHMARK]") {
		cmd.ValidArgsFunction = complete(func(context.Context) []string { return benchmarkNames() }, cobra.ShellCompDirectiveNoFileComp)
	} else if strings.Contains(cmd.Use, "RUN") && len(cmd.ValidArgs) == 0 {
		cmd.ValidArgsFunction = complete(a.runNames, cobra.ShellCompDirectiveDefault) // A run file is a run too.
	}
	for _, sub := range cmd.Commands() {
		a.completeValues(sub)
	}
}

// runNames returns the ids of the latest runs, or none if they cannot be read.
func (a *app) runNames(ctx context.Context) []string {
	st, err := a.readStore(ctx)
	if err != nil {
		return nil
	}
	defer func() { _ = st.Close() }()
	names := []string{"last\tthe run that was judged last"}
	for run, err := range st.Runs(ctx) {
		if err != nil || len(names) > completedRuns {
			break
		}
		names = append(names, run.ID+"\t"+words.Printable(run.Judge.Name+", "+reports.FileName(run)))
	}
	return names
}
