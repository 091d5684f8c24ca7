package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// telling is how far a piece of evidence must move the log-odds to be named.
const telling = .15

// reason says in words why the judge decided as it did: what the comparison came
// to, and where that alone did not decide, what else weighed most.
func (w *weighing) reason(accepted bool, m *Model) string {
	if w.call == right && accepted && !w.contradicted() {
		return w.why + "; nothing contradicts"
	}
	if w.call == right && accepted || w.call == wrong && !accepted {
		return w.why
	}
	parts := m.Parts(w.x[:])
	order := make([]int, 0, len(parts))
	for f, part := range parts {
		if accepted && part > telling || !accepted && part < -telling {
			order = append(order, f)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(parts[b]*parts[b], parts[a]*parts[a]) })
	var facts []string
	for _, f := range order {
		text := w.factAgainst(f)
		if accepted {
			text = w.factFor(f)
		}
		if text != "" && !slices.Contains(facts, text) {
			facts = append(facts, text)
		}
	}
	if len(facts) == 0 {
		facts = []string{"as a whole it is more like " + map[bool]string{true: "right", false: "wrong"}[accepted] + " answers"}
	}
	joint := "; "
	if w.call != unsure {
		joint = ", but " // the model overrules the comparison
	}
	return w.why + joint + strings.Join(facts[:min(2, len(facts))], ", and ")
}

// contradicted reports whether anything in the response may speak against what the
// comparison found. Where values were compared, that comparison has looked.
func (w *weighing) contradicted() bool {
	if w.least > 0 {
		return w.conf < .9
	}
	return w.x[eOtherFigs] > 0 || w.x[eDenials] > 0 || w.x[eOtherDay] > 0
}

// factFor says in words what one piece of evidence says for the response. It is "" where
// there is nothing to show, as for the length of the reference, which only sets how the rest
// counts.
func (w *weighing) factFor(f int) string {
	switch {
	case f == eNear && len(w.missing) > 0:
		near := slices.IndexFunc(w.missing, func(e elem) bool { return w.response.akin(e.key) })
		return fmt.Sprintf("it has a word much like %q", w.against.toks[w.missing[max(0, near)].tok].text)
	case (f == eTrigrams || f == eTrigramsX) && w.x[f] >= .6:
		return fmt.Sprintf("it has %.0f%% of the reference by letters", 100*w.x[eTrigrams])
	case (f == eRecall || f == eRecallAll || f == eShare) && w.x[eRecall] >= .5:
		return fmt.Sprintf("it has %.0f%% of what the reference says by weight", 100*w.x[eRecall])
	case f == eFirstPrec && w.x[f] >= .5 || f == ePrecision && w.x[f] >= .5:
		return "it says little else"
	case f == eOtherNames && w.x[f] == 0:
		return "it names nobody and nothing else"
	case f == eHeaviest && len(w.missing) > 0:
		return "what it lacks says little"
	case f == eReplaced && w.x[f] == 0 && w.x[eRecall] > 0:
		return "no other word stands in the place of one"
	}
	return ""
}

// factAgainst is factFor for what speaks against the response.
func (w *weighing) factAgainst(f int) string {
	switch {
	case f == eHeaviest && len(w.missing) > 0:
		heaviest := slices.MaxFunc(w.missing, func(a, b elem) int { return cmp.Compare(w.weight(a.root), w.weight(b.root)) })
		return fmt.Sprintf("it lacks %q", w.against.toks[heaviest.tok].text)
	case f == eMissFigs && w.x[f] > 0:
		return "it lacks a number of the reference"
	case f == eMissNames && w.x[f] > 0:
		return "it lacks a name of the reference"
	case (f == eTrigrams || f == eTrigramsX) && w.x[f] < .6:
		return fmt.Sprintf("it has only %.0f%% of the reference by letters", 100*w.x[eTrigrams])
	case (f == eRecall || f == eRecallAll || f == eShare) && w.x[eRecall] < .6:
		return fmt.Sprintf("it has only %.0f%% of what the reference says by weight", 100*w.x[eRecall])
	case f == eReplaced && w.x[f] > 0:
		return "other words stand in the place of the reference's"
	case f == eOtherDay && w.x[f] > 0:
		return w.otherDay(w.against)
	case f == eOtherNames && w.x[f] > 0:
		return "it names others"
	case f == eOtherFigs && w.x[f] > 0:
		return "it has other numbers"
	case (f == eFirstPrec || f == ePrecision) && w.x[f] < .3, f == eNew && w.x[f] > 1.5:
		return "most of it is not in the reference"
	case f == eHedges && w.x[f] > 0:
		return "it hedges"
	case f == eAbstains && w.x[f] > 0:
		return "it says that it does not know"
	}
	return ""
}
