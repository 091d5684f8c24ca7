package longmemeval2

import (
	"embed"
	"encoding/json"
	"regexp"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text"
	"deem/internal/words"
	"deem/judge"
)

// The readings.
const (
	// Upstream follows the published programs, for rules and replies.
	Upstream = "upstream"

	// Strict uses upstream's rules, but requires a reply to be an object with a label.
	Strict = "strict"

	// Fixed reads replies like Strict and fixes the rules: a decimal point counts, a
	// letter may be in brackets, and a sentence may name letters.
	Fixed = "fixed"
)

// Readings returns the names of the readings, the default first.
func Readings() []string { return []string{Upstream, Strict, Fixed} }

// The labels of a verdict. Unknown is wrong; upstream counts it separately.
const (
	Correct = "correct"
	Wrong   = "wrong"
	Unknown = "unknown"
)

const (
	// readerVersion is increased whenever the same input may give a different verdict.
	readerVersion = 1

	// maxTokens is the value in evaluation/run_eval.py. The default in upstream's
	// functions is 2048.
	maxTokens = 4096
)

// fieldEvaluation is the field of an item that names its evaluation.
const fieldEvaluation = "eval_function"

//go:embed prompts/*.txt
var promptFiles embed.FS

// A P is the protocol under one reading. It is deterministic and safe for concurrent use.
type P struct {
	reading string
	prompts map[string]string
}

var (
	_ judge.Readable = (*P)(nil)
	_ judge.Decider  = (*P)(nil)
)

// Protocol returns the protocol under the named reading; "" means [Upstream].
func Protocol(reading string) (*P, error) {
	reading, err := benchmark.CheckReading(Name, reading, Readings())
	if err != nil {
		return nil, err
	}
	return &P{reading: reading, prompts: benchmark.Embedded(promptFiles)}, nil
}

// Name returns "longmemeval-v2".
func (p *P) Name() string { return Name }

// Reading returns the name of the current reading.
func (p *P) Reading() string { return p.reading }

// Spec returns the bytes of the prompts, the reading and the parameters.
func (p *P) Spec() judge.Spec {
	return judge.Spec{
		Kind: judge.KindModel, Name: Name, Version: readerVersion, Reading: p.reading, Prompts: p.prompts,
		Params: &judge.Params{MaxTokens: maxTokens},
	}
}

// Reread returns the protocol under the reading to compare with: strict for upstream, and
// upstream for the others.
func (p *P) Reread() judge.Readable {
	twin := *p
	if twin.reading = Upstream; p.reading == Upstream {
		twin.reading = Strict
	}
	return &twin
}

// FailuresWrong returns false: upstream stops at a reply that it cannot read.
func (p *P) FailuresWrong() bool { return false }

// Decide decides items that need no model: a response that says UNKNOWN, which is always
// wrong, and everything that a rule judges.
func (p *P) Decide(it deem.Item) (deem.Verdict, bool) {
	e, err := parseEvaluation(it.Fields[fieldEvaluation])
	if err != nil || len(it.References) == 0 {
		return deem.Verdict{}, false
	}
	switch empty := text.Strip(it.Response) == "" || text.Strip(it.References[0]) == ""; {
	case isUnknown(it.Response):
		return deem.Verdict{Label: Unknown, Reason: "the final answer is UNKNOWN, which is wrong for every question"}, true
	case e.asks() && empty && e.on("require_non_empty"):
		return deem.Verdict{Label: Wrong, Reason: "there is no response, or no answer, so nothing was asked"}, true
	case e.asks():
		return deem.Verdict{}, false
	}
	return verdict(e.right(boxed(it.Response), it.References[0], p.reading == Fixed), "by the rule "+e.name), true
}

func verdict(right bool, reason string) deem.Verdict {
	if right {
		return deem.Verdict{Label: Correct, Score: 1, Reason: reason}
	}
	return deem.Verdict{Label: Wrong, Reason: reason}
}

