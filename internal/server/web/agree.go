package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"html/template"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deem"
	"deem/internal/doc"
	"deem/internal/reports"
	"deem/internal/reports/agree"
	"deem/internal/server"
	"deem/internal/store"
	"deem/internal/words"
	"deem/report"
)

// agreementURL returns the URL of a run's agreement page. More are the names and values of
// query parameters.
func agreementURL(run string, more ...string) string {
	return server.Link(runURL(run)+"/agreement", url.Values{}, more...)
}

// defaultWidth is the default target width of the corrected interval, in percentage points.
// The page shows how many more labels are needed to reach it.
const defaultWidth = 10

// An agreeAsk is the parsed URL of an agreement page.
type agreeAsk struct {
	run    store.Run
	other  *store.Run // nil if people are the truth
	Only   []string   // annotators; empty for all
	Width  float64    // target width of the corrected interval, in percentage points
	labels []store.Label
}

// readAgree parses the URL of an agreement page and reads the labels.
func (s *Server) readAgree(r *http.Request) (agreeAsk, error) {
	q := r.URL.Query()
	run, err := s.RunOf(r)
	if err != nil {
		return agreeAsk{}, err
	}
	ask := agreeAsk{run: run, Width: defaultWidth}
	if text := q.Get("width"); text != "" {
		if ask.Width, err = strconv.ParseFloat(text, 64); err != nil || !(ask.Width > 0 && ask.Width < 100) {
			return ask, server.BadRequest("a width lies between 0 and 100 percentage points, not at %q", text)
		}
	}
	if ref := q.Get("with"); ref != "" {
		other, err := s.Store.Run(r.Context(), ref)
		if err == nil && other.ID == run.ID {
			err = server.BadRequest("a judge agrees with itself: both are run %s", run.ID)
		}
		if err == nil && other.Dataset.Hash != run.Dataset.Hash {
			err = server.BadRequest("runs %s and %s judged different items, so their judges cannot be compared", run.ID, other.ID)
		}
		ask.other = &other
		return ask, err
	}
	for _, name := range q["annotator"] {
		if !slices.Contains(ask.Only, name) {
			ask.Only = append(ask.Only, name)
		}
	}
	ask.labels, err = s.labelsOf(r.Context(), store.LabelQuery{})
	return ask, err
}

