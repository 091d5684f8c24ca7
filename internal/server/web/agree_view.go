package web

import (
	"bytes"
	"cmp"
	"html/template"
	"slices"

	"deem/internal/doc"
	"deem/internal/reports/agree"
	"deem/internal/store"
	"deem/internal/words"
	"deem/report"
)

// An agreeView is the data of the agreement page.
type agreeView struct {
	Run  store.Run
	Tabs []tab
	Ask  agreeAsk
	agree.Agreement

	OtherRun   string // the id of the other run, "" for people
	Others     []store.Run
	Annotators []annotatorView
	LabelURL   string
	Left       string // labels that could not be used
	Trust      trust
	Report     template.HTML // "" if no item has both a verdict and a label
}

// An annotatorView is an annotator who can be selected.
type annotatorView struct {
	Name   string
	N      int // number of selected items that they labelled
	Chosen bool
}

// newAgreeView returns the view of an agreement.
func (s *Server) newAgreeView(ask agreeAsk, got *agreed) (v agreeView, err error) {
	v = agreeView{
		Run: ask.run, Tabs: s.runTabs(ask.run, "agreement"), Ask: ask, Agreement: got.Agreement, Annotators: got.annotators(ask),
	}
	if !s.ReadOnly {
		v.LabelURL = labelURL(ask.run.ID)
	}
	if ask.other != nil {
		v.OtherRun = ask.other.ID
	}
	if got.other > 0 {
		v.Left = words.Plural(got.other, "label is", "labels are") + " about another response than the one that was judged, and left out"
	}
	if got.Counts.Both == 0 {
		return v, nil
	}
	v.Trust = newTrust(&got.All.FalseAccept, &got.All.FalseReject, got.Counts.Both, "label")
	if !got.People {
		v.Trust = trust{}
	}
	d := got.Document()
	arrange(d)
	if got.narrowed != "" {
		d.Sections[0].Blocks = append(d.Sections[0].Blocks, doc.Paragraph{Text: got.narrowed})
	}
	if err := s.addCurve(d, got.Confidence); err != nil {
		return v, err
	}
	v.Report, err = doc.Fragment(d, func(l doc.Link) string {
		if len(l.Items) == 0 {
			return links(ask.run.ID)(l)
		}
		var more []string
		for name := range l.Items {
			more = append(more, name, l.Items.Get(name))
		}
		return ask.link("/items", more...)
	})
	return v, err
}

// arrange adds titles to the tables of the page, and moves the counts by category after
// the confusion matrix.
func arrange(d *doc.Document) {
	titles := map[string]string{"matrix": "Verdicts and labels", "categories": "Agreement by category"}
	for i, s := range d.Sections {
		d.Sections[i].Title = cmp.Or(s.Title, titles[s.ID])
	}
	at := func(id string) int {
		return slices.IndexFunc(d.Sections, func(s doc.Section) bool { return s.ID == id })
	}
	if from, to := at("counts"), at("matrix")+1; from > to && to > 0 {
		counts := d.Sections[from]
		d.Sections = slices.Insert(slices.Delete(d.Sections, from, from+1), to, counts)
	}
}

// addCurve replaces the first block of the confidence section by a chart of how often the
// judge was right at each level of confidence.
func (s *Server) addCurve(d *doc.Document, c *agree.Confidence) error {
	if c == nil {
		return nil
	}
	levels := &report.Confidence{Source: doc.FromVerdicts, N: c.N}
	for _, b := range c.Bins {
		levels.Levels = append(levels.Levels, report.ConfidenceLevel{From: b.Lo, To: b.Hi, N: b.N})
	}
	var b bytes.Buffer
	if err := s.pages["agreement"].ExecuteTemplate(&b, "confidencechart", newConfidenceChart(levels, c.Bins)); err != nil {
		return err
	}
	for i, section := range d.Sections {
		if section.ID != "confidence" {
			continue
		}
		figure := doc.Figure{HTML: template.HTML(b.String())}                     //nolint:gosec // The template has escaped the text.
		d.Sections[i].Blocks = append([]doc.Block{figure}, section.Blocks[1:]...) // The chart includes the table.
	}
	return nil
}
