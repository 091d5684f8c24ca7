package web

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"deem/internal/labels"
	"deem/internal/reports"
	"deem/internal/server"
	"deem/internal/store"
	"deem/judge"
)

// A labelForm is the possible labels of an item, as declared by the judge of the run: one of
// several choices, or a number for each aspect.
type labelForm struct {
	Choices []labelChoice
	Aspects []labelAspect // if there are no choices
	Scale   bool          // choices are the numbers of a scale
	judge   *judge.Declaration
}

// A labelChoice is one of the labels to choose from.
type labelChoice struct {
	Say, Name string
	Key       string // on the keyboard, "" if there are more labels than keys
	Yes       bool   // the label means that the response is right
	Score     float64
}

// A labelAspect is a number to enter: one of Values, or any number of the aspect's range if
// Values is nil.
type labelAspect struct {
	judge.Aspect
	Values []labelChoice
}

// yesOrNo is the form for most judges, whatever their two labels are called.
var yesOrNo = labelForm{Choices: []labelChoice{{server.SaysYes, "Yes, right", "y", true, 1}, {server.SaysNo, "No, wrong", "n", false, 0}}}

// labelKeys are the keys of the labels of a judge, in order. The remaining letters skip an
// item, undo, and move to the note.
const labelKeys = "123456789abcdfghijklmnopqrtvwxyz"

// most is the maximum number of values of a scale with choices, for example 0 to 10.
const most = 11

// labelFormOf returns the form to label the items of a run: a number for each aspect, or the
// labels that its judge declares if there are more than two, and yes or no otherwise.
func labelFormOf(run store.Run) labelForm {
	p, err := reports.Protocol(run)
	if err != nil || p == nil {
		return yesOrNo // This deem does not know the judge, but people can still label its items.
	}
	d := p.Spec().Declaration
	if d == nil || d.Criteria != nil {
		return yesOrNo
	}
	f := labelForm{judge: d}
	for i, l := range d.Labels {
		c := labelChoice{Say: l.Label, Name: l.Label, Yes: l.Score >= 0.5, Score: l.Score}
		if i < len(labelKeys) {
			c.Key = labelKeys[i : i+1]
		}
		f.Choices = append(f.Choices, c)
	}
	for _, a := range d.Aspects {
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

// scaleOf returns the values of an aspect, or nil if there are too many to choose from or
// they are not integers.
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

// Numbers reports whether labels are numbers. Different numbers may mean the same.
func (f labelForm) Numbers() bool { return f.Scale || f.Aspects != nil }

// gives reports whether a label may come from this form.
func (f labelForm) gives(label string) bool {
	if f.Aspects != nil {
		return strings.HasPrefix(label, f.Aspects[0].Name+" ")
	}
	return slices.ContainsFunc(f.Choices, func(c labelChoice) bool { return c.Say == label })
}

// read parses a submitted form. It sets the label, its score and whether it means yes.
func (f labelForm) read(say string, value func(name string) string) (store.Label, error) {
	if f.Aspects == nil {
		for _, c := range f.Choices {
			if c.Say == say {
				return store.Label{Label: c.Say, Yes: c.Yes, Score: c.Score}, nil
			}
		}
		return store.Label{}, server.BadRequest("%q is not one of the labels", say)
	}
	if say != "save" {
		return store.Label{}, server.BadRequest("the form cannot do %q", say)
	}
	numbers, parts := map[string]float64{}, make([]string, len(f.Aspects))
	for i, a := range f.Aspects {
		text := strings.TrimSpace(value("aspect." + a.Name))
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= a.Min && v <= a.Max) || a.Integer && v != math.Trunc(v) {
			return store.Label{}, server.BadRequest("%s is a number from %v to %v, not %q", a.Name, a.Min, a.Max, text)
		}
		numbers[a.Name], parts[i] = v, a.Name+" "+strconv.FormatFloat(v, 'g', -1, 64)
	}
	said := f.judge.Scored(numbers)
	return store.Label{Label: strings.Join(parts, ", "), Yes: said.Yes(), Score: said.Score}, nil
}

// disputed reports whether people gave the item at an index different labels, and the dispute
// is not resolved yet. Numbers differ if one means yes and another no, or if they are at
// least a quarter of the scale apart.
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

// labelsCSV answers with the labels of the items of a run and how each item was drawn, as a
// table that "deem agree" and "deem label import" read.
func (s *Server) labelsCSV(w http.ResponseWriter, r *http.Request, run store.Run) error {
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
		for rec, err := range s.Store.Records(r.Context(), run.ID, store.Query{IDs: some, Trial: new(int)}) {
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
	server.Download(w, csvType, "labels-"+server.FileName(run.ID)+".csv")
	return labels.WriteTable(w, rows)
}
