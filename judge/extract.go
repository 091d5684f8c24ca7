package judge

import (
	"strings"

	"deem"
)

// FindLabel finds the label that the text of a reply states: the value under key in its last
// JSON object that has the key, or, if key is "", the verdict wherever it is. The labels are
// spelt as the protocol offers them; case is ignored in the text, and spaces, hyphens and
// underscores within a label are equivalent.
//
// A judge model is asked for one label or a few numbers and answers with a paragraph, a
// fenced JSON object, a table, its reasoning, or half of any of these. FindLabel, and
// the functions for numbers, are lenient about the wrapping and strict about the content:
// they never return a label that was not offered or a number outside its scale. If a reply
// is not clear, the result is a [deem.Failure], because unjudged is not wrong.
//
// A protocol usually reads a reply like this:
//
//	text := judge.Body(reply, item.Response)
//	found, err := judge.FindLabel(text, "", []string{"CORRECT", "INCORRECT"})
//
// # Thinking
//
// [Body] removes the model's reasoning. FindLabel ignores reasoning itself, so calling Body
// first is optional. [Objects] and [FindObject] read the text unchanged.
//
// # Which mention is the verdict
//
// Without a key, FindLabel looks for a verdict in the following order of trust. Within one
// step the last match counts, because models reason first and conclude later.
//
//  1. json: a JSON object with a label under a key such as "label" or "verdict"
//     (or the only label among its values). The last such object counts. true
//     and false count only if the labels are yes/no or true/false. If that key
//     has a value that was not offered, prose cannot replace it, but a later marked
//     verdict or line by itself can.
//  2. marked: [[X]], \boxed{X}, <answer>X</answer>, "Verdict: X",
//     "the final answer is X", "结论：X". The mark must begin a line or a clause,
//     and must not belong to someone else: "Reference answer: yes" is not a
//     verdict.
//  3. line: a line that has only a label, its markdown and punctuation.
//  4. first: the text begins with a label followed by punctuation, as in
//     "CORRECT. The response ..." or "No - the year is wrong".
//  5. only: exactly one label is stated anywhere in the text.
//  6. last: several labels are stated, and the last sentence draws a conclusion
//     ("Therefore, ...") that names one of them.
//
// The following never count:
//
//   - the menu repeated, at any step: "CORRECT or INCORRECT", "yes/no", two labels
//     on adjacent lines;
//   - a negated or hypothetical mention: "not correct", "不正确", "neither X nor Y",
//     "whether it is CORRECT", "if it names Lisbon, it is CORRECT";
//   - the object of a comparison: "(b) is not as helpful as Output (a)" neither
//     states nor negates Output (a);
//   - someone else's words, as far as verbs show them: "the response says yes";
//   - part of a longer word: "INCORRECT" for CORRECT, "yes-man", "non-correct",
//     "nothing", "NOT_CORRECT";
//   - ordinary English that happens to be a label: "the correct answer is Rome",
//     "there is no evidence". At steps 5 and 6 a word counts if it is written in
//     capitals like the label, or is a predicate ("is correct", "labelled wrong"),
//     and no noun follows it. Yes and no also count as a sentence by themselves
//     ("The town is there. Yes.").
//
// Conflicts between steps are resolved as follows: a marked verdict or a line by itself
// beats an earlier first word; a JSON verdict followed by a different mark or line, a mark
// followed by a different line, and a first word or line whose text ends by stating another
// label are Contradictory. One object with two verdicts is Contradictory too.
//
// # Failures
//
// Empty: there is no text. Truncated: the reasoning never ended, or a JSON object was cut
// off before its verdict was complete. Contradictory: several labels and no clear last one.
// Refused: no verdict, and the text declines to judge. OutOfRange: a number outside its
// scale. Unparseable: everything else.
//
// # Repairing JSON
//
// Replies contain JSON with trailing commas, single quotes, comments, raw line breaks,
// Python's True, unescaped quotes and missing ends. We read these with our own parser
// instead of a general repair library: a repair library turns broken text into valid text
// and cannot tell which values were complete, so a score cut off after its first digit
// would become a score.
func FindLabel(text, key string, labels []string) (Found, error) {
	if key == "" {
		if f, ok := word(text, labels); ok {
			return f, nil
		}
		return readWhole(text, labels)
	}
	m := newMenu(labels)
	t, err := speech(text)
	if err != nil {
		return Found{}, err
	}
	for o := range findObjects(t, nil).backward() {
		// A cut-off value comes after all complete ones, so it would have been the last.
		if o.halved(key) {
			return Found{}, deem.Failf(deem.Truncated, "the value of %q was cut off", key)
		}
		if in := o.having([]string{key}); in != nil {
			return m.verdict(in, key)
		}
	}
	return Found{}, noVerdict(t, "no JSON object has the key %q", key)
}

// A Found is a label, how it was found, and where.
type Found struct {
	// Label is spelt as the protocol offers it.
	Label string

	// How is the step that found it: "json", "marked", "line", "first", "only" or
	// "last". [FindLabel] explains the steps.
	How string

	// Start and End are the position of the label in the text.
	Start, End int
}

// word returns text as a label if it is a single word. Most replies are, and reading them
// in full would take longer than all other processing of the reply.
func word(text string, labels []string) (Found, bool) {
	const letter = 1 // A single letter may be the name of an option.
	if len(text) <= letter || strings.ContainsFunc(text, func(r rune) bool { return (r|0x20) < 'a' || (r|0x20) > 'z' }) {
		return Found{}, false
	}
	known := false
	for _, l := range labels {
		if l == text {
			known = true
		} else if n, ok := foldPrefix(text, l); ok && n == len(text) {
			return Found{}, false // The first of them counts.
		}
	}
	return Found{Label: text, How: "line", End: len(text)}, known
}

// readWhole finds the label that any text states. [FindLabel] explains the steps.
func readWhole(text string, labels []string) (Found, error) {
	m := newMenu(labels)
	t, err := speech(text)
	if err != nil {
		return Found{}, err
	}
	b := blanker{text: t}
	objects := findObjects(t, func(o *object) {
		if len(o.fields) > 0 || o.truncated {
			b.blank(span{o.start, o.end})
		}
	})
	r := newReading(m, b.String())
	b.out = nil
	marked, line := r.marked(), r.line()

	for o := range objects.backward() {
		found, tries, err := m.objectVerdict(o)
		if !tries {
			continue
		}
		outside := later(marked, line)
		after := outside != nil && outside.Start >= o.end
		switch {
		case err != nil && after:
			return *outside, nil
		case err == nil && after && outside.Label != found.Label:
			return Found{}, contradiction(found.Label, outside.Label)
		}
		return found, err
	}
	if marked != nil {
		if line != nil && line.Start > marked.Start && line.Label != marked.Label {
			return Found{}, contradiction(marked.Label, line.Label)
		}
		return *marked, nil
	}
	found := line
	if found == nil {
		found = r.first()
	}
	if found == nil {
		return r.prose(t)
	}
	if start := lastSentence(r.text); start >= found.End {
		if last := r.statedFrom(start); last != nil && last.Label != found.Label {
			return Found{}, contradiction(found.Label, last.Label)
		}
	}
	return *found, nil
}

// later returns the one of two findings that starts later, or nil.
func later(a, b *Found) *Found {
	if a == nil || b != nil && b.Start > a.Start {
		return b
	}
	return a
}

// contradiction returns the failure of a text that states two labels.
func contradiction(a, b string) error {
	return deem.Failf(deem.Contradictory, "the reply says both %q and %q", a, b)
}
