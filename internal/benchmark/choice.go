package benchmark

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"deem"
	"deem/internal/text"
	"deem/judge"
)

// OptionsField is the field of an item with the options of a question as they were shown:
// an object from letters to texts, or a list. They are stored for each item, because
// programs shuffle options in ways that cannot be reproduced.
const OptionsField = "options"

// choiceVersion is increased whenever the verdicts may change.
const choiceVersion = 1

// The names of the rules.
const (
	ChoiceStrict       = "choice"
	ChoicePersonaMem   = "choice/personamem-v2"
	ChoiceOmniMemEval  = "choice/omnimemeval"
	ChoiceEverMemBench = "choice/evermembench"
	ChoiceMemBench     = "choice/membench"
)

// ChoiceRules returns the names of the rules, with a description of each.
func ChoiceRules() [][2]string {
	return [][2]string{
		{ChoiceStrict, "the option that the response clearly takes, by letter or by text, among the options that the item was shown; a letter that was not offered is a failure"},
		{ChoicePersonaMem, "choice, with the letter found as PersonaMem v2's program finds it: the first of eleven patterns"},
		{ChoiceOmniMemEval, "choice, with the letters found as OmniMemEval finds them: all letters from a to d behind <final_answer>, else in the whole response"},
		{ChoiceEverMemBench, "choice, with the letter found as EverMemBench's program finds it: the first letter from A to D anywhere"},
		{ChoiceMemBench, "choice, with the response compared as MemBench's program does: it is the letter and nothing else"},
	}
}

// NewChoice returns the named rule as a judge. The judge of a benchmark has its own name and
// reading; otherwise as is the rule's name and the reading "".
func NewChoice(rule, as, reading string) *Choice { return &Choice{as, rule, reading} }

// A Choice judges answers to multiple-choice questions without a model: it finds the option
// that the response chooses among those that the item was shown, and compares it with the
// right one. A response without a recognisable choice, or with a letter that was not
// offered, is a failure and not a wrong answer.
type Choice struct{ name, rule, reading string }

var _ deem.Identified = (*Choice)(nil)

// Name returns the name of the judge.
func (j *Choice) Name() string { return j.name }

// Reading returns the name of the reading, or "".
func (j *Choice) Reading() string { return j.reading }

// Identity returns the [judge.Spec] of the judge.
func (j *Choice) Identity() any {
	return judge.Spec{Kind: judge.KindRule, Name: j.name, Version: choiceVersion, Reading: j.reading}
}

// Judge compares the letters that the response chooses with the right ones.
func (j *Choice) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return deem.Verdict{}, err
	}
	if len(it.References) == 0 {
		return deem.Verdict{}, deem.Failf(deem.Input, "no reference to compare with")
	}
	options, err := ChoiceOptions(it.Fields[OptionsField])
	if err != nil {
		return deem.Verdict{}, err
	}
	right, err := rightLetters(it.References, options)
	if err != nil {
		return deem.Verdict{}, err
	}
	found, failure := j.find(it.Response, options)
	if failure != nil {
		return deem.Verdict{}, failure
	}
	for _, letters := range found {
		if slices.ContainsFunc(right, func(set []string) bool { return slices.Equal(set, letters) }) {
			return deem.Verdict{Label: "right", Score: 1, Reason: "the response takes " + strings.Join(letters, ", ")}, nil
		}
	}
	for _, letter := range found[0] {
		if _, ok := options[letter]; !ok {
			return deem.Verdict{}, deem.Failf(deem.OutOfRange, "the response takes %s, which was not offered: %s were", letter, strings.Join(optionLetters(options), ", "))
		}
	}
	return deem.Verdict{Label: "wrong", Reason: "the response takes " + strings.Join(found[0], ", ")}, nil
}

