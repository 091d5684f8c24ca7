// Package graphwalks implements the GraphWalks benchmark: the prompt lists the edges of a
// graph, and the model returns the nodes that a walk reaches, or the parents of a node.
//
// The score is the F1 of the sets of nodes, by rule. The scorer on the dataset's card is
// wrong in two ways, and programs that people use instead differ from it and from each
// other. Each one that could be seen in its source is a reading here.
package graphwalks

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/rows"
	"deem/internal/text"
)

// Name is the name of the benchmark and of its judge.
const Name = "graphwalks"

// The readings.
const (
	// Strict wants the answer as the prompt asks for it, on the last line with text.
	Strict = "strict"

	// Card2026 is the scorer on the dataset's card with the changelog of 2026-02-27.
	Card2026 = "card-2026"

	// LMEval and LMEvalFlexible are the metrics f1 and flexible_f1 of
	// github.com/EleutherAI/lm-evaluation-harness at 4909408,
	// lm_eval/tasks/graphwalks/utils.py.
	LMEval         = "lm-eval"
	LMEvalFlexible = "lm-eval-flexible"

	// OpenBench is the scorer of github.com/groq/openbench at 1ca23c5.
	OpenBench = "openbench"
)

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.OneRule{
		Benchmark: benchmark.Benchmark{
			Name: Name, About: "nodes that a walk in a graph of up to 1M tokens reaches, and parents of a node", Kind: benchmark.KindLongContext,
			Where: "huggingface.co/datasets/openai/graphwalks", Licence: "MIT",
			Readings: []string{Strict, Card2026, LMEval, LMEvalFlexible, OpenBench},
		},
		Version: 1, Score: score,
		Join: benchmark.Join{
			ID: []string{"id"}, Response: rows.Names(rows.Response),
			Further: []string{"prompt", "answer_nodes", "answer", columnType, columnDate}, Key: key, Question: readQuestion,
		},
		Table: benchmark.Table{Metric: "mean F1", By: []string{columnType, columnDate}, Group: func(it deem.Item, by string) string { return it.Fields[by] }},
	}.Entry()
}

// The columns by which the table groups. Upstream corrects rows now and then, so the date
// says which revision a row is of.
const (
	columnType = "problem_type"
	columnDate = "date_added"
)

// key returns the id of a published row, which has none.
func key(row *benchmark.Row) (string, bool) {
	prompt := row.Get("prompt")
	return benchmark.Digest(prompt.Str()), !prompt.Blank()
}

// readQuestion reads a row. The nodes may be a list, or a list as text.
func readQuestion(it *deem.Item, row *benchmark.Row) error {
	v, ok := benchmark.First(row, "answer_nodes", "answer")
	if !ok {
		return benchmark.At(row, "question %q has no nodes under answer_nodes", it.ID)
	}
	if json.Unmarshal(v.JSON(), &it.References) != nil {
		if it.References, ok = text.ParseList(v.Str()); !ok {
			return benchmark.At(row, "question %q: answer_nodes is no list of nodes", it.ID)
		}
	}
	it.Category = benchmark.Text(row, columnType)
	for _, name := range []string{columnType, columnDate} {
		if v := row.Get(name); !v.Blank() {
			benchmark.SetField(it, name, v.Str())
		}
	}
	it.Question = benchmark.End(benchmark.Text(row, "prompt"))
	return nil
}

// space is what Python's \s matches.
const space = `[\s\v\x1c-\x1f\x{85}\p{Z}]*`

// The answers that the readings find in a line.
var (
	strictLine    = regexp.MustCompile(`^Final Answer: ?\[([^\[\]]*)\]$`)
	cardLine      = regexp.MustCompile(`Final Answer: ?\[.*\]`)
	lmEvalLine    = regexp.MustCompile(`Final Answer:` + space + `\[(.*)\]`)
	openBenchLine = regexp.MustCompile(`(?i)Final Answer:` + space + `\[(.*)\]` + space + `$`)
)

// score returns the F1 of the nodes in the response and those of the reference.
func score(it deem.Item, reading string) (deem.Verdict, error) {
	nodes, problem := find(it.Response, reading)
	got, want := set(nodes), set(it.References)
	both := 0
	for node := range got {
		if want[node] {
			both++
		}
	}
	if both > 0 {
		precision, recall := float64(both)/float64(len(got)), float64(both)/float64(len(want))
		return benchmark.Given(2*(recall*precision)/(recall+precision), "f1", problem), nil
	}
	// Without a common node, precision and recall are 0, and the readings differ.
	switch {
	case reading == Card2026:
		return benchmark.Given(1, "f1", "no node in common, which counts as 1"), nil
	case reading == Strict && problem == "" && len(got)+len(want) == 0:
		return benchmark.Given(1, "f1", "no node, and none is right"), nil
	}
	return benchmark.Given(0, "f1", problem), nil
}

func set(nodes []string) map[string]bool {
	m := map[string]bool{}
	for _, node := range nodes {
		m[node] = true
	}
	return m
}

// find returns the nodes that a reading finds in a response, and why it finds none.
func find(response, reading string) (nodes []string, problem string) {
	const none = "the response does not end in a line of the form Final Answer: [...]"
	lines := strings.Split(response, "\n")
	last := lines[len(lines)-1]
	match := func(line *regexp.Regexp, s string) ([]string, string) {
		m := line.FindStringSubmatch(s)
		if m == nil {
			return nil, none
		}
		return split(m[1]), ""
	}
	switch reading {
	case Card2026:
		// Brackets are removed at both ends of the match, which begins with a word.
		return split(strings.Trim(cardLine.FindString(last), "[]")), ""
	case LMEval, LMEvalFlexible:
		lines = strings.Split(strings.TrimRight(response, "\n"), "\n")
		if reading == LMEval {
			lines = lines[len(lines)-1:]
		}
		for _, line := range slices.Backward(lines) {
			if nodes, problem = match(lmEvalLine, line); problem == "" {
				break
			}
		}
		for i := range nodes {
			nodes[i] = strings.Trim(nodes[i], `'"`)
		}
		return nodes, problem
	case OpenBench:
		return match(openBenchLine, last)
	}
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimRightFunc(line, text.IsSpace); line == "" {
			continue
		}
		nodes, problem = match(strictLine, line)
		if strings.Count(line, ",") > 0 && len(nodes) != strings.Count(line, ",")+1 && problem == "" {
			return nil, "the list has an empty item"
		}
		return nodes, problem
	}
	return nil, none
}

// split returns the items of a list with commas, without empty ones.
func split(list string) []string {
	var items []string
	for _, item := range strings.Split(list, ",") {
		if item = text.Strip(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
