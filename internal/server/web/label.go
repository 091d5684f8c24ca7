package web

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deem"
	"deem/internal/labels"
	"deem/internal/server"
	"deem/internal/store"
)

// labelURL returns the address of a run's labelling page.
func labelURL(run string) string { return runURL(run) + "/label" }

// annotatorCookie is the name of the cookie with the name of the annotator.
const annotatorCookie = "deem_annotator"

// maxNote is the maximum length of a note, in bytes.
const maxNote = 4000

// A labelView is the data of the labelling page.
type labelView struct {
	Run   store.Run
	Tabs  []tab
	URL   string // of the page itself
	Who   string // "" until the annotator gives a name
	Names []string
	Batch int

	Item       *planItem // nil if there is nothing left
	Question   textView
	References []textView
	Response   textView
	Fields     []textView
	Mine       *store.Label // the annotator's earlier label of the item
	Undo       bool         // there is something to undo
	Undone     bool         // something has just been undone
	PutOff     bool         // the item was put off before

	labelForm
	People   []store.Count // how many items each annotator has labelled
	Disputes int           // items on which people disagree
	Resolve  bool          // the page shows only the disputes
	Opinions []store.Label // the labels of a disputed item

	All, Size, Total, Shared int
	More                     string
	Open                     bool // the run is not done
	Agreement                string
}

// labelPage shows the next item to an annotator.
func (s *Server) labelPage(r *http.Request, run store.Run) (page, error) {
	if s.ReadOnly {
		return page{}, server.WithStatus(http.StatusForbidden, server.ErrReadOnly)
	}
	q := r.URL.Query()
	v := labelView{
		Run: run, Tabs: s.runTabs(run, "label"), URL: labelURL(run.ID), Batch: batchOf(q.Get("batch")),
		Open: run.State != store.Done, Agreement: agreementURL(run.ID), Undone: q.Get("undone") != "",
		labelForm: labelFormOf(run), Resolve: q.Get("resolve") != "",
	}
	if c, err := r.Cookie(annotatorCookie); err == nil {
		name, _ := url.QueryUnescape(c.Value) // An invalid value has no name.
		v.Who = server.CleanName(name)
	}
	if name := server.CleanName(q.Get("who")); name != "" {
		v.Who = name
	}
	if q.Get("who") == "" && q.Has("who") {
		v.Who = "" // Another annotator takes over.
	}
	return withPatience(r, "Labelling", func(ctx context.Context) (page, error) {
		lp, err := s.readPlan(ctx, run, v.Batch)
		if err != nil {
			return page{}, err
		}
		v.Size, v.Total, v.Shared = len(lp.Items), lp.Total, min(planShared, len(lp.Items))
		n := map[string]int{}
		for at, by := range lp.by {
			if len(by) > 0 {
				v.All++
			}
			for name := range by {
				n[name]++
			}
			if lp.disputed(at) {
				v.Disputes++
			}
		}
		for _, name := range slices.Sorted(maps.Keys(n)) {
			v.People = append(v.People, store.Count{Name: name, N: n[name]})
			if name != v.Who {
				v.Names = append(v.Names, name)
			}
		}
		if v.Size < v.Total {
			v.More = v.link("batch", strconv.Itoa(v.Batch+1))
		}
		if v.Who != "" {
			err = s.addItem(r.Context(), &v, lp, q.Get("item"))
		}
		return page{Template: "label", Title: "Label " + runName(run), Section: "runs", Data: v, Scripts: []string{"label.js"}}, err
	})
}

// readPlan returns the plan of a run with its human labels.
func (s *Server) readPlan(ctx context.Context, run store.Run, batch int) (labelledPlan, error) {
	p, err := s.planOf(ctx, run, batch)
	if err != nil {
		return labelledPlan{}, err
	}
	lp := labelledPlan{plan: p, by: make([]map[string]store.Label, len(p.Items)), form: labelFormOf(run)}
	if len(p.Items) == 0 {
		return lp, nil
	}
	ids := make([]string, len(p.Items))
	for i, it := range p.Items {
		ids[i] = it.ID
	}
	list, err := s.labelsOf(ctx, store.LabelQuery{IDs: ids})
	for _, l := range list {
		at, ok := p.byKey[l.Item]
		if !ok {
			continue // The label is for another response.
		}
		if lp.by[at] == nil {
			lp.by[at] = map[string]store.Label{}
		}
		lp.by[at][l.Annotator] = l
	}
	return lp, err
}

// link returns the address of the page with further query parameters.
func (v *labelView) link(more ...string) string {
	if v.Batch > 1 {
		more = append([]string{"batch", strconv.Itoa(v.Batch)}, more...)
	}
	if v.Resolve {
		more = append(more, "resolve", "1")
	}
	return server.Link(labelURL(v.Run.ID), url.Values{}, more...)
}

