package assembly

import (
	"deem/benchmark"
	"deem/judge"
	"deem/judge/compose"
	"deem/judge/rule"
)

// A Listed judge is one that has a name, with what there is to say about it.
type Listed struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // "rule", or "model" for a judge that asks one
	About string `json:"about"`
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
	list = append(list, Listed{compose.Pairwise, "model", "which of two responses is better, asked in both orders (--other; docs/panel.md)"})
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