// Request renders the prompt named by the evaluation of the item.
func (p *P) Request(it deem.Item) (deem.Request, error) {
	e, err := parseEvaluation(it.Fields[fieldEvaluation])
	if err != nil {
		return deem.Request{}, deem.Failf(deem.Input, "%v", err)
	}
	if len(it.References) == 0 {
		return deem.Request{}, deem.Failf(deem.Input, "the item has no reference")
	}
	prompt := "gotchas"
	if e.name == abstention {
		prompt = "abstention"
	}
	user := strings.NewReplacer(
		"{question_text}", text.Strip(it.Question), "{reference_answer}", text.Strip(it.References[0]),
		"{model_full_response}", text.Strip(it.Response), "{model_final_answer}", text.Strip(boxed(it.Response)),
	).Replace(p.prompts[prompt+"_user"])
	return deem.Request{MaxTokens: maxTokens, Messages: []deem.Message{
		{Role: "system", Content: p.prompts[prompt+"_system"]}, {Role: "user", Content: user},
	}}, nil
}

// Read returns the verdict that the reply gives under the protocol's reading.
func (p *P) Read(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	if p.reading != Upstream {
		o, err := judge.ReadObject(it, reply.Text, "label")
		if err != nil {
			return deem.Verdict{}, err
		}
		found, err := o.Label("label", []string{"0", "1"})
		if err != nil {
			return deem.Verdict{}, err
		}
		return verdict(found.Label == "1", o.Text("reason")), nil
	}
	label, reason, ok := upstreamLabel(reply.Text)
	if !ok {
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "the reply has no label 0 or 1: %s", words.Clip(strings.Join(text.Split(reply.Text), " "), 80))
	}
	return verdict(label == 1, reason), nil
}

var (
	object = regexp.MustCompile(`(?s)\{.*\}`)
	forms  = []*regexp.Regexp{
		regexp.MustCompile(`(?i)"label"` + space + `:` + space + `([01])`),
		regexp.MustCompile(`(?i)'label'` + space + `:` + space + `([01])`),
		regexp.MustCompile(`(?i)label` + space + `[:=]` + space + `([01])`),
	}
)

const space = `[\s\v\x1c-\x1f\x{85}\p{Z}]*`

// upstreamLabel corresponds to _parse_llm_binary_judgement.
func upstreamLabel(reply string) (label int, reason string, ok bool) {
	cleaned := unfenced(text.Strip(reply))
	if blob := object.FindString(cleaned); blob != "" {
		var payload map[string]any
		if json.Unmarshal([]byte(blob), &payload) == nil {
			switch v := payload["label"].(type) {
			case []any, map[string]any:
				return 0, "", false // Python cannot look it up in a set, and stops.
			case bool:
				label, ok = map[bool]int{true: 1}[v], true
			case float64:
				label, ok = int(v), v == 0 || v == 1
			case string:
				label, ok = map[string]int{"1": 1}[v], v == "0" || v == "1"
			}
			if ok {
				if r := payload["reason"]; r != nil {
					reason = text.Strip(text.Str(r))
				}
				return label, reason, true
			}
		}
	}
	for i, form := range forms {
		for _, at := range form.FindAllStringSubmatchIndex(cleaned, -1) {
			if i == 2 && !(edge(cleaned, at[0]) && edge(cleaned, at[0]+len("label"))) {
				continue
			}
			return int(cleaned[at[2]] - '0'), cleaned, true
		}
	}
	return 0, "", false
}

// unfenced corresponds to _strip_markdown_code_fence.
func unfenced(s string) string {
	if strings.HasPrefix(s, "```") && strings.HasSuffix(s, "```") {
		if lines := strings.Split(s, "\n"); len(lines) >= 3 {
			return text.Strip(strings.Join(lines[1:len(lines)-1], "\n"))
		}
	}
	return s
}