func (s *Server) labelsOf(ctx context.Context, q store.LabelQuery) ([]store.Label, error) {
	var list []store.Label
	for l, err := range s.Store.Labels(ctx, q) {
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

// link returns the URL of a page below the agreement, for example "/items".
func (a agreeAsk) link(below string, more ...string) string {
	q := url.Values{}
	if a.other != nil {
		q.Set("with", a.other.ID)
	}
	if len(a.Only) > 0 {
		q["annotator"] = a.Only
	}
	if a.Width != defaultWidth {
		q.Set("width", strconv.FormatFloat(a.Width, 'g', -1, 64))
	}
	return server.Link(runURL(a.run.ID)+"/agreement"+below, q, more...)
}

// stampOfLabels returns a string that changes with the labels: a changed label has a later
// time, a withdrawn label lowers the count, and both together change the sum.
func stampOfLabels(list []store.Label) string {
	last, sum := int64(0), int64(0)
	for _, l := range list {
		at := l.Labelled.UnixNano()
		last, sum = max(last, at), sum+at%1_000_003
		if l.Yes {
			sum++
		}
	}
	return fmt.Sprint(";", len(list), ";", last, ";", sum)
}

// An agreed is an agreement and the items it is based on.
type agreed struct {
	agree.Agreement
	both  []bothItem
	votes map[string]int // number of items labelled, by annotator
	other int            // labels for a response other than the judged one

	narrowed string // the effect of the last labels on the corrected interval, "" if unknown
}

// A bothItem is an item with a verdict and a label.
type bothItem struct {
	id, category  string
	judge, people bool
}

// agreed compares the judge with people or another judge.
func (s *Server) agreed(ctx context.Context, ask agreeAsk) (*agreed, error) {
	other, stamp := "", stampOf(ask.run, time.Now())
	if ask.other != nil {
		other, stamp = ask.other.ID, stamp+";"+stampOf(*ask.other, time.Now())
	} else {
		stamp += stampOfLabels(ask.labels)
	}
	key := fmt.Sprintf("agree %s %s %q %g", ask.run.ID, other, ask.Only, ask.Width)
	return countOnce(ctx, s.bench, key, stamp, false, func(ctx context.Context) (*agreed, error) {
		got := &agreed{votes: map[string]int{}}
		o, err := reports.AgreeOptions(ctx, s.Store, ask.run, report.DefaultMaxUnjudged)
		if err != nil {
			return nil, err
		}
		o.People, o.Width = ask.other == nil, ask.Width/100
		o = reports.WithLabels(o, reports.LabelsOf(ask.run, false))
		if ask.other != nil {
			o.Truth = reports.Party(*ask.other)
			b := agree.New(o)
			err := reports.EachWithRun(ctx, s.Store, ask.run, *ask.other, o, got.note(b.Add))
			got.Agreement = b.Agreement()
			return got, err
		}
		people, err := reports.Kept(ctx, s.Store, store.LabelQuery{Annotators: ask.Only})
		if err != nil {
			return nil, err
		}
		o.Truth = agree.Party{Judge: people.Name}
		b := agree.New(o)
		if err := reports.EachWithPeople(ctx, s.Store, ask.run, people, o, got.note(b.Add)); err != nil {
			return nil, err
		}
		got.Agreement, got.other = b.Agreement(), people.OtherResponses
		// How much the last labels narrowed the corrected interval is known from the
		// agreement without them.
		var times []time.Time
		for _, l := range ask.labels {
			if l.Dataset == ask.run.Dataset.Hash && (len(ask.Only) == 0 || slices.Contains(ask.Only, l.Annotator)) {
				times = append(times, l.Labelled)
			}
		}
		if len(times) < 2*lastLabels || got.Corrected == nil {
			return got, nil
		}
		slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
		people, err = reports.Kept(ctx, labelsBefore{s.Store, times[lastLabels-1]}, store.LabelQuery{Annotators: ask.Only})
		if err != nil {
			return nil, err
		}
		before, err := reports.CompareWithPeople(ctx, s.Store, ask.run, people, o)
		if err != nil || before.Corrected == nil {
			return got, err
		}
		was, now := before.Corrected.Quoted(), got.Corrected.Quoted()
		got.narrowed = fmt.Sprintf("With the last %d labels the corrected interval went from %.1f to %.1f points wide.", lastLabels, 100*(was.Hi-was.Lo), 100*(now.Hi-now.Lo))
		return got, nil
	})
}

// lastLabels is the number of most recent labels whose effect the agreement page shows.
const lastLabels = 10

// labelsBefore is a database restricted to the labels given before a time.
type labelsBefore struct {
	store.Database
	at time.Time
}

// Labels implements [store.Labels].
func (b labelsBefore) Labels(ctx context.Context, q store.LabelQuery) iter.Seq2[store.Label, error] {
	return func(yield func(store.Label, error) bool) {
		for l, err := range b.Database.Labels(ctx, q) {
			if (err != nil || l.Labelled.Before(b.at)) && !yield(l, err) {
				return
			}
		}
	}
}

// note returns a function that calls add and records the items of the agreement.
func (g *agreed) note(add func(agree.Pair)) func(agree.Pair) {
	return func(p agree.Pair) {
		add(p)
		if p.Truth == nil {
			return
		}
		for name := range p.Truth.Votes {
			g.votes[name]++
		}
		if p.Verdict != nil && !p.Truth.Tie {
			g.both = append(g.both, bothItem{
				id: strings.Clone(p.Item.ID), category: strings.Clone(p.Item.Category),
				judge: p.Verdict.Yes(), people: p.Truth.Yes,
			})
		}
	}
}

// agreementPage compares the judge of a run with people or with the judge of another run.
func (s *Server) agreementPage(r *http.Request) (page, error) {
	ask, err := s.readAgree(r)
	if err != nil {
		return page{}, err
	}
	return withPatience(r, "Agreement", func(ctx context.Context) (page, error) {
		got, err := s.agreed(ctx, ask)
		if err != nil {
			return page{}, err
		}
		v, err := s.newAgreeView(ask, got)
		if err != nil {
			return page{}, err
		}
		if v.Others, err = s.sameDataset(r, ask.run); err != nil {
			return page{}, err
		}
		return page{Template: "agreement", Title: "Agreement of " + runName(ask.run), Section: "runs", Data: v}, nil
	})
}

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
