package catalog

import (
	"deem/internal/benchmark"
	"deem/judge"
	"deem/judge/pairwise"
	"deem/judge/rule"
)

// A Listed is a judge with its description.
type Listed struct {
	Name  string `json:"name"`
	Kind  string `json:"kind,omitempty"` // "rule", "metric" or "model": how it judges
	About string `json:"about"`

	// Sees lists what the judge is shown beside the response: question, reference, context.
	// Tokens is the length of its prompt without the texts of an item, at four bytes each;
	// 0 for a judge without a model, or with several prompts.
	Sees   []string `json:"sees,omitempty"`
	Tokens int      `json:"tokens,omitempty"`

	// Origin says who published the judge, if that is known.
	benchmark.Origin
}

// A ListedBenchmark is a benchmark with its description.
type ListedBenchmark struct {
	Name     string            `json:"name"`
	About    string            `json:"about"`
	Where    string            `json:"where"`
	Licence  string            `json:"licence"`
	Kind     string            `json:"kind"` // what it measures
	Readings []string          `json:"readings"`
	Judges   []string          `json:"judges"`
	Params   []benchmark.Param `json:"params,omitempty"`
}

// Benchmarks returns all benchmarks.
func Benchmarks() []ListedBenchmark {
	var list []ListedBenchmark
	for _, b := range benchmark.All() {
		list = append(list, ListedBenchmark{b.Name, b.About, b.Where, b.Licence, b.Kind, b.Readings, b.Judges, b.Params})
	}
	return list
}

// ruleKind returns "metric" for a rule that says how similar two texts are, and "rule" for one
// that says whether the response is correct.
func ruleKind(name string) string {
	if j, ok := rule.Named(name); ok {
		if _, err := rule.WithPass(j, 1); err == nil {
			return "metric"
		}
	}
	return "rule"
}

// Judges returns the judges that need no file, in the order of [JudgeNames].
func Judges() []Listed {
	var list []Listed
	for _, name := range ruleNames() {
		list = append(list, Listed{Name: name, Kind: ruleKind(name), About: ruleAbout(name), Sees: []string{"reference"}})
	}
	for _, name := range judge.Builtins() {
		d, _ := judge.Builtin(name)
		list = append(list, listedModel(name, d.About, d))
	}
	pair := listedModel(judge.KindPairwise, "which of two responses is better, asked in both orders (--other; docs/panel.md)", pairwise.Declaration())
	pair.Sees = []string{"question", "reference"} // The field that it shows is the other response.
	list = append(list, pair)
	for _, b := range benchmark.All() {
		for _, name := range b.Judges {
			kind := "model"
			if j, err := b.Judge(name, benchmark.Options{}); err == nil && j.Rule != nil {
				kind = "rule"
			}
			l := Listed{Name: name, Kind: kind, About: "the judge of " + b.Name + ": " + b.About}
			if j, err := b.Judge(name, benchmark.Options{}); err == nil && j.Protocol != nil && j.Protocol.Spec().Declaration != nil {
				l = listedModel(name, l.About, j.Protocol.Spec().Declaration)
			}
			if b.Origin != nil {
				l.Origin = b.Origin(name)
			}
			switch {
			case l.Vendor != "":
				l.About = l.Origin.String()
			case l.Origin.About != "":
				l.About = "the judge of " + b.Name + ": " + l.Origin.About
			}
			list = append(list, l)
		}
	}
	return list
}

// listedModel returns the entry of a judge that asks a model.
func listedModel(name, about string, d *judge.Declaration) Listed {
	const bytesPerToken = 4
	return Listed{Name: name, Kind: "model", About: about, Sees: d.Sees(), Tokens: (len(d.System) + len(d.Prompt) + bytesPerToken - 1) / bytesPerToken}
}