// find returns the sets of letters that the response may choose; one of them must be right.
func (j *Choice) find(response string, options map[string]string) ([][]string, error) {
	var found [][]string
	add := func(letters ...string) {
		slices.Sort(letters)
		if letters = slices.Compact(letters); len(letters) > 0 {
			found = append(found, letters)
		}
	}
	switch j.rule {
	case ChoicePersonaMem:
		for _, p := range personaMemPatterns {
			if m := p.FindStringSubmatch(response); m != nil {
				add(text.Upper(m[1]))
				break
			}
		}
	case ChoiceOmniMemEval:
		tail := text.Strip(response)
		if i := strings.LastIndex(tail, finalAnswer); i >= 0 {
			tail = text.Strip(tail[i+len(finalAnswer):])
		}
		tail = text.Strip(strings.TrimSuffix(tail, "</final_answer>"))
		add(omniLetters(tail)...)
		add(omniLetters(response)...)
	case ChoiceEverMemBench:
		if i := strings.IndexAny(text.Upper(response), "ABCD"); i >= 0 {
			add(text.Upper(response)[i : i+1])
		}
	case ChoiceMemBench:
		if exactLetter.MatchString(response) {
			add(response)
		}
	default:
		letters, err := clearLetters(response, options)
		if err != nil {
			return nil, err
		}
		add(letters...)
	}
	if len(found) == 0 {
		return nil, deem.Failf(deem.Unparseable, "the response takes none of the options that can be told")
	}
	return found, nil
}

// ChoiceOptions returns the options of a question by letter. A list is lettered from A, unless
// its texts begin with letters, for example "A. tea".
func ChoiceOptions(field string) (map[string]string, error) {
	if text.Strip(field) == "" {
		return nil, deem.Failf(deem.Input, "the item has no options under %q", OptionsField)
	}
	value, err := text.Literal(field)
	if err != nil {
		return nil, deem.Failf(deem.Input, "the options are neither an object nor a list")
	}
	options := map[string]string{}
	switch v := value.(type) {
	case map[string]any:
		for key, of := range v {
			options[text.Upper(strings.Trim(key, "(). "))] = text.Str(of)
		}
	case []any:
		for i, of := range v {
			letter, shown := string(rune('A'+i)), text.Str(of)
			if m := lettered.FindStringSubmatch(shown); m != nil && strings.EqualFold(m[1], letter) {
				shown = m[2]
			}
			options[letter] = shown
		}
	}
	if len(options) < 2 || len(options) > 26 {
		return nil, deem.Failf(deem.Input, "the item has %d options", len(options))
	}
	return options, nil
}

func optionLetters(options map[string]string) []string { return slices.Sorted(maps.Keys(options)) }

// rightLetters returns the sets of letters that are right. Each reference is one: a letter,
// several letters that must all be chosen, or the text of an option.
func rightLetters(references []string, options map[string]string) ([][]string, error) {
	var sets [][]string
	for _, ref := range references {
		var texts [][]string
		for _, letter := range optionLetters(options) {
			if options[letter] == ref {
				texts = append(texts, []string{letter})
			}
		}
		switch set := letterSet(ref); {
		case len(texts) > 0:
			sets = append(sets, texts...)
		case len(set) > 0:
			sets = append(sets, set)
		default:
			if m := lettered.FindStringSubmatch(text.Strip(ref)); m != nil {
				sets = append(sets, []string{text.Upper(m[1])})
			}
		}
	}
	for _, set := range sets {
		for _, letter := range set {
			if _, ok := options[letter]; !ok {
				return nil, deem.Failf(deem.Input, "the right answer %s is not one of the options %s", letter, strings.Join(optionLetters(options), ", "))
			}
		}
	}
	if len(sets) == 0 {
		return nil, deem.Failf(deem.Input, "the right answer is not among the options")
	}
	return sets, nil
}

const finalAnswer = "<final_answer>"

// The patterns of letters. Texts are Unicode, and a letter that follows a letter is part of
// a word in every script.
var (
	exactLetter = regexp.MustCompile(`^[A-Z]$`)
	lettered    = regexp.MustCompile(`(?s)^\(?([A-Za-z])[.):]\s*(.*)$`)
	oneOrMore   = regexp.MustCompile(`^[A-Za-z](?:\s*(?:,|&|(?:,\s*)?\band\b)\s*[A-Za-z])*$`)
	single      = regexp.MustCompile(`[A-Za-z]`)
	inParens    = regexp.MustCompile(`\(([a-d])\)`)
)

