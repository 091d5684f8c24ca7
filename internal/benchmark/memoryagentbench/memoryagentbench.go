// Package memoryagentbench implements MemoryAgentBench as published: questions that an
// agent answers after it was fed a long text piece by piece, about retrieval, learning,
// understanding and forgetting. Most parts are scored by rule; summaries of novels and the
// part from LongMemEval are judged by a model.
//
// [Open] reads the result files of upstream's programs. [Rules] judges the items that need
// no model, and [Protocol] judges everything. [NewMetrics] reports each part with its own
// metric, and [WriteResults] writes upstream's file.
//
// The source is github.com/HUST-AI-HYZ/MemoryAgentBench at commit 455306d, licence MIT.
// File names in comments refer to that repository.
package memoryagentbench

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text/metric"
)

// Name is the name of the benchmark.
const Name = "memoryagentbench"

// The description in the list of benchmarks.
const (
	About   = "questions to an agent that was fed a long text piece by piece: by rule, and summaries and chats by a model"
	Where   = "huggingface.co/datasets/ai-hyz/MemoryAgentBench; code at github.com/HUST-AI-HYZ/MemoryAgentBench"
	Licence = "MIT"
)

// The names of the judges.
const (
	RulesName    = Name + "/rules"
	UpstreamName = Name + "/upstream"
)

// version is increased whenever a reading may give a different verdict.
const version = 1

// The fields of an item.
const (
	fieldAnswers    = "answers"       // all answers, as a Python list
	fieldKeypoints  = "keypoints"     // the points that a summary should contain, a JSON list
	fieldPredicted  = "parsed_output" // the movies that upstream found in the response, a JSON list
	fieldMovies     = "gt_movies"     // the movies that it should name, a JSON list
	fieldQuestionID = "question_id"   // of LongMemEval
	fieldType       = "question_type" // of LongMemEval
	fieldPair       = "qa_pair_id"    // upstream's id
)

// isSummary and isChat report whether a part is judged by a model.
func isSummary(source string) bool { return strings.Contains(source, "infbench_sum") }
func isChat(source string) bool    { return strings.Contains(source, "longmemeval") }

// scored returns the metric that is the score of an item of a part.
func scored(source string) string {
	for _, one := range []struct{ part, metric string }{
		{"infbench_sum", "gpt-4-f1"},
		{"longmemeval", "accuracy"},
		{"recsys", "recsys_recall@5"},
		{"eventqa", "eventqa_recall"},
		{"ruler_niah", "ruler_recall"},
		{"icl", "exact_match"},
		{"detective_qa", "exact_match"},
	} {
		if strings.Contains(source, one.part) {
			return one.metric
		}
	}
	return "substring_exact_match"
}

// Rules returns the judge for items that need no model, under a reading; "" means upstream.
func Rules(reading string) (deem.Judge, error) {
	return benchmark.NewRule(RulesName, benchmark.Readings(), reading, version, score)
}

// score returns a verdict with the metrics of the item's part as aspects; the score is one
// of them.
func score(it deem.Item, reading string) (deem.Verdict, error) {
	source := it.Category
	switch {
	case isSummary(source) || isChat(source):
		return deem.Verdict{}, deem.Failf(deem.Input, "a model judges the items of %s: --judge %s", source, UpstreamName)
	case len(it.References) == 0:
		return deem.Verdict{}, deem.Failf(deem.Input, "the item has no answer")
	}
	var all map[string]float64
	if strings.Contains(source, "recsys") {
		var found, wanted []string
		if json.Unmarshal([]byte(it.Fields[fieldPredicted]), &found) != nil || json.Unmarshal([]byte(it.Fields[fieldMovies]), &wanted) != nil || len(wanted) == 0 {
			return deem.Verdict{}, deem.Failf(deem.Input, "the item does not say which movies were found and which are wanted")
		}
		all = map[string]float64{}
		for name, k := range map[string]int{"recsys_recall@1": 1, "recsys_recall@5": 5, "recsys_recall@10": 10} {
			all[name] = recall(found[:min(k, len(found))], wanted)
		}
	} else {
		all = metric.MemoryAgent(source, it.Response, it.References, reading == benchmark.Fixed)
	}
	name := scored(source)
	v := deem.Verdict{Label: name, Score: all[name], Aspects: all}
	if name != "ruler_recall" && !strings.HasPrefix(name, "recsys") {
		v.Label = map[float64]string{1: benchmark.Right, 0: benchmark.Wrong}[v.Score]
	}
	return v, nil
}

// recall returns the share of wanted that was found.
func recall(found, wanted []string) float64 {
	n := 0
	for _, name := range wanted {
		if slices.Contains(found, name) {
			n++
		}
	}
	return float64(n) / float64(len(wanted))
}

// NewMetrics returns the metrics of each part, each with its own metric.
func NewMetrics() *benchmark.Table {
	return &benchmark.Table{
		Benchmark: Name, By: []string{"sub_dataset"}, Apart: true,
		Group: func(it deem.Item, _ string) string {
			return cmp.Or(it.Category, "unknown") + ", " + scored(it.Category)
		},
	}
}
