package report

import (
	"fmt"
	"regexp"
	"slices"
	"sync"
)

// A family is a name, with the pattern that the names of its models match.
type family struct {
	name    string
	pattern func() *regexp.Regexp
}

// families are the names under which models of one family go. A model that was
// distilled into another carries both names and belongs to both families.
var families = []family{
	{"GPT", pattern(`(?i)(^|[^a-z])(chatgpt|gpt)[-_ ]?[0-9o]|(^|[^a-z])(chatgpt|davinci)|(^|[^a-z0-9])o[1-9]($|[^a-z0-9])`)},
	{"Claude", word("claude")},
	{"Gemini", word("gemini|palm-?2|bard")},
	{"Gemma", word("gemma")},
	{"Llama", word("llama|codellama|vicuna|alpaca")},
	{"Qwen", word("qwen|qwq|qvq")},
	{"Mistral", word("mistral|mixtral|ministral|codestral|magistral|pixtral|devstral")},
	{"DeepSeek", word("deepseek")},
	{"Phi", word("phi-?[0-9]")},
	{"Command", word("command-?[ar]|c4ai|aya")},
	{"Grok", word("grok")},
	{"GLM", word("glm|chatglm")},
	{"Yi", word("yi-")},
	{"InternLM", word("internlm")},
	{"Baichuan", word("baichuan")},
	{"Kimi", word("kimi|moonshot")},
	{"Nova", word("nova-(micro|lite|pro|premier)")},
	{"Granite", word("granite")},
	{"Falcon", word("falcon")},
	{"OLMo", word("olmo")},
	{"MiniMax", word("minimax|abab")},
	{"Hunyuan", word("hunyuan")},
	{"Doubao", word("doubao")},
	{"ERNIE", word("ernie")},
}

// word returns the pattern of names that begin a word: "phi-4" is of the family Phi,
// and "dolphin" is not.
func word(names string) func() *regexp.Regexp { return pattern(`(?i)(^|[^a-z])(` + names + `)`) }

// pattern returns a pattern that is compiled when it is first asked for: most reports
// name no second model.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// familiesOf returns the families that a model's name tells: "openai:gpt-4o" is of
// GPT, "deepseek-r1-distill-llama-70b" of DeepSeek and of Llama. It returns none for a
// name that it does not know.
func familiesOf(model string) []string {
	var list []string
	for _, f := range families {
		if f.pattern().MatchString(model) {
			list = append(list, f.name)
		}
	}
	return list
}

// SameFamily reports whether two models are of one family, and of which. The vendor in
// front of a name does not matter. Models that go by the same name are of one family
// though nobody knows it, and the name stands for it.
func SameFamily(a, b string) (family string, same bool) {
	if a == "" || b == "" {
		return "", false
	}
	of := familiesOf(b)
	for _, f := range familiesOf(a) {
		if slices.Contains(of, f) {
			return f, true
		}
	}
	if a == b {
		return a, true
	}
	return "", false
}

// selfGrading returns what every report says when judge and system share a model or
// the family of one, and "" when they do not. A model tends to accept what it would
// have said itself, faults included.
func selfGrading(judgeModel, systemModel string) string {
	family, same := SameFamily(judgeModel, systemModel)
	if !same {
		return ""
	}
	return fmt.Sprintf("the judge (%s) and the system under test (%s) share the model family %s: "+
		"a model is lenient with its own answers; deem agree measures by how much", judgeModel, systemModel, family)
}
