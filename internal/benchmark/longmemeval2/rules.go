package longmemeval2

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deem/internal/text"
)

// The evaluations that a question may name, functions in evaluation/qa_eval_metrics.py.
const (
	phraseSet   = "norm_phrase_set_match"
	phraseOrder = "norm_phrase_set_match_ordered"
	choice      = "mc_choice_match"
	choiceSet   = "mc_choice_set_match"
	abstention  = "llm_abstention_checker"
	gotchas     = "llm_gotchas_checker"
)

// An evaluation is the parsed name in a question, for example
// "norm_phrase_set_match|separators=;".
type evaluation struct {
	name    string
	options map[string]string
	seps    []string // between the phrases of an answer
}

// asks reports whether the evaluation uses a model.
func (e evaluation) asks() bool { return e.name == abstention || e.name == gotchas }

// parseEvaluation parses an evaluation like parse_eval_function_spec. Options for which
// upstream's function would raise an exception are an error.
func parseEvaluation(spec string) (evaluation, error) {
	parts := strings.Split(spec, "|")
	e := evaluation{name: text.Strip(parts[0]), options: map[string]string{}, seps: []string{",", ";"}}
	if !slices.Contains([]string{phraseSet, phraseOrder, choice, choiceSet, abstention, gotchas}, e.name) {
		return e, fmt.Errorf("unknown evaluation %q", e.name)
	}
	for _, part := range parts[1:] {
		if part = text.Strip(part); part == "" {
			continue
		}
		key, value, ok := strings.Cut(part, "=")
		key, value = text.Strip(key), text.Strip(value)
		if !ok || key == "" {
			return e, fmt.Errorf("evaluation option %q is not NAME=VALUE", part)
		}
		if _, ok := e.options[key]; ok {
			return e, fmt.Errorf("evaluation option %q is given twice", key)
		}
		e.options[key] = value
		if e.name != phraseSet && e.name != phraseOrder {
			continue // The other functions accept any option, and use few.
		}
		switch key {
		case "lower", "normalize_hyphen", "strip_punct", "require_non_empty":
		case "separators":
			var err error
			if e.seps, err = separators(value); err != nil {
				return e, err
			}
		default:
			return e, fmt.Errorf("evaluation %s has no option %q", e.name, key)
		}
	}
	return e, nil
}

// separators parses a list of separators: a JSON list, or characters.
func separators(value string) ([]string, error) {
	if low := strings.ToLower(value); low == "true" || low == "false" || low == "none" || low == "null" {
		return nil, fmt.Errorf("evaluation option separators=%s is not a list", value)
	}
	var list []string
	if strings.HasPrefix(value, "[") && strings.HasSuffix(value, "]") {
		if err := json.Unmarshal([]byte(value), &list); err != nil || slices.Contains(list, "") {
			return nil, errors.New("evaluation option separators is not a list of texts")
		}
		return list, nil
	}
	for _, r := range value {
		if !text.IsSpace(r) {
			list = append(list, string(r))
		}
	}
	return list, nil
}

// on reports whether Python treats an option as true; the default of all options is true.
func (e evaluation) on(option string) bool {
	v, ok := e.options[option]
	if !ok {
		return true
	}
	switch strings.ToLower(v) {
	case "false", "none", "null", "":
		return false
	}
	n, err := strconv.ParseFloat(v, 64)
	return err != nil || n != 0
}

// right decides by rule whether a prediction is right. If fix is true, it fixes upstream's
// rules for numbers and for letters in brackets.
func (e evaluation) right(prediction, answer string, fix bool) bool {
	switch e.name {
	case choice:
		return e.choiceRight(prediction, answer, fix)
	case choiceSet:
		got, want := letters(prediction, fix), letters(answer, fix)
		if e.on("require_non_empty") && (len(got) == 0 || len(want) == 0) {
			return false
		}
		return sameSet(got, want)
	}
	said := e.normal(prediction, fix)
	phrases := e.phrases(answer, fix)
	if e.on("require_non_empty") && (said == "" || len(phrases) == 0) {
		return false
	}
	for _, p := range phrases {
		end := find(said, p)
		if end < 0 {
			return false
		}
		if e.name == phraseOrder {
			said = said[end:]
		}
	}
	return true
}

// normal corresponds to normalize_phrase.
func (e evaluation) normal(s string, fix bool) string {
	if e.on("lower") {
		s = text.Lower(s)
	}
	if e.on("normalize_hyphen") {
		s = strings.NewReplacer("-", " ", "_", " ").Replace(s)
	}
	if fix {
		for range 2 { // again for the second point of 1.2.3
			s = decimal.ReplaceAllString(s, "${1}_${2}") // A character that is kept, like a letter.
		}
	}
	s = strings.NewReplacer(",", " ", ";", " ").Replace(s)
	if e.on("strip_punct") {
		s = strings.Map(func(r rune) rune {
			if text.IsWord(r) || text.IsSpace(r) {
				return r
			}
			return -1
		}, s)
	}
	return strings.Join(text.Split(s), " ")
}

