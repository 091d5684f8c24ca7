package doc

import (
	"regexp"
	"slices"
	"sync"
)

// A family is a name and the pattern that its models' names match.
type family struct {
	name    string
	pattern func() *regexp.Regexp
}

// families are the known model families. A model that was distilled into another has both
// names and belongs to both families.
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

// word returns a pattern of names that must begin a word: "phi-4" belongs to the family
// Phi, "dolphin" does not.
func word(names string) func() *regexp.Regexp { return pattern(`(?i)(^|[^a-z])(` + names + `)`) }

// pattern returns a pattern that is compiled on first use, because most reports name no
// second model.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// familiesOf returns the families of a model by its name: "openai:gpt-4o" belongs to GPT,
// "deepseek-r1-distill-llama-70b" to DeepSeek and Llama. It returns none for an unknown
// name.
func familiesOf(model string) []string {
	var list []string
	for _, f := range families {
		if f.pattern().MatchString(model) {
			list = append(list, f.name)
		}
	}
	return list
}

// SameFamily reports whether two models belong to one family, and to which. It ignores the
// vendor prefix of a name. Two models with the same unknown name form a family of that
// name.
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
