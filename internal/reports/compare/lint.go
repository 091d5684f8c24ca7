package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
	"deem/judge"
)

// The levels of a finding.
const (
	Error   = "error"   // differences would not be due to the systems
	Warning = "warning" // they are, but the reader must be warned
)

// The kinds of finding.
const (
	KindJudge        = "judge"         // different judge: prompt, model, reading, parameters
	KindReader       = "reader"        // different readers, reader models or budgets answered
	KindItems        = "items"         // one run has items that the other does not
	KindQuestion     = "question"      // an id has different questions
	KindReferences   = "references"    // an item has different references
	KindCategory     = "category"      // an item has different categories
	KindWeight       = "weight"        // an item has different weights or clusters
	KindIncomplete   = "incomplete"    // a run is not complete
	KindUnjudged     = "unjudged"      // too many items of a run are unjudged
	KindTrials       = "trials"        // a run judged each item more times
	KindEndpoint     = "endpoint"      // the endpoint of the judge's model differs
	KindAnswerModel  = "answer_model"  // the systems used different models
	KindAnswerPrompt = "answer_prompt" // the systems used different prompts
	KindSelf         = "self_grading"  // the judge's model and the answering model are of one family
	KindUnpaired     = "unpaired"      // the baseline is a saved report: items are not paired
)

// A Finding is something that makes a comparison less fair than it looks.
type Finding struct {
	Level   string `json:"level"`
	Kind    string `json:"kind"`
	Message string `json:"message"` // without a full stop

	// N counts the affected items, and Examples lists the first of them.
	N        int      `json:"n,omitempty"`
	Examples []string `json:"examples,omitempty"`

	// Parts are the properties in which two judges differ.
	Parts []Part `json:"parts,omitempty"`
}

// lintRow checks whether the runs have the same question and references for an item.
func (b *Builder) lintRow(r Row, first *Cell) {
	var question, references, category, weight bool
	for i := range r.Cells {
		c := &r.Cells[i]
		if !c.Present {
			continue
		}
		question = question || c.question != first.question
		references = references || c.references != first.references
		// A run without categories does not contradict one that has them.
		category = category || c.Category != first.Category && c.Category != "" && first.Category != ""
		weight = weight || c.Weight != first.Weight || c.Cluster != first.Cluster
	}
	for _, part := range []struct {
		differs bool
		to      *doc.Firsts
	}{{question, &b.questions}, {references, &b.references}, {category, &b.categories}, {weight, &b.weights}} {
		if part.differs {
			part.to.Add(first.Position, r.ID, b.opts.Examples)
		}
	}
}

// lintRuns compares what is known about the runs before any record is read.
func lintRuns(runs []Run) []Finding {
	list := []Finding{}
	base := runs[0]
	for _, r := range runs[1:] {
		if f, ok := lintReaders(base, r); ok {
			list = append(list, f)
		}
		if r.JudgeHash != base.JudgeHash || r.Judge != base.Judge {
			if f, ok := lintJudges(base, r); ok {
				list = append(list, f)
			}
		}
		if r.Endpoint != base.Endpoint {
			list = append(list, Finding{Level: Warning, Kind: KindEndpoint, Message: fmt.Sprintf(
				"the judge's model was reached at %s for %s and at %s for %s: two servers may run different models under one name",
				words.Clean(doc.OrNone(base.Endpoint)), base.called(), words.Clean(doc.OrNone(r.Endpoint)), r.called())})
		}
		if max(r.Trials, 1) != max(base.Trials, 1) {
			list = append(list, Finding{Level: Warning, Kind: KindTrials, Message: fmt.Sprintf(
				"%s has %s and %s has %s; the mean of the trials of each is compared, and that of fewer trials has more of the judge's noise",
				base.called(), words.Count(max(base.Trials, 1), "trial"), r.called(), words.Count(max(r.Trials, 1), "trial"))})
		}
	}
	return list
}

// lintReaders compares what answered the items of two runs. A difference between systems
// with different readers, or different budgets, is also one of the readers.
func lintReaders(a, b Run) (Finding, bool) {
	if a.Reader == b.Reader {
		return Finding{}, false
	}
	say := func(r Run) string {
		if r.Reader == "" {
			return r.called() + " came with responses"
		}
		return r.called() + " was answered by " + words.Clean(r.Reader)
	}
	return Finding{Level: Error, Kind: KindReader, Message: fmt.Sprintf(
		"%s, and %s: a change of the reader or of its budget moves a score as much as a change of the system", say(a), say(b))}, true
}

