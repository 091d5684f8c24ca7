package labels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/rows"
)

// The parts of a label that code names, in addition to those of package rows.
const (
	partItem      = rows.Item
	partLabel     = rows.Label
	partScore     = rows.Score
	partJudgeHash = "judge_hash"
	partScale     = "scale" // of a whole file
)

// A part is a part of a label with the names of its columns.
type part struct {
	name  string
	names []string
}

// parts are in display order. The first column that a row has counts. The names are those
// that only files of labels use, then those of items and published results.
var parts = []part{
	{partItem, rows.NamesAfter(rows.ID, append(rows.Names(rows.Item), "item_id")...)},
	{partLabel, rows.HumanNames(partLabel)},
	{partScore, rows.HumanNames(partScore)},
	{rows.Annotator, rows.Names(rows.Annotator)},
	{"confidence", rows.Names("confidence")},
	{"reason", rows.NamesAfter("reason", append([]string{"reason"}, rows.Names(rows.Note)...)...)},
	{rows.Response, rows.Names(rows.Response)},
	{partJudgeHash, rows.Names(partJudgeHash)},
	{"drawn", rows.Names("drawn")},
}

// Parts returns the names of the parts of a label, for help and messages.
func Parts() []string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	return names
}

// Columns returns the column names of a part.
func Columns(name string) []string {
	for _, p := range parts {
		if p.name == name {
			return slices.Clone(p.names)
		}
	}
	return nil
}

// The words for yes, for no, and for no decision, in lower case.
var (
	yesWords = []string{"yes", "y", "true", "t", "correct", "right", "pass", "passed", "accept", "accepted", "ok", "✓", "是", "对", "正确"}
	noWords  = []string{"no", "n", "false", "f", "incorrect", "wrong", "fail", "failed", "reject", "rejected", "✗", "否", "错", "错误", "不正确"}
	noLabel  = []string{"", "?", "-", "na", "n/a", "none", "null", "nan", "skip", "skipped", "unsure", "unknown", "unclear", "tbd", "todo"}
)

// A decision is the parsed label or score.
type decision struct {
	yes, graded, blank bool
	label              string
	score              float64
}

// decide parses the label, or the score if there is no label.
func (r *reader) decide(label, score string) (decision, string, error) {
	label, score = strings.TrimSpace(label), strings.TrimSpace(score)
	word := strings.ToLower(label)
	is := func(words, more []string) bool {
		return slices.Contains(words, word) || slices.ContainsFunc(more, func(w string) bool { return strings.EqualFold(w, label) })
	}
	for _, l := range r.src.Labels {
		if strings.EqualFold(l.Label, label) {
			return decision{yes: l.Score >= 0.5, graded: l.Score != 0 && l.Score != 1, label: l.Label, score: l.Score}, "", nil
		}
	}
	switch {
	case is(nil, r.src.Yes) || is(yesWords, nil) && !is(nil, r.src.No):
		return decision{yes: true, label: label, score: 1}, "", nil
	case is(noWords, r.src.No):
		return decision{label: label}, "", nil
	case is(noLabel, nil) && !slices.Contains(noLabel, strings.ToLower(score)):
		return r.grade(score)
	case is(noLabel, nil):
		return decision{blank: true}, "", nil
	}
	d, hint, err := r.grade(label)
	if _, numErr := strconv.ParseFloat(label, 64); numErr != nil {
		err = fmt.Errorf("the label %q is neither yes nor no", label)
		if len(r.src.Labels) > 0 {
			var names []string
			for _, l := range r.src.Labels {
				names = append(names, l.Label)
			}
			err = fmt.Errorf("the label %q is not one of the judge, which are %s, and neither yes nor no", label, strings.Join(names, ", "))
		}
		hint = "write yes or no, correct or incorrect, pass or fail, true or false, 1 or 0; --yes-word and --no-word name other words"
	}
	return d, hint, err
}

// grade parses a score on the scale of the file.
func (r *reader) grade(text string) (decision, string, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return decision{}, "", fmt.Errorf("the score %q is not a number", text)
	}
	scale := cmp.Or(r.scale, 1)
	if x < 0 || x > scale {
		return decision{}, "name the highest possible score: --scale 10",
			fmt.Errorf("the score %s lies outside 0 to %v", text, scale)
	}
	share := x / scale
	// A 0 or 1 on a scale of 1 is a decision, not a grade.
	return decision{yes: share >= cmp.Or(r.src.Pass, 0.5), graded: scale != 1 || share != 0 && share != 1, label: text, score: share}, "", nil
}

// hiddenFields are fields that reveal who answered, what a probe is, or an existing
// judgement of the answer: a person who labels should not see them.
var hiddenFields = slices.Concat([]string{
	"answer_model", "answer_prompt", "system", "system_model", deem.FieldTokensIn, deem.FieldTokensOut, deem.FieldLatency, deem.FieldCost,
	"probe", "probe_want", "probe_of", "probe_variant",
}, Columns("label"), Columns("score"), Columns("annotator"), Columns("confidence"), Columns("reason"))

// Blind returns the names of the fields of an item that a person who labels may see,
// sorted.
func Blind(it deem.Item) []string {
	var names []string
	for name, text := range it.Fields {
		if text != "" && !slices.Contains(hiddenFields, strings.ToLower(name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
