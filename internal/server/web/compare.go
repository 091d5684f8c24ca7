package web

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
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
	"deem/internal/reports/compare"
	"deem/internal/server"
	"deem/internal/store"
	"deem/internal/words"
	"deem/report"
)

// maxCompared is the maximum number of runs in a comparison: a table has no room for more.
const maxCompared = 8

// compareSeed is the seed of permutation tests, the same as in the compare command.
const compareSeed = 1

// A compareAsk is the parameters of a comparison.
type compareAsk struct {
	Refs   []string // of runs, the baseline first
	Anyway bool
	Change string // list only items with this change, "" for all
	page   int
}

// readCompare parses runs=a,b or, as sent by forms, run=a&run=b; base names the baseline.
func readCompare(q url.Values) compareAsk {
	ask := compareAsk{Anyway: q.Get("anyway") != "", Change: q.Get("change")}
	ask.page, _ = strconv.Atoi(q.Get("page"))
	for _, list := range append(slices.Clone(q["runs"]), q["run"]...) {
		for ref := range strings.SplitSeq(list, ",") {
			if ref = strings.TrimSpace(ref); ref != "" && !slices.Contains(ask.Refs, ref) {
				ask.Refs = append(ask.Refs, ref)
			}
		}
	}
	if base := q.Get("base"); base != "" {
		rest := slices.DeleteFunc(ask.Refs, func(ref string) bool { return ref == base })
		ask.Refs = slices.Insert(rest, 0, base)
	}
	return ask
}

// link returns the address of the comparison. more is pairs of a parameter and its new
// value; "" removes the parameter.
func (a compareAsk) link(path string, more ...string) string {
	q := url.Values{"runs": {strings.Join(a.Refs, ",")}, "change": {a.Change}}
	if a.Anyway {
		q.Set("anyway", "1")
	}
	return server.Link(path, q, more...)
}

// A comparedRuns is a comparison of runs, with the items on which they differ.
type comparedRuns struct {
	compare.Comparison
	runs  []reports.Compared
	flips []compare.Flip
}

func (s *Server) compared(ctx context.Context, ask compareAsk) (*comparedRuns, error) {
	if len(ask.Refs) > maxCompared {
		return nil, server.BadRequest("%d runs are too many to compare: the limit is %d", len(ask.Refs), maxCompared)
	}
	var runs []reports.Compared
	for _, ref := range ask.Refs {
		run, err := store.Find(ctx, s.Store, ref)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(runs, func(r reports.Compared) bool { return r.ID == run.ID }) {
			return nil, server.BadRequest("run %s is named twice", run.ID)
		}
		runs = append(runs, reports.Compared{Run: run})
	}
	runs, err := reports.NameRuns(runs)
	if err != nil {
		return nil, err
	}
	stamp, now := "", time.Now()
	for i, run := range runs {
		ask.Refs[i] = run.ID // Links use the full id, because "last" may mean another run later.
		stamp += stampOf(run.Run, now) + ";"
	}
	labelled, err := s.labelsOf(ctx, store.LabelQuery{})
	if err != nil {
		return nil, err
	}
	stamp += stampOfLabels(labelled)
	key := fmt.Sprint("compare ", ask.Anyway, " ", ask.Refs)
	return countOnce(ctx, s.bench, key, stamp, false, func(ctx context.Context) (*comparedRuns, error) {
		o := compare.Options{MaxUnjudged: report.DefaultMaxUnjudged, Seed: compareSeed, Anyway: ask.Anyway}
		var people []*reports.People
		if len(labelled) > 0 {
			for range runs {
				p, err := reports.Kept(ctx, s.Store, store.LabelQuery{})
				if err != nil {
					return nil, err
				}
				people = append(people, p)
			}
		}
		b, err := reports.Compare(ctx, s.Store, runs, people, o)
		if err != nil {
			return nil, err
		}
		return &comparedRuns{Comparison: b.Comparison(), runs: runs, flips: b.Flips()}, nil
	})
}

// comparePage shows a comparison, or a form to choose runs if fewer than two are named.
func (s *Server) comparePage(r *http.Request) (page, error) {
	ask := readCompare(r.URL.Query())
	if len(ask.Refs) < 2 {
		v := chooseView{One: len(ask.Refs) == 1}
		for run, err := range s.Store.Runs(r.Context()) {
			if err != nil {
				return page{}, err
			}
			if len(v.Runs) == maxChoose {
				v.Oldest = true
				break
			}
			v.Runs = append(v.Runs, chooseRow{run, slices.Contains(ask.Refs, run.ID)})
		}
		return page{Template: "choose", Title: "Compare", Section: "compare", Data: v}, nil
	}
	return withPatience(r, "Comparison", func(ctx context.Context) (page, error) {
		b, err := s.compared(ctx, ask)
		if err != nil {
			return page{}, err
		}
		d := b.Summary()
		v := compareView{Title: d.Title, Ask: ask, Refused: b.Refused}
		if b.Refused {
			v.Anyway = ask.link("/compare", "anyway", "1")
			v.Advice = "Judge all of them in the same way. Or compare them anyway, and say what differs wherever you quote the difference."
			if len(b.runs) == 2 && b.runs[0].Dataset.Hash == b.runs[1].Dataset.Hash {
				v.Advice = "Both runs judged the same responses: their judges differ. Look at how far the judges agree."
				v.Agree = agreementURL(b.runs[0].ID, "with", b.runs[1].ID)
			}
		} else {
			b.addWins(d)
			if err := s.addFlips(r.Context(), &v, b); err != nil {
				return page{}, err
			}
		}
		v.Report, err = doc.Fragment(d, links(""))
		return page{Template: "compare", Title: v.Title, Section: "compare", Data: v}, err
	})
}

