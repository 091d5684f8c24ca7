// Package longmemeval2 implements the LongMemEval-V2 benchmark as published: questions to
// an agent about the web sites and the enterprise software that it worked in. Each question
// names its evaluation: one of four rules, or one of two prompts for a model.
//
// [Open] reads questions and responses into items. [Protocol] decides by rule what needs no
// model and asks about the rest. [Metrics] are upstream's metrics with confidence
// intervals, and [LAFS] relates accuracy to latency.
//
// The source is github.com/xiaowu0162/LongMemEval-V2 at commit be15ea6, licence Apache-2.0.
// File names in comments refer to that repository.
package longmemeval2

import "strings"

// Name is the name of the benchmark and of its judge.
const Name = "longmemeval-v2"

// The description in the list of benchmarks.
const (
	About   = "questions to an agent about the software it worked in, each judged by the rule or the prompt that it names; accuracy against latency"
	Where   = "huggingface.co/datasets/xiaowu0162/longmemeval-v2; code at github.com/xiaowu0162/LongMemEval-V2"
	Licence = "Apache-2.0"
)

// categoryOf is upstream's short name of each type of question, CATEGORY_MAP in
// evaluation/harness.py.
var categoryOf = map[string]string{
	"static-environment":      "static",
	"static-environment-abs":  "static-abs",
	"dynamic-environment":     "dynamic",
	"dynamic-environment-abs": "dynamic-abs",
	"procedure":               "procedure",
	"procedure-abs":           "procedure-abs",
	"errors-gotchas":          "gotchas",
}

// Upstream's categories in its order.
var (
	answerable  = []string{"static", "dynamic", "procedure", "gotchas"}
	unanswered  = []string{"static-abs", "dynamic-abs", "procedure-abs"}
	combinedAbs = []string{"static", "dynamic", "procedure"}
)

// isAbstention reports whether the premise of questions of this type is wrong, so that the
// right response is to say so.
func isAbstention(kind string) bool { return strings.HasSuffix(categoryOf[kind], "-abs") }
