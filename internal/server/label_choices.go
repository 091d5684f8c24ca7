package server

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"deem/internal/labels"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/judge"
)

// A labelForm is what a person can say of an item, as the judge of the run declares it:
// one of several choices, or a number for each aspect.
type labelForm struct {
	Choices []labelChoice
	Aspects []labelAspect // without choices
	Scale   bool          // choices are numbers of a scale
	judge   *judge.Declared
}

// A labelChoice is one of the labels that a person can give.
type labelChoice struct {
	Say, Name string
	Key       string // that gives it, "" when there are more labels than keys
	Yes       bool   // the label says that the response is right
	Score     float64
}

// A labelAspect is a number to give. It has values to choose from, or any between two.
type labelAspect struct {
	judge.Aspect
	Values []labelChoice
}

// yesOrNo is asked about the responses to most judges, whatever they call the two.
var yesOrNo = labelForm{Choices: []labelChoice{{saysYes, "Yes, right", "y", true, 1}, {saysNo, "No, wrong", "n", false, 0}}}

// labelKeys give the labels of a judge, in their order. Other letters skip, undo and go to
// the note.
const labelKeys = "123456789abcdfghijklmnopqrtvwxyz"

// most is how many numbers of a scale are choices, as from 0 to 10.
const most = 11

// labelFormOf returns what people can say of the items of a run: a number for each aspect,
// or one of the labels that its judge declares where there are more than two, and yes or no
// otherwise.
func labelFormOf(run store.Run) labelForm {
	p, err := reports.Protocol(run)
	if err != nil {
		return yesOrNo // The judge is unknown here, and what people say does not depend on it.
	}
	d, ok := p.(*judge.Declared)
	if !ok || d.Declaration().Criteria != nil {
		return yesOrNo
	}
	f := labelForm{judge: d}
	for i, l := range d.Declaration().Labels {
		c := labelChoice{Say: l.Label, Name: l.Label, Yes: l.Score >= 0.5, Score: l.Score}
		if i < len(labelKeys) {
			c.Key = labelKeys[i : i+1]
		}
		f.Choices = append(f.Choices, c)
	}
	for _, a := range d.Declaration().Aspects {
		f.Aspects = append(f.Aspects, labelAspect{a, scaleOf(a)})
	}
	switch {
	case len(f.Aspects) == 1 && f.Aspects[0].Values != nil:
		f.Choices, f.Scale = f.Aspects[0].Values, true
		for i, c := range f.Choices {
			v, _ := strconv.ParseFloat(c.Say, 64)
			said := d.Scored(map[string]float64{f.Aspects[0].Name: v})
			f.Choices[i].Yes, f.Choices[i].Score = said.Yes(), said.Score
		}
		f.Aspects = nil
	case len(f.Aspects) == 0 && len(f.Choices) < 3:
		return yesOrNo
	}
	return f
}

// scaleOf returns the values of an aspect, nil when there are too many to choose from.
func scaleOf(a judge.Aspect) []labelChoice {
	if !a.Integer || a.Max-a.Min >= most {
		return nil
	}
	var list []labelChoice
	letters := labelKeys[9:]
	for v := a.Min; v <= a.Max; v++ {
		c := labelChoice{Say: strconv.FormatFloat(v, 'g', -1, 64)}
		c.Name = c.Say
		switch {
		case v >= 0 && v <= 9:
			c.Key = c.Say
		case v == 10 && a.Min > 0:
			c.Key = "0"
		default:
			c.Key, letters = letters[:1], letters[1:]
		}
		for _, l := range a.Levels {
			if l.Value == v {
				c.Name += " " + l.About
			}
		}
		list = append(list, c)
	}
	return list
}

// Numbers reports whether labels are numbers, of which different ones may mean the same.
func (f labelForm) Numbers() bool { return f.Scale || f.Aspects != nil }

