// Package forgeteval implements the ForgetEval-Adv benchmark: facts are stored, then
// superseded, released or purged, and the memory must return what is still valid and nothing
// that is not. It judges recorded answers of the store, and asks no model.
//
// The source is the file bench/forgeteval/scoring.py of
// github.com/WaylandYang/forgeteval-anon-supp at commit 3067f91.
package forgeteval

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/cases"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text"
)

// Name is the name of the benchmark and of its judge.
const Name = "forgeteval"

// The readings.
const (
	// Probed also asks the store for each forbidden text, as upstream does now.
	Probed = "probed"

	// Unprobed looks only at the answer to the final query, as upstream did up to its
	// version 0.6.
	Unprobed = "unprobed"
)

// The columns of a case, and those that a system adds, which are also the names of fields.
const (
	columnNeeded      = "must_contain"
	columnForbidden   = "must_not_contain"
	columnMutations   = "mutations"
	columnRecall      = "recall"      // what the store returned for each query, best first
	columnUnsupported = "unsupported" // mutations that the store cannot do
)

// byOperation is the grouping by what was done to the facts.
const byOperation = "operation"

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.OneRule{
		Benchmark: benchmark.Benchmark{
			Name: Name, About: "ForgetEval-Adv: does a memory forget what was superseded, released or purged, and nothing else?", Kind: benchmark.KindMemory,
			Where: "github.com/WaylandYang/forgeteval-anon-supp", Licence: "MIT (as its README states)", Readings: []string{Probed, Unprobed},
		},
		Version: 1, Score: score,
		Join: benchmark.Join{
			ID: []string{"id"}, Response: []string{columnRecall},
			Further:  []string{"family", "final_query", columnNeeded, columnForbidden, columnMutations, columnUnsupported},
			Question: readQuestion, Answer: readRecall,
		},
		Table: benchmark.Table{By: []string{"family", byOperation}, Group: func(it deem.Item, by string) string {
			if by == byOperation {
				return operation(it)
			}
			return it.Category
		}},
	}.Entry()
}

func readQuestion(it *deem.Item, row *benchmark.Row) error {
	if it.Question = benchmark.Text(row, "final_query"); it.Question == "" {
		return benchmark.At(row, "case %q has no final_query", it.ID)
	}
	it.Category = benchmark.Text(row, "family")
	for _, name := range []string{columnNeeded, columnForbidden, columnMutations} {
		v := row.Get(name)
		var list []any
		if v.Missing() || json.Unmarshal(v.JSON(), &list) != nil {
			return benchmark.At(row, "case %q has no list under %s", it.ID, name)
		}
		benchmark.SetField(it, name, string(v.JSON()))
	}
	return json.Unmarshal([]byte(it.Fields[columnNeeded]), &it.References)
}

// readRecall reads what the store returned. The answer to the final query is the response.
func readRecall(it *deem.Item, row *benchmark.Row) error {
	recall := map[string][]string{}
	if err := json.Unmarshal(row.Get(columnRecall).JSON(), &recall); err != nil {
		return benchmark.At(row, "case %q: recall is no object of lists of texts by query", it.ID)
	}
	it.Response = answer(recall[it.Question])
	benchmark.SetField(it, columnRecall, string(row.Get(columnRecall).JSON()))
	if v := row.Get(columnUnsupported); !v.Missing() {
		benchmark.SetField(it, columnUnsupported, string(v.JSON()))
	}
	return nil
}

// answer returns the five best texts as one.
func answer(texts []string) string { return strings.Join(texts[:min(len(texts), 5)], " ") }

// operations returns the names of the mutations of a case.
func operations(it deem.Item) []string {
	var mutations [][]string
	var names []string
	if json.Unmarshal([]byte(it.Fields[columnMutations]), &mutations) == nil {
		for _, m := range mutations {
			if len(m) > 0 {
				names = append(names, m[0])
			}
		}
	}
	return names
}

// operation returns what was done to the facts of a case.
func operation(it deem.Item) string {
	names := slices.Compact(slices.Sorted(slices.Values(operations(it))))
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, " and ")
}

// score looks for needed and forbidden texts in what the store returned.
func score(it deem.Item, reading string) (deem.Verdict, error) {
	var needed, forbidden, unsupported []string
	recall := map[string][]string{}
	for name, to := range map[string]any{columnNeeded: &needed, columnForbidden: &forbidden, columnRecall: &recall, columnUnsupported: &unsupported} {
		if err := json.Unmarshal([]byte(it.Fields[name]), to); err != nil && name != columnUnsupported {
			return deem.Verdict{}, deem.Failf(deem.Input, "the case has no %s", name)
		}
	}
	for _, name := range operations(it) {
		if !slices.Contains([]string{"supersede", "release", "purge"}, name) {
			return deem.Verdict{}, deem.Failf(deem.Input, "there is no mutation %s", text.Repr(name))
		}
		if slices.Contains(unsupported, name) {
			return deem.Verdict{}, deem.Failf(deem.Input, "the store cannot %s", name)
		}
	}
	queries := []string{it.Question}
	if reading == Probed {
		for _, s := range forbidden {
			if query := text.Strip(s); query != "" && !slices.Contains(queries, query) {
				queries = append(queries, query)
			}
		}
	}
	for i, query := range queries {
		texts, asked := recall[query]
		if !asked {
			return deem.Verdict{}, deem.Failf(deem.Input, "recall has no answer to the query %s", text.Repr(query))
		}
		got := fold(answer(texts))
		for _, s := range needed {
			if i == 0 && !strings.Contains(got, fold(s)) {
				return benchmark.Given(0, "", fmt.Sprintf("%s is missing", text.Repr(s))), nil
			}
		}
		for _, s := range forbidden {
			if strings.Contains(got, fold(s)) {
				return benchmark.Given(0, "", fmt.Sprintf("%s is still there, for the query %s", text.Repr(s), text.Repr(query))), nil
			}
		}
	}
	return benchmark.Given(1, "", ""), nil
}

// fold returns a text for comparison in any case, like Python's casefold.
func fold(s string) string { return cases.Fold().String(s) }