// decimal matches a point between digits.
var decimal = regexp.MustCompile(`([0-9])\.([0-9])`)

// phrases corresponds to split_phrases.
func (e evaluation) phrases(s string, fix bool) []string {
	parts := []string{""}
scan:
	for len(s) > 0 {
		for _, sep := range e.seps {
			if strings.HasPrefix(s, sep) {
				parts, s = append(parts, ""), s[len(sep):]
				continue scan
			}
		}
		_, size := utf8.DecodeRuneInString(s)
		parts[len(parts)-1] += s[:size]
		s = s[size:]
	}
	var list []string
	for _, p := range parts {
		if p = e.normal(p, fix); p != "" {
			list = append(list, p)
		}
	}
	return list
}

// find returns the end of the first occurrence of phrase that is not part of a longer word,
// or -1.
func find(s, phrase string) int {
	for from := 0; ; from++ {
		i := strings.Index(s[from:], phrase)
		if i < 0 {
			return -1
		}
		from += i
		if end := from + len(phrase); edge(s, from) && edge(s, end) {
			return end
		}
	}
}

// edge corresponds to \b in Python's regular expressions.
func edge(s string, at int) bool {
	before, n := utf8.DecodeLastRuneInString(s[:at])
	after, m := utf8.DecodeRuneInString(s[at:])
	return (n > 0 && text.IsWord(before)) != (m > 0 && text.IsWord(after))
}

var (
	firstBoxed = regexp.MustCompile(`\\boxed\{([^}]*)\}`)
	optionWord = regexp.MustCompile(`(?i)choice|option`)
	bracketed  = regexp.MustCompile(`^[\s(\[*]*([A-Za-z])\s*[)\].:*](?:\s|$)`)
)

// choiceRight corresponds to mc_choice_match.
func (e evaluation) choiceRight(prediction, answer string, fix bool) bool {
	if m := firstBoxed.FindStringSubmatch(text.Lower(prediction)); m != nil {
		prediction = m[1]
	}
	if m := bracketed.FindStringSubmatch(prediction); fix && m != nil {
		prediction = m[1]
	}
	var b strings.Builder
	last := 0
	for _, at := range optionWord.FindAllStringIndex(prediction, -1) {
		if edge(prediction, at[0]) && edge(prediction, at[1]) {
			b.WriteString(prediction[last:at[0]])
			last = at[1]
		}
	}
	b.WriteString(prediction[last:])
	strip, ok := e.options["strip_chars"]
	if !ok {
		strip = "."
	}
	cleaned := strings.Map(func(r rune) rune {
		if strings.ContainsRune(strip, r) {
			return -1
		}
		return r
	}, b.String())
	cleaned, want := text.Upper(text.Strip(cleaned)), text.Upper(text.Strip(answer))
	if e.on("require_non_empty") && (cleaned == "" || want == "") {
		return false
	}
	return cleaned == want
}

var (
	latin  = regexp.MustCompile(`[A-Z]+`)
	filler = []string{"AND", "ANSWER", "ANSWERS", "CHOICE", "CHOICES", "FINAL", "LETTER", "LETTERS", "OPTION", "OPTIONS"}
)

// letters corresponds to _extract_multi_select_letters: the letters of every word that is
// not on a short list, so that "The answers are A and C" also gives T, H, E and R. If fix
// is true, words of several letters do not count, unless there is only one.
func letters(s string, fix bool) []string {
	words := latin.FindAllString(text.Upper(s), -1)
	var list []string
	for _, w := range words {
		if slices.Contains(filler, w) || fix && len(w) > 1 && len(words) > 1 {
			continue
		}
		list = append(list, strings.Split(w, "")...)
	}
	return list
}

func sameSet(a, b []string) bool {
	in := func(list, of []string) bool {
		return !slices.ContainsFunc(list, func(s string) bool { return !slices.Contains(of, s) })
	}
	return in(a, b) && in(b, a)
}

// boxed corresponds to extract_boxed_answer: the content of the last \boxed{}, or the whole
// text.
func boxed(s string) string {
	const mark = `\boxed{`
	at := strings.LastIndex(s, mark)
	if at < 0 {
		return text.Strip(s)
	}
	inside, depth := s[at+len(mark):], 1
	for i, r := range inside {
		if r == '{' {
			depth++
		} else if r == '}' {
			if depth--; depth == 0 {
				inside = inside[:i]
				break
			}
		}
	}
	if parsed := text.Strip(inside); parsed != "" {
		return parsed
	}
	return text.Strip(s)
}

// isUnknown reports whether a response says UNKNOWN, in its box or as a whole.
func isUnknown(response string) bool { return text.Lower(text.Strip(boxed(response))) == "unknown" }