// addItem chooses the item to show: the requested one, or the next one. It reads the texts of
// the item, but none of its verdicts.
func (s *Server) addItem(ctx context.Context, v *labelView, lp labelledPlan, wanted string) error {
	l := s.labelling
	l.mu.Lock()
	d := l.labelSession(v.Run.ID, v.Who)
	at, ok := lp.byKey[wanted]
	switch {
	case v.Resolve:
		at = slices.IndexFunc(lp.Items, func(it planItem) bool { return lp.disputed(lp.byKey[it.Hash]) })
		if ok = at >= 0; ok {
			for _, name := range slices.Sorted(maps.Keys(lp.by[at])) {
				v.Opinions = append(v.Opinions, lp.by[at][name])
			}
		}
	case !ok:
		at, ok = lp.next(v.Who, d)
	}
	if _, has := lp.newest(v.Who, v.Run.Dataset.Hash); has || len(d.history) > 0 {
		v.Undo = true
	}
	if ok { // Others do not get the item for a while.
		if len(l.held) >= maxHeld {
			maps.DeleteFunc(l.held, func(_ string, h heldBy) bool { return time.Now().After(h.until) })
		}
		hash := lp.Items[at].Hash
		l.held[v.Run.ID+"\x00"+hash] = heldBy{v.Who, time.Now().Add(holdTime)}
		v.PutOff = d.skipped(hash)
	}
	l.mu.Unlock()
	if !ok {
		return nil
	}
	v.Item = &lp.Items[at]
	if mine, ok := lp.by[at][v.Who]; ok {
		v.Mine = &mine
	}
	for rec, err := range s.Store.Records(ctx, v.Run.ID, store.Query{IDs: []string{v.Item.ID}, Trial: new(int)}) {
		if err != nil {
			return err
		}
		if rec.Position != v.Item.Position {
			continue
		}
		shown := itemView{Run: v.Run, Item: rec.Item}
		shown.texts()
		v.Question, v.References, v.Response = shown.Question, shown.References, shown.Response
		if rec.Item.Messages != nil {
			v.Fields = append(v.Fields, shown.Conversation)
		}
		for _, name := range labels.Blind(rec.Item) {
			v.Fields = append(v.Fields, shown.text(name, "field."+name, 0, rec.Item.Fields[name]))
		}
		return nil
	}
	return server.NotFound("run %s has no item %q any more", v.Run.ID, v.Item.ID)
}

// batchOf reads the batch, from 1 to maxBatch. Each further batch doubles the plan.
func batchOf(text string) int {
	n, _ := strconv.Atoi(text)
	return min(max(n, 1), maxBatch)
}

// labelPost handles the form of the labelling page: a name, a label, skip or undo.
func (s *Server) labelPost(w http.ResponseWriter, r *http.Request, run store.Run) error {
	who := server.CleanName(r.PostFormValue("annotator"))
	if who == "" || who == labels.Resolved {
		return server.BadRequest("say who you are: a name of at most %d letters", server.MaxAnnotator)
	}
	v := &labelView{Run: run, Who: who, Batch: batchOf(r.PostFormValue("batch")), labelForm: labelFormOf(run), Resolve: r.PostFormValue("resolve") != ""}
	say := r.PostFormValue("say")
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure is set under TLS.
		Name: annotatorCookie, Value: url.QueryEscape(who), Path: "/", MaxAge: 365 * 24 * 3600,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	})
	if say == "name" {
		http.Redirect(w, r, v.link(), http.StatusSeeOther)
		return nil
	}
	lp, err := s.readPlan(r.Context(), run, v.Batch)
	if err != nil {
		return err
	}
	to, err := s.label(r, v, lp, say)
	if err != nil {
		return err
	}
	http.Redirect(w, r, to, http.StatusSeeOther) //nolint:gosec // The link leads to a page of this run.
	return nil
}

// label performs one action and returns the address of the next page.
func (s *Server) label(r *http.Request, v *labelView, lp labelledPlan, say string) (string, error) {
	if say == "undo" {
		return s.undo(r.Context(), v, lp)
	}
	at, ok := lp.byKey[r.PostFormValue("item")]
	if !ok {
		return "", deem.WithHint(server.BadRequest("this item is not among those to label"), "load the page again: the run may have gone on")
	}
	it := lp.Items[at]
	if say == "skip" {
		s.inLabelSession(v, func(d *labelSession) { d.did(change{hash: it.Hash, skip: true}) })
		return v.link(), nil
	}
	l, err := v.read(say, r.PostFormValue)
	if err != nil {
		return "", err
	}
	note := strings.TrimSpace(r.PostFormValue("note"))
	if len(note) > maxNote {
		return "", server.BadRequest("a note has %d bytes at most", maxNote)
	}
	l.Item, l.ID, l.Dataset, l.Annotator = it.Hash, it.ID, v.Run.Dataset.Hash, v.Who
	l.Note, l.Drawn, l.Labelled = note, it.Design, time.Now().UTC()
	if v.Resolve {
		l.Annotator = labels.Resolved
		return v.link(), s.Store.PutLabels(r.Context(), []store.Label{l})
	}
	if err := s.Store.PutLabels(r.Context(), append(lp.outdated(), l)); err != nil {
		return "", err
	}
	c := change{hash: it.Hash}
	if before, ok := lp.by[at][v.Who]; ok {
		c.before = &before
	}
	s.inLabelSession(v, func(d *labelSession) { d.did(c) })
	return v.link(), nil
}

// inLabelSession calls do with the labelling session of a person, under the lock.
func (s *Server) inLabelSession(v *labelView, do func(*labelSession)) {
	s.labelling.mu.Lock()
	defer s.labelling.mu.Unlock()
	do(s.labelling.labelSession(v.Run.ID, v.Who))
}

// undo reverts the last action of a person. If the server no longer has it, undo removes
// the newest of their labels.
func (s *Server) undo(ctx context.Context, v *labelView, lp labelledPlan) (string, error) {
	var c change
	s.inLabelSession(v, func(d *labelSession) {
		if n := len(d.history); n > 0 {
			c, d.history = d.history[n-1], d.history[:n-1]
		}
		if c.skip {
			delete(d.putOff, c.hash)
		}
	})
	if c.hash == "" {
		at, found := lp.newest(v.Who, v.Run.Dataset.Hash)
		if !found {
			return v.link(), nil
		}
		c = change{hash: lp.Items[at].Hash}
	}
	var err error
	switch {
	case c.skip:
	case c.before != nil:
		err = s.Store.PutLabels(ctx, []store.Label{*c.before})
	default:
		err = s.Store.DropLabel(ctx, c.hash, v.Who)
	}
	return v.link("item", c.hash, "undone", "1"), err
}
