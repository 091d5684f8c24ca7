package catalog

import (
	"deem/benchmark"
	"deem/judge"
	"deem/judge/rule"
)

// A Listed judge is one that has a name, with what there is to say about it.
type Listed struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // "rule", or "model" for a judge that asks one
	About string `json:"about"`
}

// A ListedBenchmark is a benchmark with what there is to say about it.
type ListedBenchmark struct {
	Name     string            `json:"name"`
	About    string            `json:"about"`
	Where    string            `json:"where"`
	Licence  string            `json:"licence"`
	Readings []string          `json:"readings"`
	Judges   []string          `json:"judges"`
	Params   []benchmark.Param `json:"params,omitempty"`
}

// Benchmarks returns all benchmarks.
func Benchmarks() []ListedBenchmark {
	var list []ListedBenchmark
	for _, b := range benchmark.All() {
		list = append(list, ListedBenchmark{b.Name, b.About, b.Where, b.Licence, b.Readings, b.Judges, b.Params})
	}
	return list
}

// Judges returns the judges that need no file, in the order of [JudgeNames].
func Judges() []Listed {
	var list []Listed
	for _, name := range rule.Names() {
		list = append(list, Listed{name, "rule", rule.Doc(name)})
	}
	for _, name := range judge.Builtins() {
		d, _ := judge.Builtin(name)
		list = append(list, Listed{name, "model", d.About})
	}
	list = append(list, Listed{judge.KindPairwise, "model", "which of two responses is better, asked in both orders (--other; docs/panel.md)"})
	for _, b := range benchmark.All() {
		for _, name := range b.Judges {
			kind := "model"
			if j, err := b.Judge(name, benchmark.Options{}); err == nil && j.Rule != nil {
				kind = "rule"
			}
			list = append(list, Listed{name, kind, "the judge of " + b.Name + ": " + b.About})
		}
	}
	return list
}