// A chooseView is the form to choose runs.
type chooseView struct {
	Runs   []chooseRow
	One    bool // only one run was named
	Oldest bool // there are more runs than are listed
}

type chooseRow struct {
	store.Run
	Chosen bool
}

// maxChoose is the maximum number of runs to choose from.
const maxChoose = 100

// flipsCSV streams all items on which runs differ as a CSV file.
func (s *Server) flipsCSV(w http.ResponseWriter, r *http.Request) error {
	ask := readCompare(r.URL.Query())
	if len(ask.Refs) < 2 {
		return server.BadRequest("choose at least two runs to compare")
	}
	b, err := s.compared(r.Context(), ask)
	if err != nil {
		return err
	}
	if b.Refused {
		err := deem.WithHint(fmt.Errorf("the runs differ in more than their systems, and are not compared"), "anyway=1 in the address compares them all the same")
		return server.WithStatus(http.StatusConflict, err)
	}
	names := make([]string, len(b.Runs))
	for i, run := range b.Runs {
		names[i] = run.Name
	}
	server.Download(w, csvType, "flips.csv")
	rc := http.NewResponseController(w)
	texts := reports.FlipTexts(r.Context(), s.Store, b.runs, b.listed(ask.Change))
	err = compare.WriteCSV(w, names, func(yield func(compare.FlipText, error) bool) {
		n := 0
		for f, err := range texts {
			if n++; n%csvPage == 1 {
				server.Extend(rc, 0)
			}
			if !yield(f, err) {
				return
			}
		}
	})
	if err != nil {
		return s.Cut(r, err)
	}
	return nil
}

// listed returns the items with a change, or all if change is "".
func (b *comparedRuns) listed(change string) []compare.Flip {
	if change == "" {
		return b.flips
	}
	return slices.DeleteFunc(slices.Clone(b.flips), func(f compare.Flip) bool { return f.Change() != change })
}

// A compareView is the data of the comparison page.
type compareView struct {
	Title   string
	Ask     compareAsk
	Refused bool
	Report  template.HTML

	Advice  string // what to do if runs are not compared
	Anyway  string // the address that compares them anyway
	Agree   string // the address that compares their judges, "" if that makes no sense
	Changes []changeView
	All     string        // the address without a choice of a change
	Flips   template.HTML // items on which runs differ
	Total   int           // number of items on which runs differ
	Pager   pager
	CSV     string
}

// A changeView is one way in which runs differ on items.
type changeView struct {
	Title   string
	N       int
	URL     string
	Current bool
}

// flipsPerPage is the number of items on a page, with their responses.
const flipsPerPage = 20

// flipText is the maximum length of a response in the list, in bytes.
const flipText = 4000

// addFlips adds the items on which runs differ, and the ways in which they differ, the most
// frequent first.
func (s *Server) addFlips(ctx context.Context, v *compareView, b *comparedRuns) (err error) {
	v.Total, v.All = len(b.flips), v.Ask.link("/compare", "change", "", "page", "")+"#flips"
	at := map[string]int{}
	for _, f := range b.flips {
		change := f.Change()
		i, ok := at[change]
		if !ok {
			i = len(v.Changes)
			at[change] = i
			v.Changes = append(v.Changes, changeView{
				Title: b.passed(f), URL: v.Ask.link("/compare", "change", change, "page", "") + "#flips", Current: change == v.Ask.Change,
			})
		}
		v.Changes[i].N++
	}
	slices.SortStableFunc(v.Changes, func(x, y changeView) int { return y.N - x.N })
	list := b.listed(v.Ask.Change)
	v.CSV = v.Ask.link("/compare/flips.csv")
	v.Pager = newPager(v.Ask.page, len(list), flipsPerPage, func(n int) string { return v.Ask.link("/compare", "page", strconv.Itoa(n)) + "#flips" })
	from, to := v.Pager.span(len(list), flipsPerPage)
	var items doc.Items
	for f, err := range reports.FlipTexts(ctx, s.Store, b.runs, list[from:to]) {
		if err != nil {
			return err
		}
		it := b.Item(f)
		it.Question, it.Link = excerpt(it.Question), doc.Link{}
		it.References = it.References[:min(len(it.References), 3)]
		for i, ref := range it.References {
			it.References[i] = excerpt(ref)
		}
		for i := range it.Sides {
			side := &it.Sides[i]
			side.Reason = excerpt(side.Reason)
			if len(side.Response) > flipText {
				side.Response = strings.ToValidUTF8(side.Response[:flipText], "") + "…"
			}
		}
		items = append(items, it)
	}
	d := &doc.Document{}
	d.Add(doc.Section{ID: "items", Blocks: []doc.Block{items}})
	v.Flips, err = doc.Fragment(d, links(""))
	return err
}

