package halumem

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text"
	"deem/judge"
)

// The readings: how parts of a results file become items and replies become verdicts.
const (
	// Upstream follows evaluation.py and llms.py, including their bugs: it finds only
	// JSON in a fence that begins with ```json, and treats the JSON boolean true as not
	// included.
	Upstream = "upstream"

	// Strict routes as upstream does, finds the JSON anywhere in the reply, and accepts
	// only labels that were offered.
	Strict = "strict"

	// Fixed reads like Strict, and fixes the routing: an update for which the system
	// retrieved nothing stays an update, and counts as an omission.
	Fixed = "fixed"
)

// Readings returns the names of the readings, the default first.
func Readings() []string { return []string{Upstream, Strict, Fixed} }

// checkReading returns the reading for a name; "" means the default.
func checkReading(name string) (string, error) {
	if name == "" {
		return Upstream, nil
	}
	if slices.Contains(Readings(), name) {
		return name, nil
	}
	err := fmt.Errorf("halumem has no reading %q", name)
	if near := text.Closest(name, Readings()); near != "" {
		return "", deem.WithHint(err, "did you mean %s? it has %s", near, strings.Join(Readings(), ", "))
	}
	return "", deem.WithHint(err, "it has %s", strings.Join(Readings(), ", "))
}

// readerVersion is increased whenever a reading may give a different verdict, so that the
// judge's hash changes too.
const readerVersion = 2

// maxTokens is the limit of llms.py, which uses temperature 0.
const maxTokens = 16384

//go:embed prompts/*.txt
var promptFiles embed.FS

// promptOf is the file name of each stage's prompt, without folder and extension.
var promptOf = map[string]string{
	Integrity: "memory_integrity",
	Accuracy:  "memory_accuracy",
	Update:    "update_memory",
	QA:        "question",
}

// A P is the protocol of eval_tools.py under one reading: one prompt per stage. It is
// deterministic and safe for concurrent use.
type P struct {
	reading string
	prompts map[string]string // the bytes, by stage
}

var (
	_ judge.Readable = (*P)(nil)
	_ judge.Decider  = (*P)(nil)
)

// Protocol returns the protocol under the named reading; "" means [Upstream].
func Protocol(reading string) (*P, error) {
	reading, err := checkReading(reading)
	if err != nil {
		return nil, err
	}
	p := &P{reading: reading, prompts: map[string]string{}}
	all := benchmark.Embedded(promptFiles)
	for stage, name := range promptOf {
		p.prompts[stage] = all[name]
	}
	return p, nil
}

// Name returns "halumem".
func (p *P) Name() string { return Name }

// Spec returns the bytes of the prompts, the reading and the parameters.
func (p *P) Spec() judge.Spec {
	return judge.Spec{
		Kind: judge.KindModel, Name: Name, Version: readerVersion, Reading: p.reading, Prompts: p.prompts,
		Params: &judge.Params{MaxTokens: maxTokens, Temperature: new(float64)},
	}
}

// Reading returns the name of the current reading.
func (p *P) Reading() string { return p.reading }

// Reread returns the protocol under the reading to compare with: upstream, or strict if the
// current one is upstream. It is never fixed, because that reading also has different
// items.
func (p *P) Reread() judge.Readable {
	twin := *p
	if twin.reading = Upstream; p.reading == Upstream {
		twin.reading = Strict
	}
	return &twin
}

// FailuresWrong returns false. Upstream's metrics named "(all)" do count an unreadable
// reply as wrong, but upstream never combines the stages into one score, so there is no
// published score to compare with the mean over all items. [Metrics] has upstream's metrics
// under their own names.
func (p *P) FailuresWrong() bool { return false }

// Request renders the prompt of the item's stage.
func (p *P) Request(it deem.Item) (deem.Request, error) {
	prompt, ok := p.prompts[it.Category]
	switch {
	case !ok:
		return deem.Request{}, deem.Failf(deem.Input, "halumem has no stage %q", it.Category)
	case it.Fields[fieldMissing] != "":
		return deem.Request{}, deem.Failf(deem.Input, "the data have no %s here; the published program stops at it", it.Fields[fieldMissing])
	case it.Category != Accuracy && len(it.References) == 0:
		return deem.Request{}, deem.Failf(deem.Input, "the item has no reference")
	}
	reference := ""
	if len(it.References) > 0 {
		reference = it.References[0]
	}
	// A name means the same in every prompt.
	req := deem.Prompt(benchmark.Format(prompt,
		"memories", it.Response, "candidate_memory", it.Response, "response", it.Response,
		"expected_memory_point", reference, "updated_memory", reference, "reference_answer", reference,
		"dialogue", it.Fields[fieldDialogue], "golden_memories", it.Fields[fieldGolden],
		"original_memory", it.Fields[fieldOriginal], "question", it.Question, "key_memory_points", it.Fields[fieldEvidence],
	))
	req.MaxTokens, req.Temperature = maxTokens, new(float64)
	return req, nil
}

// Decide decides items that need no call. If nothing was extracted, no memory point can
// have been, so upstream scores 0; and in the fixed reading an update for which nothing was
// retrieved is an omission.
func (p *P) Decide(it deem.Item) (deem.Verdict, bool) {
	if text.Strip(it.Response) != "" || it.Fields[fieldMissing] != "" {
		return deem.Verdict{}, false
	}
	switch {
	case it.Category == Integrity:
		v := scored(it, 0)
		v.Reason = "nothing was extracted in this session, so nothing was asked"
		return v, true
	case it.Category == Update && p.reading == Fixed:
		return deem.Verdict{Label: omission, Reason: "nothing was retrieved for this update, so nothing was asked"}, true
	}
	return deem.Verdict{}, false
}