// lintJudges compares the judges of two runs. Recorded verdicts have the same judge if
// model, prompt and rule are the same, whichever files they come from; if the files do not
// contain the prompt, the finding says so.
func lintJudges(a, b Run) (Finding, bool) {
	x, y := a.Spec, b.Spec
	if x == nil || y == nil || x.Kind != judge.KindRecorded || y.Kind != judge.KindRecorded {
		return judgeFinding(a, b), true
	}
	known := x.Model != "" || x.Options["file"] == y.Options["file"]
	prompt := x.Options["prompt"]
	if !known || x.Model != y.Model || !maps.Equal(recordedRule(x), recordedRule(y)) {
		return judgeFinding(a, b), true
	}
	switch {
	case prompt != "" && prompt == y.Options["prompt"]:
		return Finding{}, false
	case prompt != "" && y.Options["prompt"] != "":
		return judgeFinding(a, b), true
	}
	who := "one judge"
	if x.Model != "" {
		who = "the judge model " + doc.Clip(x.Model, 32)
	}
	return Finding{Level: Warning, Kind: KindJudge, Message: fmt.Sprintf(
		"the verdicts on %s and on %s were recorded by others under %s; its prompt is not in the files, so that it is not known to be the same",
		a.called(), b.called(), who)}, true
}

// recordedRule returns how the labels of a recorded judge are counted, without the files
// they come from and the system selected in them.
func recordedRule(s *judge.Spec) map[string]string {
	rule := maps.Clone(s.Options)
	for _, name := range []string{"file", "prompt", "rule.pick"} {
		delete(rule, name)
	}
	return rule
}

// judgeFinding describes how two judges differ.
func judgeFinding(a, b Run) Finding {
	x, y := a.Spec, b.Spec
	if x == nil || y == nil { // as in a saved report
		x = &judge.Spec{Name: a.Judge, Model: a.Model, Reading: a.Reading}
		y = &judge.Spec{Name: b.Judge, Model: b.Model, Reading: b.Reading}
	}
	f := Finding{Level: Error, Kind: KindJudge}
	for _, d := range judge.Diff(*x, *y) {
		if d.Path == "name" {
			d.Name = "judge"
		}
		f.Parts = append(f.Parts, Part(d))
	}
	if x.Name != y.Name {
		f.Message = fmt.Sprintf("%s was judged by %s, and %s by %s: these are two judges, which deem agree compares",
			a.called(), judgeInWords(a, x), b.called(), judgeInWords(b, y))
		return f
	}
	f.Message = fmt.Sprintf("%s was judged by %s (hash %s) and %s by %s (hash %s)",
		a.called(), doc.Clip(a.Judge, 32), words.Clean(deem.ShortHash(a.JudgeHash)),
		b.called(), doc.Clip(b.Judge, 32), words.Clean(deem.ShortHash(b.JudgeHash)))
	if len(f.Parts) == 0 {
		f.Message += "; what differs is not known"
		return f
	}
	parts := make([]string, len(f.Parts))
	for i, p := range f.Parts {
		parts[i] = p.String()
	}
	f.Message += "; what differs: " + strings.Join(parts, "; ")
	return f
}

// judgeInWords names a judge with its model.
func judgeInWords(r Run, s *judge.Spec) string {
	name := doc.Clip(r.Judge, 32)
	switch {
	case s.Model != "":
		return name + " with " + doc.Clip(s.Model, 40)
	case s.Kind == judge.KindRule:
		return name + ", a rule"
	}
	return name
}