// passed names the runs that pass an item, and those without a verdict. The other runs fail
// the item.
func (b *comparedRuns) passed(f compare.Flip) string {
	var yes, unjudged []string
	for i, o := range f.Outcomes {
		switch {
		case o.Yes == nil:
			unjudged = append(unjudged, b.Runs[i].Name)
		case *o.Yes:
			yes = append(yes, b.Runs[i].Name)
		}
	}
	text := "Passed by " + cmp.Or(words.And(yes), "no run")
	if len(unjudged) > 0 {
		text += ", unjudged in " + words.And(unjudged)
	}
	return text
}

// addWins adds to a comparison on how many items each run is right and another is wrong: by
// category for two runs, otherwise as a matrix. Unjudged items are not wins.
func (b *comparedRuns) addWins(d *doc.Document) {
	if len(b.Runs) == 2 {
		b.addMoves(d)
		return
	}
	t := doc.Table{Columns: []doc.Column{doc.Col("right where the other is wrong")}}
	for _, run := range b.Runs {
		t.Columns = append(t.Columns, doc.Num(run.Name))
	}
	for i, run := range b.Runs {
		row := []doc.Cell{doc.T(run.Name)}
		for j := range b.Runs {
			if i == j {
				row = append(row, doc.Cell{Text: "–", Tone: doc.Dim})
				continue
			}
			won, lost := b.wins(i, j), b.wins(j, i)
			cell := doc.N(won)
			switch {
			case won > lost:
				cell.Tone = doc.Good
			case won < lost:
				cell.Tone = doc.Bad
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	insert(d, "matrix", doc.Section{ID: "wins", Title: "Wins", Blocks: []doc.Block{t}})
}

// insert inserts a section after the section with the given ID, or at the end.
func insert(d *doc.Document, after string, s doc.Section) {
	at := 1 + slices.IndexFunc(d.Sections, func(s doc.Section) bool { return s.ID == after })
	if at == 0 {
		at = len(d.Sections)
	}
	d.Sections = slices.Insert(d.Sections, at, s)
}

// wins returns the number of items on which run i is right and run j is wrong.
func (b *comparedRuns) wins(i, j int) int {
	n := 0
	for _, f := range b.flips {
		if says(f, i, true) && says(f, j, false) {
			n++
		}
	}
	return n
}

// says reports whether a run judged an item and its verdict equals yes.
func says(f compare.Flip, run int, yes bool) bool {
	o := f.Outcomes[run]
	return o.Yes != nil && *o.Yes == yes
}

// addMoves adds, for two runs, how many items became right and wrong in each category.
func (b *comparedRuns) addMoves(d *doc.Document) {
	type moves struct{ gained, lost, other int }
	by := map[string]*moves{}
	for _, f := range b.flips {
		m := by[f.Category]
		if m == nil {
			m = &moves{}
			by[f.Category] = m
		}
		switch {
		case says(f, 0, false) && says(f, 1, true):
			m.gained++
		case says(f, 0, true) && says(f, 1, false):
			m.lost++
		default:
			m.other++
		}
	}
	if len(by) < 2 {
		return
	}
	t := doc.Table{Columns: []doc.Column{doc.Col("category"), doc.Num("became right"), doc.Num("became wrong"), doc.Num("balance"), doc.Num("unjudged in one")}}
	names := slices.SortedFunc(maps.Keys(by), func(x, y string) int {
		return (by[x].gained - by[x].lost) - (by[y].gained - by[y].lost)
	})
	for _, name := range names {
		m := by[name]
		balance := doc.Cell{Text: fmt.Sprintf("%+d", m.gained-m.lost)}
		switch {
		case m.gained > m.lost:
			balance.Tone = doc.Good
		case m.gained < m.lost:
			balance.Tone = doc.Bad
		}
		t.Rows = append(t.Rows, []doc.Cell{doc.T(doc.OrNone(name)), doc.N(m.gained), doc.N(m.lost), balance, doc.N(m.other)})
	}
	insert(d, "pair1", doc.Section{ID: "moves", Title: "What changed, by category", Blocks: []doc.Block{t}})
}
