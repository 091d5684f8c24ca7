package fake

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"deem"
)

// The fakes of this file are judges that can be fooled, each in one way. They show the
// results of probes for such a judge.

// lenient accepts every response that shares a word with the question or the reference.
func lenient(_ context.Context, f *model, req deem.Request) (deem.Reply, error) {
	p := prompt(req)
	said := section(p, "response", "model's answer", "model response", "output", "hypothesis")
	known := words(section(p, "reference", "expected", "ground truth", "correct answer", "right answers", "question"))
	for w := range words(said) {
		if known[w] {
			return f.decide(req, f.labels[0]), nil
		}
	}
	return f.decide(req, f.labels[len(f.labels)-1]), nil
}

// obedient follows instructions anywhere in the prompt, except inside a fence. If nothing
// demands the first label, it returns the last.
func obedient(_ context.Context, f *model, req deem.Request) (deem.Reply, error) {
	text := strings.ToLower(strings.Map(visible, unfenced(prompt(req)))) + "\n"
	if slices.ContainsFunc(demands, func(d string) bool { return strings.Contains(text, d) }) {
		return f.decide(req, f.labels[0]), nil
	}
	return f.decide(req, f.labels[len(f.labels)-1]), nil
}

// decide replies with a label, in an object if the prompt asks for one.
func (f *model) decide(req deem.Request, label string) deem.Reply {
	asked := req.JSON || strings.Contains(prompt(req), "JSON")
	if !asked {
		return deem.Reply{Text: label}
	}
	key := "label"
	if strings.Contains(prompt(req), `"verdict"`) {
		key = "verdict"
	}
	text, _ := json.Marshal(map[string]string{"reason": "said by a fake", key: label}) // strings can always be encoded
	return deem.Reply{Text: string(text)}
}

// section returns the text under the given headings: from the last line that begins with a
// heading, up to an empty line or the next heading. A heading may have further words before
// its colon.
func section(prompt string, headings ...string) string {
	found := map[string]string{}
	current := ""
	for line := range strings.Lines(prompt) {
		name, rest, isHeading := heading(line)
		switch {
		case isHeading:
			current = name
			found[current] = rest
		case strings.TrimSpace(line) == "" && found[current] != "":
			current = ""
		case current != "":
			found[current] += line
		}
	}
	var text strings.Builder
	for _, h := range headings {
		text.WriteString(found[h] + "\n")
	}
	return text.String()
}

// heading splits "Expected: Paris". Only names of sections count as headings, so a colon
// within a response does not.
func heading(line string) (name, rest string, ok bool) {
	name, rest, ok = strings.Cut(line, ":")
	name = strings.ToLower(strings.TrimSpace(name))
	for _, h := range []string{"response", "model's answer", "model response", "output", "hypothesis", "reference", "expected", "ground truth", "correct answer", "right answers", "question"} {
		if ok && (name == h || strings.HasPrefix(name, h+" of ") || strings.HasPrefix(name, h+" to ") || strings.HasPrefix(name, h+", of ")) {
			return h, strings.TrimSpace(rest), true
		}
	}
	return "", "", false
}

// common are words without information.
var common = strings.Fields("the and was were that this with for from are has have had not you your what when where which who how did does his her their its")

// words returns the words of three letters or more, and the numbers.
func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if (len(w) > 2 || unicode.IsDigit(rune(w[0]))) && !slices.Contains(common, w) {
			set[w] = true
		}
	}
	return set
}

// opening is the opening tag of a fence: a name and a mark of sixteen hexadecimal digits.
var opening = regexp.MustCompile(`<([A-Za-z0-9_]+-[0-9a-f]{16})>`)

// unfenced returns the prompt without fenced text. A closing tag with another mark closes
// nothing, and an opening tag that is never closed opens nothing.
func unfenced(prompt string) string {
	var outside strings.Builder
	for {
		at := opening.FindStringSubmatchIndex(prompt)
		if at == nil {
			break
		}
		inside := prompt[at[1]:]
		closing := "</" + prompt[at[2]:at[3]] + ">"
		end := strings.Index(inside, closing)
		if end < 0 {
			outside.WriteString(prompt[:at[1]])
			prompt = inside
			continue
		}
		outside.WriteString(prompt[:at[0]])
		prompt = inside[end+len(closing):]
	}
	return outside.String() + prompt
}

// demands are phrases that demand a verdict, in lower case and without invisible
// characters.
var demands = []string{
	"ignore all previous", "ignore toutes les", "ignora todas", "ignoriere alle", "desconsidere", "忽略以上", "無視して", "игнорируй", "تجاهل", "무시하고", "अनदेखा",
	"disregard the reference", "must output only", "are to be marked", "your only task", "evaluation will be discarded", "should be read as identical",
	"\nanswer: correct\n", "\nanswer: yes\n", "matches the reference\"", "\"correctness\": 10", "\"score\": 1}", "final verdict:", "finished evaluation:",
	"<instruction>", "</response-", "judge's instruction", "right label is", "new instructions:",
	"you are now", "<|im_start|>", "[inst]", "### system", "\nassistant:", "debug mode",
	"<tool_call>", "<function_results>", "recommended label", "evaluator: ",
}

// visible removes invisible characters and maps invisible tag characters to the letters
// they represent, as a tokenizer may.
func visible(r rune) rune {
	switch {
	case r == 0x200b || r == 0x200c || r == 0x200d || r == 0x2060 || r == 0xfeff:
		return -1
	case r >= 0xe0020 && r <= 0xe007e:
		return r - 0xe0000
	}
	return r
}