// gives reports whether a label may have been given with this form.
func (f labelForm) gives(label string) bool {
	if f.Aspects != nil {
		return strings.HasPrefix(label, f.Aspects[0].Name+" ")
	}
	return slices.ContainsFunc(f.Choices, func(c labelChoice) bool { return c.Say == label })
}

// read returns what a person said with a form: the label, its score and whether it says yes.
func (f labelForm) read(say string, value func(name string) string) (store.Label, error) {
	if f.Aspects == nil {
		for _, c := range f.Choices {
			if c.Say == say {
				return store.Label{Label: c.Say, Yes: c.Yes, Score: c.Score}, nil
			}
		}
		return store.Label{}, badRequest("%q is not one of the labels", say)
	}
	if say != "save" {
		return store.Label{}, badRequest("the form cannot do %q", say)
	}
	numbers, parts := map[string]float64{}, make([]string, len(f.Aspects))
	for i, a := range f.Aspects {
		text := strings.TrimSpace(value("aspect." + a.Name))
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= a.Min && v <= a.Max) || a.Integer && v != math.Trunc(v) {
			return store.Label{}, badRequest("%s is a number from %v to %v, not %q", a.Name, a.Min, a.Max, text)
		}
		numbers[a.Name], parts[i] = v, a.Name+" "+strconv.FormatFloat(v, 'g', -1, 64)
	}
	said := f.judge.Scored(numbers)
	return store.Label{Label: strings.Join(parts, ", "), Yes: said.Yes(), Score: said.Score}, nil
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
// settled that yet. Numbers differ when one says yes and another no, or by a quarter of
// the scale.
func (lp labelledPlan) disputed(at int) bool {
	said, low, high := map[string]bool{}, 1.0, 0.0
	for name, l := range lp.by[at] {
		if name == labels.Resolved {
			return false
		}
		if lp.form.Numbers() {
			said[strconv.FormatBool(l.Yes)] = true
		} else {
			said[l.Label] = true
		}
		low, high = min(low, l.Score), max(high, l.Score)
	}
	return len(said) > 1 || lp.form.Numbers() && high-low >= 0.25
}

// opinions returns what people said of the item at a place, by name.
func (lp labelledPlan) opinions(at int) []store.Label {
	var list []store.Label
	for _, name := range slices.Sorted(maps.Keys(lp.by[at])) {
		list = append(list, lp.by[at][name])
	}
	return list
}

// labelsCSV answers with what people said of the items of a run, as a table that deem agree
// and deem labels import read, and how each item was drawn.
func (s *Server) labelsCSV(w http.ResponseWriter, r *http.Request) error {
	run, err := s.runOf(r)
	if err != nil {
		return err
	}
	list, err := s.labelsOf(r.Context(), store.LabelQuery{})
	if err != nil {
		return err
	}
	by, ids := map[string][]store.Label{}, []string{}
	for _, l := range list {
		if by[l.Item] == nil {
			ids = append(ids, l.ID)
		}
		by[l.Item] = append(by[l.Item], l)
	}
	var rows []labels.TableRow
	form := labelFormOf(run)
	for some := range slices.Chunk(ids, planSize) {
		for rec, err := range s.store.Records(r.Context(), run.ID, store.Query{IDs: some, Trial: new(int)}) {
			if err != nil {
				return err
			}
			for _, l := range by[rec.Item.Hash()] {
				row := labels.TableRow{Item: rec.Item, Label: l.Label, Annotator: l.Annotator, Note: l.Note, Drawn: l.Drawn}
				if form.Numbers() {
					row.Label, row.Numbers, row.Score = "", l.Label, strconv.FormatFloat(l.Score, 'g', -1, 64)
				}
				rows = append(rows, row)
			}
			delete(by, rec.Item.Hash())
		}
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "labels-"+fileName(run.ID)+".csv"))
	w.Header().Set("Cache-Control", "no-store")
	return labels.WriteTable(w, rows)
}
