package longbench

import (
	"encoding/json"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text/metric"
)

// A task is one of the 21.
type task struct {
	name    string
	metric  string // label of its verdicts
	size    int    // published number of items
	even    bool   // also in LongBench-E
	oneLine bool   // only the first line of the response counts
}

// The metrics, as labels of verdicts.
const (
	f1             = "f1"
	f1Zh           = "f1_zh"
	rougeL         = "rouge_l"
	rougeLZh       = "rouge_l_zh"
	classification = "classification"
	retrieval      = "retrieval"
	retrievalZh    = "retrieval_zh"
	count          = "count"
	codeSim        = "code_sim"
)

// tasks are in the order of dataset2metric in eval.py.
var tasks = []task{
	{"narrativeqa", f1, 200, false, false},
	{"qasper", f1, 200, true, false},
	{"multifieldqa_en", f1, 150, true, false},
	{"multifieldqa_zh", f1Zh, 200, false, false},
	{"hotpotqa", f1, 200, true, false},
	{"2wikimqa", f1, 200, true, false},
	{"musique", f1, 200, false, false},
	{"dureader", rougeLZh, 200, false, false},
	{"gov_report", rougeL, 200, true, false},
	{"qmsum", rougeL, 200, false, false},
	{"multi_news", rougeL, 200, true, false},
	{"vcsum", rougeLZh, 200, false, false},
	{"trec", classification, 200, true, true},
	{"triviaqa", f1, 200, true, true},
	{"samsum", rougeL, 200, true, true},
	{"lsht", classification, 200, false, true},
	{"passage_retrieval_en", retrieval, 200, true, false},
	{"passage_count", count, 200, true, false},
	{"passage_retrieval_zh", retrievalZh, 200, false, false},
	{"lcc", codeSim, 500, true, false},
	{"repobench-p", codeSim, 500, true, false},
}

// table finds tasks by name.
var table = benchmark.ByTask[task]{Title: "LongBench", Tasks: tasks, Name: func(t task) string { return t.name }}

// score returns the score of an item's response: the best over all references, and at least
// 0, upstream's initial value.
func (t task) score(it deem.Item, reading string) (float64, error) {
	var classes []string
	if t.metric == classification {
		list := it.Fields[fieldClasses]
		if of, ok := it.Fields[fieldUpstream]; ok && reading == Upstream {
			list = of // those of the last line of the file
		}
		if list == "" {
			return 0, deem.Failf(deem.Input, "task %s needs the classes to choose from, in the field %s", t.name, fieldClasses)
		}
		if err := json.Unmarshal([]byte(list), &classes); err != nil {
			return 0, deem.Failf(deem.Input, "the classes are not a JSON list of texts: %v", err)
		}
	}
	response := it.Response
	if t.oneLine {
		// A carriage return and a space are not line feeds: upstream keeps them.
		response, _, _ = strings.Cut(strings.TrimLeft(response, "\n"), "\n")
	}
	best := 0.0
	for _, ref := range it.References {
		s, err := t.one(response, ref, classes, reading == Upstream)
		if err != nil {
			return 0, deem.Failf(deem.Input, "%v", err)
		}
		best = max(best, s)
	}
	return best, nil
}

// one compares a response with one reference.
func (t task) one(response, ref string, classes []string, upstream bool) (float64, error) {
	switch t.metric {
	case f1:
		return metric.F1(response, ref).F1, nil
	case f1Zh:
		return metric.F1Zh(response, ref).F1, nil
	case rougeL:
		return metric.LongBenchROUGE(response, ref, upstream), nil
	case rougeLZh:
		return metric.LongBenchROUGEZh(response, ref, upstream), nil
	case classification:
		if upstream {
			return metric.Classification(response, ref, classes), nil
		}
		return classify(response, ref, classes), nil
	case retrieval:
		return metric.Retrieval(response, ref)
	case retrievalZh:
		return metric.RetrievalZh(response, ref)
	case count:
		return metric.Count(response, ref), nil
	case codeSim:
		if upstream {
			return metric.CodeSimDifflib(response, ref), nil
		}
		return metric.CodeSimLevenshtein(response, ref), nil
	}
	panic("longbench: no metric " + t.metric) // The table has no other.
}

// classify is the classification score without upstream's bug of removing classes from the
// list while iterating over it, which skips every second one. Each class whose name is part
// of the right one's is removed, and no class counts twice.
func classify(response, ref string, classes []string) float64 {
	var named []string
	for _, c := range classes {
		part := c != ref && strings.Contains(ref, c)
		if !part && strings.Contains(response, c) && !slices.Contains(named, c) {
			named = append(named, c)
		}
	}
	if !slices.Contains(named, ref) {
		return 0
	}
	return 1 / float64(len(named))
}
