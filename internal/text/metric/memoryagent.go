package metric

import (
	"regexp"
	"strings"

	"deem/internal/text"
)

// MemoryAgent returns the metrics of MemoryAgentBench for a response to a question with the
// given answers, under upstream's names: post_process in utils/eval_other_utils.py. The
// source is the name of the part of the benchmark. There must be at least one answer.
//
// With words, an answer counts as contained only as whole words: upstream finds 10 in 2010.
func MemoryAgent(source, response string, answers []string, words bool) map[string]float64 {
	// parse_output: the text after "Answer:" in its line, or the first line.
	line, _, _ := strings.Cut(response, "\n")
	if m := answerLine.FindStringSubmatch(response); m != nil {
		line = m[1]
	}
	line = text.Strip(answerPrefix.ReplaceAllString(text.Strip(line), ""))
	switch {
	case strings.Contains(source, "icl"):
		return memoryAgentTexts(line, answers, words)
	case strings.Contains(source, "eventqa"):
		m := memoryAgentTexts(line, answers, words)
		m["eventqa_recall"] = 0
		if memoryAgentShare(response, answers, words) == 1 {
			m["eventqa_recall"] = 1
		}
		return m
	case strings.Contains(source, "ruler_niah"):
		return map[string]float64{"ruler_recall": memoryAgentShare(response, answers, words)}
	}
	m := memoryAgentTexts(response, answers, words)
	for name, value := range memoryAgentTexts(line, answers, words) {
		m[name] = max(m[name], value)
	}
	return m
}

var (
	answerLine   = regexp.MustCompile(`(?i)Answer:(.*)`)
	answerPrefix = regexp.MustCompile(`(?i)^Answer:`)
)

// memoryAgentShare returns the share of the answers that the response contains.
func memoryAgentShare(response string, answers []string, words bool) float64 {
	n := 0
	for _, a := range answers {
		if words && containsSQuAD(response, a, true) || !words && strings.Contains(text.Lower(response), text.Lower(a)) {
			n++
		}
	}
	return float64(n) / float64(len(answers))
}

// containsSQuAD reports whether a response contains an answer, both normalized like SQuAD.
func containsSQuAD(response, answer string, words bool) bool {
	response, answer = text.SQuAD(response), text.SQuAD(answer)
	if words {
		return answer != "" && strings.Contains(" "+response+" ", " "+answer+" ")
	}
	return strings.Contains(response, answer)
}

// memoryAgentTexts is calculate_metrics: the best value of each metric over the answers.
func memoryAgentTexts(response string, answers []string, words bool) map[string]float64 {
	m := map[string]float64{}
	best := func(name string, value float64) { m[name] = max(m[name], value) }
	share := map[bool]float64{true: 1}
	for _, a := range answers {
		got, want := text.SQuAD(response), text.SQuAD(a)
		best("exact_match", share[got == want])
		best("substring_exact_match", share[containsSQuAD(response, a, words)])
		f1 := 0.0
		if got == want || !closedAnswer[got] && !closedAnswer[want] {
			f1 = F1(response, a).F1
		}
		best("f1", f1)
		l, sum := ROUGEL(response, a, true), ROUGELsum(response, a, true)
		best("rougeL_f1", l.F1)
		best("rougeL_recall", l.Recall)
		best("rougeLsum_f1", sum.F1)
		best("rougeLsum_recall", sum.Recall)
	}
	return m
}

// closedAnswer are the answers that have no overlap with any other.
var closedAnswer = map[string]bool{"yes": true, "no": true, "noanswer": true}
