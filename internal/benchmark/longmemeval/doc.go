// Package longmemeval implements the LongMemEval benchmark as published: 500 questions to a
// chat assistant about what its user told it over many sessions, five prompts that ask a
// model for yes or no, and the metrics of the published scripts.
//
// [Open] joins the published questions with a system's answers, which upstream calls
// hypotheses, into items. [Protocol] returns the judge's protocol under one of three
// readings. [Metrics] computes the published metrics from the records of a run, with
// confidence intervals, and reproduces the output of the published scripts. [WriteResults]
// writes the file that the published scripts exchange.
//
// The source is github.com/xiaowu0162/LongMemEval at commit 9e0b455, licence MIT, and the
// paper Wu et al., "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive
// Memory" (ICLR 2025). File names in comments refer to that repository.
package longmemeval

import "strings"

// Name is the name of the benchmark and of its judge.
const Name = "longmemeval"

// The description in the list of benchmarks.
const (
	About   = "500 questions to a chat assistant about its user's earlier sessions, judged yes or no by five prompts"
	Where   = "huggingface.co/datasets/xiaowu0162/longmemeval-cleaned; code at github.com/xiaowu0162/LongMemEval"
	Licence = "MIT"
)

// types are the published types of questions, in the order of print_qa_metrics.py.
var types = []string{
	"single-session-user",
	"single-session-preference",
	"single-session-assistant",
	"multi-session",
	"temporal-reasoning",
	"knowledge-update",
}

// abstentionMark in the id of a question means that the sessions do not answer it, so that
// the right response is to say so. Upstream looks for it anywhere in the id.
const abstentionMark = "_abs"

// isAbstention reports whether upstream treats the question as unanswerable.
func isAbstention(id string) bool { return strings.Contains(id, abstentionMark) }
