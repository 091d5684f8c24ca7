// Package extract finds the verdict in a model's prose.
//
// A judge model is asked for one label or a few numbers and answers with a
// paragraph, a fenced JSON object, a table, its thoughts, or half of any of
// these. This package is lenient about such wrapping and strict about what is
// wrapped: it never returns a label that was not offered nor a number outside
// its scale. Where a reply does not clearly say one thing, the answer is a
// [deem.Failure], because unjudged is not wrong.
//
// A protocol usually does this with a reply:
//
//	body := extract.Mask(extract.Body(reply), item.Response)
//	found, err := extract.Label(body, []string{"CORRECT", "INCORRECT"})
//
// # Thinking
//
// [Body] takes the model's thinking away. [Label], [LabelIn], [Labelled],
// [Aspects] and [Rating] overlook thinking by themselves, so that calling Body first is a
// convenience, not a duty. [Objects] and [Last] read the text as it is.
//
// # Which mention is the verdict
//
// Label looks for a verdict in this order of trust. Within one step the last
// one counts, because models reason first and conclude later.
//
//  1. json: a JSON object with a label under a key such as "label" or "verdict"
//     (or the only label among its values). The last such object counts. true
//     and false count only where the labels are yes/no or true/false. When that
//     key holds something that was not offered, prose cannot make up for it
//     unless a marked verdict or a line of its own follows.
//  2. marked: [[X]], \boxed{X}, <answer>X</answer>, "Verdict: X",
//     "the final answer is X", "结论：X". The mark must begin a line or a clause,
//     and nobody else's name may stand before it: "Reference answer: yes" is
//     not a verdict.
//  3. line: a line with nothing on it but a label, its markdown and punctuation.
//  4. first: the text begins with a label followed by punctuation, as in
//     "CORRECT. The response ..." or "No - the year is wrong".
//  5. only: one label alone is stated anywhere in the text.
//  6. last: several labels are stated, and the last sentence draws a conclusion
//     ("Therefore, ...") that names one of them.
//
// These never vote:
//
//   - the menu echoed, at any step: "CORRECT or INCORRECT", "yes/no", two labels
//     on lines next to each other;
//   - a negated or supposed mention: "not correct", "不正确", "neither X nor Y",
//     "whether it is CORRECT", "if it names Lisbon, it is CORRECT";
//   - what something is compared with: "(b) is not as helpful as Output (a)" neither
//     states nor denies Output (a);
//   - somebody else's words, as far as verbs show them: "the response says yes";
//   - part of a longer word: "INCORRECT" for CORRECT, "yes-man", "non-correct",
//     "nothing", "NOT_CORRECT";
//   - ordinary English that happens to be a label: "the correct answer is Rome",
//     "there is no evidence". At steps 5 and 6 a word counts when it is written
//     in capitals as the label is, or is what something is said to be ("is
//     correct", "labelled wrong"), and no noun follows it. Yes and no also count as
//     a sentence of their own ("The town is there. Yes.").
//
// Steps that disagree are settled so: a marked verdict or a line of its own beats
// an earlier first word; a JSON verdict followed by a different mark or line, a
// mark followed by a different line, and a first word or line whose text ends by
// stating another label are Contradictory. One object that gives two
// verdicts is Contradictory too.
//
// # Failures
//
// Empty: there is no text. Truncated: the thinking never ended, or a JSON object
// was cut off before its verdict was complete. Contradictory: several labels and
// no clear last one. Refused: no verdict, and the text declines to judge.
// OutOfRange: a number outside its scale. Unparseable: all else.
//
// # Repairing JSON
//
// Replies hold JSON with trailing commas, single quotes, comments, raw line
// breaks, Python's True, unescaped quotes and missing ends. We read these with
// a parser of our own instead of a general repair library: repairing makes
// valid text out of broken text and cannot say which values were complete, so
// a score cut off after its first digit would become a score.
package extract
