package server

import (
	"maps"
	"slices"
	"strconv"

	"deem/internal/findings"
	"deem/internal/labels"
	"deem/internal/store"
	"deem/judge"
)

// A labelChoice is one of the labels that a person can give.
type labelChoice struct {
	Say, Name string
	Key       string // that gives it
	Score     float64
}

// Yes reports whether the label says that the response is right.
func (c labelChoice) Yes() bool { return c.Score >= 0.5 }

// yesOrNo is asked about the responses to most judges, whatever they call the two.
var yesOrNo = []labelChoice{{saysYes, "Yes, right", "y", 1}, {saysNo, "No, wrong", "n", 0}}

// maxChoices is how many labels have a key of their own.
const maxChoices = 9

// labelChoices returns what people can say of the items of a run: the labels that its judge
// declares where there are more than two, and yes or no otherwise.
func labelChoices(run store.Run) []labelChoice {
	p, err := findings.Protocol(run)
	if err != nil {
		return yesOrNo // The judge is unknown here, and what people say does not depend on it.
	}
	d, ok := p.(*judge.Declared)
	if !ok || len(d.Declaration().Labels) < 3 || len(d.Declaration().Labels) > maxChoices {
		return yesOrNo
	}
	var list []labelChoice
	for i, l := range d.Declaration().Labels {
		list = append(list, labelChoice{l.Label, l.Label, strconv.Itoa(i + 1), l.Score})
	}
	return list
}

// An annotatorProgress is how many items of a plan a person has labelled.
type annotatorProgress struct {
	Name string
	N    int
}

// progress returns how far each person is, by name, and how many items people disagree on.
func (lp labelledPlan) progress() (people []annotatorProgress, disputes int) {
	n := map[string]int{}
	for at, by := range lp.by {
		for name := range by {
			n[name]++
		}
		if lp.disputed(at) {
			disputes++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n)) {
		people = append(people, annotatorProgress{name, n[name]})
	}
	return people, disputes
}

// disputed reports whether people gave the item at a place different labels, and nobody has
// settled that yet.
func (lp labelledPlan) disputed(at int) bool {
	said := map[string]bool{}
	for name, l := range lp.by[at] {
		if name == labels.Resolved {
			return false
		}
		said[l.Label] = true
	}
	return len(said) > 1
}

// opinions returns what people said of the item at a place, by name.
func (lp labelledPlan) opinions(at int) []store.Label {
	var list []store.Label
	for _, name := range slices.Sorted(maps.Keys(lp.by[at])) {
		list = append(list, lp.by[at][name])
	}
	return list
}