// lint returns all findings, errors first.
func (b *Builder) lint(runs []Run) []Finding {
	list := lintRuns(runs)
	for i := range runs {
		r, missing := runs[i], named(&b.missing[i])
		switch {
		case !r.Complete:
			list = append(list, Finding{Level: Warning, Kind: KindIncomplete, N: missing.N, Examples: missing.Examples, Message: fmt.Sprintf(
				"%s is not complete: %s so far, and the numbers will move", r.called(), words.Count(b.sides[i].items, "item"))})
		case missing.N > 0:
			others := "others have"
			if len(runs) == 2 {
				others = runs[1-i].called() + " has"
			}
			list = append(list, itemsFinding(KindItems, missing, fmt.Sprintf("%s does not have %s that %s",
				r.called(), words.Count(missing.N, "item"), others)))
		}
	}
	for _, part := range []struct {
		kind, what string
		items      *doc.Firsts
	}{
		{KindQuestion, "another question", &b.questions},
		{KindReferences, "other references", &b.references},
		{KindCategory, "another category", &b.categories},
	} {
		if n := named(part.items); n.N > 0 {
			list = append(list, itemsFinding(part.kind, n, fmt.Sprintf("%s %s in one run than in another", words.Plural(n.N, "item has", "items have"), part.what)))
		}
	}
	if n := named(&b.weights); n.N > 0 {
		f := itemsFinding(KindWeight, n, fmt.Sprintf("%s another weight or cluster in one run than in another; those of the first run count", words.Plural(n.N, "item has", "items have")))
		f.Level = Warning
		list = append(list, f)
	}
	for i := range runs {
		t := b.sides[i]
		if !over(t.unjudged, t.items, b.opts.MaxUnjudged) {
			continue
		}
		list = append(list, Finding{Level: Warning, Kind: KindUnjudged, N: t.unjudged, Message: fmt.Sprintf(
			"%s of %s of %s %s unjudged (%s%%), and at most %s%% may be",
			words.Comma(t.unjudged), words.Count(t.items, "item"), runs[i].called(), words.IsAre(t.unjudged),
			doc.Short(100*float64(t.unjudged)/float64(t.items)), doc.Short(100*b.opts.MaxUnjudged))})
	}
	base := runs[0]
	for _, r := range runs[1:] {
		if base.AnswerModel != "" && r.AnswerModel != "" && base.AnswerModel != r.AnswerModel {
			list = append(list, Finding{Level: Warning, Kind: KindAnswerModel, Message: fmt.Sprintf(
				"%s answered with %s and %s with %s: the difference is also one of these models",
				base.called(), doc.Clip(base.AnswerModel, 48), r.called(), doc.Clip(r.AnswerModel, 48))})
		}
		if base.AnswerPrompt != "" && r.AnswerPrompt != "" && base.AnswerPrompt != r.AnswerPrompt {
			list = append(list, Finding{Level: Warning, Kind: KindAnswerPrompt, Message: fmt.Sprintf(
				"%s and %s answered under different prompts: the difference is also one of the prompts", base.called(), r.called())})
		}
	}
	for _, r := range runs {
		if _, same := doc.SameFamily(r.Model, r.AnswerModel); same {
			list = append(list, Finding{Level: Warning, Kind: KindSelf, Message: fmt.Sprintf(
				"%s answered with %s and was judged by %s: judges prefer their own family's answers",
				r.called(), doc.Clip(r.AnswerModel, 48), doc.Clip(r.Model, 48))})
		}
	}
	slices.SortStableFunc(list, func(x, y Finding) int { return strings.Compare(x.Level, y.Level) })
	return list
}

// itemsFinding returns an error about items that names the first of them.
func itemsFinding(kind string, n Named, what string) Finding {
	ids := doc.IDs(n.Examples, 0)
	if n.N > len(n.Examples) {
		ids += ", ..."
	}
	return Finding{Level: Error, Kind: kind, Message: what + ": " + ids, N: n.N, Examples: n.Examples}
}

// over reports whether the share of unjudged items exceeds the limit.
func over(unjudged, items int, limit float64) bool {
	return items > 0 && float64(unjudged)/float64(items) > limit
}

func (r Run) called() string { return doc.Clip(doc.OrNone(r.Name), 32) }

// A Part is one property in which two judges differ.
type Part judge.Difference

// maxValue is the length up to which a value is shown whole.
const maxValue = 60

// String describes the difference: both values if they are short, and otherwise where they
// begin to differ.
func (p Part) String() string {
	name := p.Name
	if p.Path != "" && p.Path != name && !strings.HasSuffix(p.Path, "."+name) {
		name += " (" + p.Path + ")"
	}
	if len(p.First) <= maxValue && len(p.Second) <= maxValue {
		return fmt.Sprintf("%s, %s and %s", words.Fold(name), quoted(p.First), quoted(p.Second))
	}
	at := 0
	for at < len(p.First) && at < len(p.Second) && p.First[at] == p.Second[at] {
		at++
	}
	for at > 0 && (!runeStart(p.First, at) || !runeStart(p.Second, at)) {
		at--
	}
	return fmt.Sprintf("%s, from character %d on: %s and %s", words.Fold(name),
		utf8.RuneCountInString(p.First[:at])+1, excerpt(p.First, at), excerpt(p.Second, at))
}

// runeStart reports whether a character begins at the index, or the text ends there.
func runeStart(s string, at int) bool { return at == len(s) || utf8.RuneStart(s[at]) }

// excerpt returns a few words from the place where two texts begin to differ.
func excerpt(s string, at int) string {
	if at == len(s) {
		return "the end"
	}
	// Line breaks are shown escaped, because copies of a prompt often differ in them.
	return doc.Clip(fmt.Sprintf("%q", s[at:min(len(s), at+4*maxValue)]), maxValue/2)
}

// quoted formats a short value.
func quoted(s string) string {
	if s == "" {
		return "none"
	}
	return words.Fold(s)
}
