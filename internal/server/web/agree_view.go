package web

import (
	"bytes"
	"cmp"
	"context"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/internal/reports/agree"
	"deem/internal/server"
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
	Annotators []annotatorView // who labelled items of this run or its dataset
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
		Run: ask.run, Tabs: s.runTabs(ask.run, "agreement"), Ask: ask, Agreement: got.Agreement,
	}
	votes := maps.Clone(got.votes)
	for _, l := range ask.labels {
		if l.Dataset == ask.run.Dataset.Hash {
			votes[l.Annotator] += 0 // Also those whose labels are not used.
		}
	}
	for _, name := range slices.Sorted(maps.Keys(votes)) {
		chosen := len(ask.Only) == 0 || slices.Contains(ask.Only, name)
		v.Annotators = append(v.Annotators, annotatorView{Name: name, N: votes[name], Chosen: chosen})
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
	if got.People {
		v.Trust = newTrust(&got.All.FalseAccept, &got.All.FalseReject, got.Counts.Both, "label")
	}
	d := got.Document()
	titles := map[string]string{"matrix": "Verdicts and labels", "categories": "Agreement by category"}
	for i, s := range d.Sections {
		d.Sections[i].Title = cmp.Or(s.Title, titles[s.ID])
	}
	at := func(id string) int {
		return slices.IndexFunc(d.Sections, func(s doc.Section) bool { return s.ID == id })
	}
	if from, to := at("counts"), at("matrix")+1; from > to && to > 0 { // The counts by category follow the matrix.
		counts := d.Sections[from]
		d.Sections = slices.Insert(slices.Delete(d.Sections, from, from+1), to, counts)
	}
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

// A cellView is the data of the page of a cell.
type cellView struct {
	Run  store.Run
	Tabs []tab
	Who  string
	Back string
	N    int
	Rows []cellRow

	Judge, People string // server.SaysYes, server.SaysNo or "" for any
	Category      string
	Pager         pager
}

// A cellRow is an item with the opinions on it.
type cellRow struct {
	deem.Record
	URL    string
	People []store.Label // of people, or the verdict of another judge
}

// itemsPerCell is the number of items per page.
const itemsPerCell = 50

// cellPage lists the items of one cell of the confusion matrix.
func (s *Server) cellPage(r *http.Request) (page, error) {
	ask, err := s.readAgree(r)
	if err != nil {
		return page{}, err
	}
	q := r.URL.Query()
	v := cellView{Run: ask.run, Tabs: s.runTabs(ask.run, "agreement"), Back: ask.link(""), Judge: q.Get("judge"), People: q.Get("people"), Category: q.Get("category")}
	for _, says := range []string{v.Judge, v.People} {
		if says != "" && says != server.SaysYes && says != server.SaysNo {
			return page{}, server.BadRequest("judge and people say yes or no, not %q", says)
		}
	}
	at, _ := strconv.Atoi(q.Get("page"))
	return withPatience(r, "Agreement", func(ctx context.Context) (page, error) {
		got, err := s.agreed(ctx, ask)
		if err != nil {
			return page{}, err
		}
		fits := func(says string, yes bool) bool { return says == "" || says == server.SaysYes == yes }
		var ids []string
		for _, it := range got.both {
			if fits(v.Judge, it.judge) && fits(v.People, it.people) && (v.Category == "" || v.Category == doc.OrNone(it.category)) {
				ids = append(ids, it.id)
			}
		}
		v.Who, v.N = got.Who(), len(ids)
		v.Pager = newPager(at, len(ids), itemsPerCell, func(n int) string {
			return ask.link("/items", "page", strconv.Itoa(n), "judge", v.Judge, "people", v.People, "category", v.Category)
		})
		from, to := v.Pager.span(len(ids), itemsPerCell)
		v.Rows, err = s.cellRows(r.Context(), ask, ids[from:to])
		return page{Template: "cell", Title: "Items of an agreement", Section: "runs", Data: v, Scripts: []string{"items.js"}}, err
	})
}

// cellRows reads items and the opinions on them, in the order of the dataset.
func (s *Server) cellRows(ctx context.Context, ask agreeAsk, ids []string) ([]cellRow, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	said := map[string][]store.Label{} // labels by item hash, or verdicts of the other judge by item id
	if ask.other != nil {
		for rec, err := range s.Store.Records(ctx, ask.other.ID, store.Query{IDs: ids, Trial: new(int), Brief: true}) {
			if err != nil {
				return nil, err
			}
			if v := rec.Verdict; v != nil {
				said[rec.Item.ID] = []store.Label{{Annotator: ask.other.Judge.Name, Yes: v.Yes(), Label: v.Label, Note: v.Reason}}
			}
		}
	} else {
		list, err := s.labelsOf(ctx, store.LabelQuery{IDs: ids, Annotators: ask.Only})
		if err != nil {
			return nil, err
		}
		for _, l := range list {
			if strings.TrimSpace(l.Annotator) == "" {
				l.Annotator = "somebody"
			}
			said[l.Item] = append(said[l.Item], l)
		}
	}
	var rows []cellRow
	for rec, err := range s.Store.Records(ctx, ask.run.ID, store.Query{IDs: ids, Trial: new(int)}) {
		if err != nil {
			return nil, err
		}
		key := rec.Item.ID
		if ask.other == nil {
			key = rec.Item.Hash()
		}
		rows = append(rows, cellRow{Record: rec, URL: itemURL(ask.run.ID, rec.Item.ID), People: said[key]})
	}
	slices.SortStableFunc(rows, func(a, b cellRow) int { return a.Position - b.Position })
	return rows, nil
}