// letterSet returns the letters of a text that consists only of letters: B, (b), A and C.
func letterSet(s string) []string {
	s = strings.Trim(text.Strip(s), "()[]*.\"'`“”$ ")
	if !oneOrMore.MatchString(s) {
		return nil
	}
	list := single.FindAllString(strings.ReplaceAll(s, "and", ","), -1)
	for i := range list {
		list[i] = text.Upper(list[i])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// personaMemPatterns are those of extract_final_answer in inference.py, in order. In Python
// \s is Unicode.
var personaMemPatterns = func() []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, p := range []string{
		`\$\\boxed\{([A-Z])\}\$`, `\\boxed\{([A-Z])\}`, `Final Answer:\s*([A-Z])`, `final answer:\s*([A-Z])`, `Answer:\s*([A-Z])`, `answer:\s*([A-Z])`,
		`final answer is\s*\$?\\boxed\{([A-Z])\}\$?`, `final answer is\s*([A-Z])`, `the answer is\s*\$?\\boxed\{([A-Z])\}\$?`, `the answer is\s*([A-Z])`,
		`(?:^|[^\p{L}\p{N}_])([A-Z])\.\s*$`,
	} {
		list = append(list, regexp.MustCompile(`(?im)`+strings.ReplaceAll(p, `\s`, `[\s\x{0b}\x{1c}-\x{1f}\x{85}\p{Z}]`)))
	}
	return list
}()

// omniLetters returns the letters from a to d in a text: those in parentheses, else those
// that stand alone.
func omniLetters(s string) []string {
	s = text.Lower(s)
	var list []string
	for _, m := range inParens.FindAllStringSubmatch(s, -1) {
		list = append(list, text.Upper(m[1]))
	}
	if len(list) > 0 {
		return list
	}
	apart := func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) }
	for _, word := range strings.FieldsFunc(s, apart) {
		if len(word) == 1 && word[0] >= 'a' && word[0] <= 'd' {
			list = append(list, text.Upper(word))
		}
	}
	return list
}

// The phrases by which a response names its choice. A lower-case letter counts only at the
// end of a sentence, because "a" is also an article.
var (
	boxed  = regexp.MustCompile(`\\boxed\{\s*\(?([A-Za-z])\)?\s*\}`)
	marked = regexp.MustCompile(`(?i:\b(final\s+answer|answer|choice|option)\b\s*(?:is|:|=|-)*\s*(?:option\s+)?)[*_\[("'“<]*(?:([A-Z])(?:$|[^\p{L}\p{N}_'’])|([a-z])[*_\])"'”>]*\s*(?:$|[.,;!\n]))`)
)

// clearLetters returns the letters that the response clearly chooses.
func clearLetters(response string, options map[string]string) ([]string, error) {
	said := text.Strip(response)
	if i := strings.LastIndex(said, finalAnswer); i >= 0 {
		said = text.Strip(strings.TrimSuffix(said[i+len(finalAnswer):], "</final_answer>"))
	}
	if set := letterSet(said); set != nil {
		return set, nil
	}
	same := func(a, b string) bool {
		return strings.EqualFold(strings.Trim(text.Strip(a), "*\"'. "), strings.Trim(text.Strip(b), "*\"'. "))
	}
	if m := lettered.FindStringSubmatch(strings.Trim(said, "*")); m != nil && same(m[2], options[text.Upper(m[1])]) {
		return []string{text.Upper(m[1])}, nil
	}
	var byText []string
	for _, letter := range optionLetters(options) {
		if same(said, options[letter]) {
			byText = append(byText, letter)
		}
	}
	if len(byText) == 1 {
		return byText, nil
	}
	var final, other []string
	for _, m := range boxed.FindAllStringSubmatch(said, -1) {
		final = append(final, text.Upper(m[1]))
	}
	for _, m := range marked.FindAllStringSubmatch(said, -1) {
		letter := text.Upper(m[2] + m[3])
		if strings.HasPrefix(text.Lower(m[1]), "final") {
			final = append(final, letter)
		} else {
			other = append(other, letter)
		}
	}
	if len(final) > 0 {
		other = final
	}
	slices.Sort(other)
	other = slices.Compact(other)
	if len(other) > 1 {
		return nil, deem.Failf(deem.Contradictory, "the response takes %s one after the other", strings.Join(other, ", "))
	}
	return other, nil
}
