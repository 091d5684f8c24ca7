// Package agree compares the verdicts of a judge with labels of people: how often they
// agree, which errors the judge makes, and what the score would be had people judged
// everything.
package agree

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/internal/labels"
	"deem/internal/reports"
	"deem/internal/reports/agree"
	"deem/judge"
	"deem/stat"
)

// An Agreement is how well a judge agrees with people.
type Agreement struct {
	Items, Judged, Labelled int // Labelled counts items with a label and a verdict

	Agreement   stat.Estimate // the share of labelled items on which they agree
	Kappa       stat.Estimate // Cohen's: agreement beyond chance
	FalseAccept stat.Estimate // the share of wrong answers that the judge accepts
	FalseReject stat.Estimate // the share of right answers that it rejects

	// Score is the score by the judge alone, and Corrected the one that people would give:
	// nil if the labels say too little about it.
	Score     *stat.Estimate
	Corrected *stat.Estimate

	whole agree.Agreement
}

// People compares the verdicts of j, for example those that [deem.Run] yields, with the
// labels in files: a column for the item's id and one for the label (docs/agree.md).
func People(j deem.Judge, records iter.Seq2[deem.Record, error], files ...string) (Agreement, error) {
	spec := judge.SpecOf(j)
	set, err := labels.Read(context.Background(), labels.Source{Names: files, Labels: reports.LabelsOfJudge(spec)})
	if err != nil {
		return Agreement{}, err
	}
	people := reports.Written(strings.Join(set.Names, ", "), set.Labels)
	o := agree.Options{
		Judge: agree.Party{Judge: j.Name(), Model: strings.Join(spec.Models(), " + ")}, Truth: agree.Party{Judge: people.Name}, People: true,
		MaxUnjudged: 1, CalibrationError: spec.CalibrationError(),
	}
	b := agree.New(reports.WithLabels(o, reports.LabelsOfJudge(spec)))
	for rec, err := range records {
		if err != nil {
			return Agreement{}, err
		}
		p := agree.Judged([]deem.Record{rec}, o.CalibrationError)
		p.Truth = people.Of(p.Item)
		b.Add(p)
	}
	if people.Used() == 0 && people.Len() > 0 {
		return Agreement{}, errors.New("no label in " + people.Name + " is about one of the items: labels and items have the same ids")
	}
	return summary(b.Agreement()), nil
}

func summary(a agree.Agreement) Agreement {
	r := Agreement{
		Items: a.Counts.Items, Judged: a.Counts.Judged, Labelled: a.Counts.Both,
		Agreement: a.All.Agreement, Kappa: a.All.Kappa, FalseAccept: a.All.FalseAccept, FalseReject: a.All.FalseReject, whole: a,
	}
	if c := a.Corrected; c != nil {
		r.Score = &c.Raw
		if c.Quote != "" {
			r.Corrected = new(c.Quoted())
		}
	}
	return r
}

// Text writes the whole comparison for a terminal, 80 columns wide.
func (a Agreement) Text(w io.Writer) error {
	return doc.Text(w, a.whole.Document(), doc.TextOptions{})
}

// JSON writes the whole comparison in the form of deem agree --json.
func (a Agreement) JSON(w io.Writer) error { return a.whole.JSON(w) }
