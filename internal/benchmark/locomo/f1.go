package locomo

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text"
	"deem/internal/text/metric"
	"deem/judge"
)

// F1Name is the name of the published rule as a judge.
const F1Name = "locomo/f1"

// The readings of the rule.
const (
	// Upstream follows task_eval/evaluation.py, including its bugs.
	Upstream = "upstream"

	// Fixed fixes obvious slips. In category 1 upstream splits texts at every comma:
	// here an empty part does not count, and a comma within a number or before a year
	// does not split. Several evidence ids in one string are separated.
	Fixed = "fixed"
)

// Readings returns the names of the readings of the rule, the default first.
func Readings() []string { return []string{Upstream, Fixed} }

// The names of the fields that items have.
const (
	AdversarialField  = "adversarial_answer" // category 5: the answer that the question is meant to provoke
	EvidenceTextField = "evidence_text"      // those turns, one per line, such as [D1:3, said on 8 May, 2023] Caroline: "Hi!"
	EvidenceField     = "evidence"           // a JSON list of the turns that contain the answer, such as ["D1:3"]
	ContextField      = "context_ids"        // a JSON list of the turns or sessions that the system retrieved, such as ["D1:3"] or ["S1"]
)

// RecallAspect is the aspect of a verdict with the share of the evidence that the system
// retrieved. Only items that state what was retrieved have it.
const RecallAspect = "recall"

// The labels of the rule.
const (
	full     = "full"
	partial  = "partial"
	none     = "none"
	abstains = "abstains" // category 5
	answers  = "answers"  // category 5
)

// f1Version is increased whenever the verdicts of the rule may change.
const f1Version = 1

// An F1 is the published rule as a judge: the overlap of stemmed words, scored differently
// by category. It does not use a model.
type F1 struct {
	reading string
	policy  Policy
}

var _ deem.Identified = (*F1)(nil)

// NewF1 returns the rule under the named reading, "" meaning [Upstream], and the policy for
// category 5, "" meaning [Excluded]. The policy [Abstention] needs a model and is not
// available for the rule.
func NewF1(reading string, category5 Policy) (*F1, error) {
	reading, err := benchmark.CheckReading(F1Name, reading, Readings())
	if err != nil {
		return nil, err
	}
	policy, err := ParsePolicy(string(category5))
	if err != nil {
		return nil, err
	}
	if policy == Abstention {
		return nil, deem.WithHint(fmt.Errorf("judge %s is a rule, and the policy %q for category 5 asks a model", F1Name, Abstention),
			"take %q, or a judge that asks a model: %s, %s", Phrases, StrictName, LenientName)
	}
	return &F1{reading, policy}, nil
}

// Name returns "locomo/f1".
func (j *F1) Name() string { return F1Name }

// Identity returns the [judge.Spec] of the rule.
func (j *F1) Identity() any {
	return judge.Spec{Kind: judge.KindRule, Name: F1Name, Version: f1Version, Reading: j.reading, Options: map[string]string{"category5": string(j.policy)}}
}

// Reading returns the name of the reading.
func (j *F1) Reading() string { return j.reading }

// Judge scores the response with its best reference.
func (j *F1) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return deem.Verdict{}, err
	}
	v, err := j.verdict(it)
	if err != nil {
		return deem.Verdict{}, err
	}
	if recall, ok := j.recall(it); ok {
		v.Aspects = map[string]float64{RecallAspect: recall}
	}
	return v, nil
}

func (j *F1) verdict(it deem.Item) (deem.Verdict, error) {
	switch it.Category {
	case MultiHop, Temporal, OpenDomain, SingleHop:
	case Adversarial:
		if j.policy == Excluded {
			return deem.Verdict{}, left()
		}
		return phrases(it), nil
	default:
		return deem.Verdict{}, deem.Failf(deem.Input, "category %q is not one of 1 to 5", it.Category)
	}
	if len(it.References) == 0 {
		return deem.Verdict{}, deem.Failf(deem.Input, "no reference to compare with")
	}
	best := 0.0
	for _, ref := range it.References {
		best = max(best, j.score(it.Category, it.Response, ref))
	}
	label := partial
	switch best {
	case 0:
		label = none
	case 1:
		label = full
	}
	return deem.Verdict{Label: label, Score: best}, nil
}

// phrases returns upstream's verdict on a question about something that was never said. It
// needs no reference. Upstream reads one anyway and stops if it is missing, which it is for
// all but two of these questions.
func phrases(it deem.Item) deem.Verdict {
	score := metric.LoCoMoAbstains(it.Response)
	if score == 1 {
		return deem.Verdict{Label: abstains, Score: score}
	}
	return deem.Verdict{Label: answers, Score: score}
}

func (j *F1) score(category, response, reference string) float64 {
	if category == MultiHop && j.reading == Fixed {
		return fixedMulti(response, reference)
	}
	score, err := metric.LoCoMo(int(category[0]-'0'), response, reference)
	if err != nil {
		panic("locomo: " + err.Error()) // The category was checked.
	}
	return score
}

// fixedMulti is the mean, over the parts of the reference, of the F1 with the best matching
// part of the response.
func fixedMulti(response, reference string) float64 {
	want, got := parts(reference), parts(response)
	if len(want) == 0 || len(got) == 0 {
		return 0
	}
	sum := 0.0
	for _, w := range want {
		best := 0.0
		for _, g := range got {
			best = max(best, metric.LoCoMoF1(g, w))
		}
		sum += best
	}
	return sum / float64(len(want))
}

// Commas that do not separate answers: those within a number, such as 1,000, and those
// between a day or a month and its year, such as May 7, 2023.
var (
	number = regexp.MustCompile(`\b\d{1,3}(?:,\d{3})+\b`)
	date   = regexp.MustCompile(`(\d|(?i:january|february|march|april|may|june|july|august|september|october|november|december)),(\s*(?:19|20)\d\d)\b`)
)

// parts splits a text into its answers.
func parts(s string) []string {
	// Normalisation drops commas anyway, so removing these changes nothing else.
	s = number.ReplaceAllStringFunc(s, func(n string) string { return strings.ReplaceAll(n, ",", "") })
	s = date.ReplaceAllString(s, "$1$2")
	var list []string
	for part := range strings.SplitSeq(s, ",") {
		if part = text.Strip(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// recall returns the share of the evidence that was retrieved, and reports false if the
// item does not state what was retrieved. Without evidence upstream counts 1, and the fixed
// reading nothing.
func (j *F1) recall(it deem.Item) (float64, bool) {
	context, ok := ids(it.Fields[ContextField])
	if !ok {
		return 0, false
	}
	evidence, _ := ids(it.Fields[EvidenceField])
	if j.reading == Fixed {
		evidence = apart(evidence)
		if len(evidence) == 0 {
			return 0, false
		}
	}
	return metric.LoCoMoRecall(evidence, context), true
}

// ids parses a field with a JSON list of ids.
func ids(field string) ([]string, bool) {
	var list []string
	if field == "" || json.Unmarshal([]byte(field), &list) != nil {
		return nil, false
	}
	return list, list != nil
}

// turn matches the id of a turn: session, and position in it.
var turn = regexp.MustCompile(`D:?(\d+):(\d+)`)

// apart finds the ids of turns in evidence. Upstream's file has several in one string,
// "D8:6; D9:17", or an extra colon, "D:11:26". An invalid id, such as "D", is left out.
func apart(evidence []string) []string {
	var list []string
	for _, e := range evidence {
		for _, m := range turn.FindAllStringSubmatch(e, -1) {
			if id := "D" + m[1] + ":" + m[2]; !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	return list
}
