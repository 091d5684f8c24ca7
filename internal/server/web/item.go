package web

import (
	"context"
	"fmt"
	"hash/crc32"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/internal/reports"
	"deem/internal/server"
	"deem/internal/store"
	"deem/internal/words"
)

// maxShown is how many bytes of a text a page shows. The page links to the full text.
const maxShown = 64 << 10

// maxFact is the maximum length of a field that is shown on one line, in bytes.
const maxFact = 80

// A textView is a text on a page.
type textView struct {
	Name string
	Text string // only the beginning if it is long
	Size int    // of the full text
	Raw  string // the address of the full text

	ID     string  // of the element that shows it
	Pieces []piece // the text in pieces, if parts of it are marked
}

// Long reports whether the text is longer than what is shown.
func (t textView) Long() bool { return len(t.Text) < t.Size }

// An itemView is the data of the page of an item.
type itemView struct {
	Run    store.Run
	Tabs   []tab
	Filter server.Filter
	Back   string // to the list
	Prev   string // to the neighbours within the filter, "" for none
	Next   string

	Item       deem.Item
	Hash       string
	Question   textView
	References []textView

	Conversation textView // a transcript
	Response     textView
	Facts        []textView // fields that fit on a line
	Fields       []textView // longer fields

	Trials        []trialView
	Current       int // the index of the selected trial
	OtherVerdicts []otherVerdict
	Labels        []store.Label
	Graded        bool   // a verdict or a label has a score other than 0 and 1
	Explained     bool   // a verdict has a reason, or a label a note
	Note          string // why the prompt cannot be rendered, if so
}

// Shown returns the selected trial.
func (v itemView) Shown() trialView { return v.Trials[v.Current] }

// Marked reports whether a piece of the response or of a reference has a class.
func (v itemView) Marked(class string) bool {
	for _, t := range append(slices.Clone(v.References), v.Response) {
		if slices.ContainsFunc(t.Pieces, func(p piece) bool { return p.Class == class }) {
			return true
		}
	}
	return false
}

// A trialView is one record of the item.
type trialView struct {
	deem.Record
	URL     string // of the page that shows it
	Current bool

	Reader   string        // what answered the item, "" if it came with a response
	Contexts []contextView // that the reader was given

	Prompt   []textView
	Verified bool
	Other    *reports.ShownReading // the verdict by the other parser, if it differs
	Calls    []callView
	Trace    *trace
}

// A contextView is a passage that a reader was given.
type contextView struct {
	textView
	LeftOut, Evidence bool
}

// A callView is a call with the text of its reply.
type callView struct {
	deem.Call
	Reply textView
	Got   *deem.Reply
}

// An otherVerdict is the records of the same item in another run.
type otherVerdict struct {
	Run    store.Run
	URL    string
	Trials []deem.Record
}

// itemOf returns the id of the item in an address.
func itemOf(r *http.Request) string {
	if id := r.PathValue("item"); id != "" {
		return id
	}
	return r.URL.Query().Get("id")
}

func (s *Server) itemPage(r *http.Request) (page, error) {
	run, f, err := s.Filtered(r)
	if err != nil {
		return page{}, err
	}
	ctx, id := r.Context(), itemOf(r)
	recs, err := s.RecordsOf(ctx, run, id)
	if err != nil {
		return page{}, err
	}
	v := itemView{Run: run, Tabs: s.runTabs(run, "items"), Filter: f, Item: recs[0].Item, Hash: recs[0].Item.Hash()}
	v.Back = f.Link(itemsURL(run.ID))
	v.texts()
	v.highlight()
	v.addTrials(recs, r.URL.Query().Get("t"))
	if v.Next, err = v.neighbour(ctx, s.Store, false); err != nil {
		return page{}, err
	}
	if v.Prev, err = v.neighbour(ctx, s.Store, true); err != nil {
		return page{}, err
	}
	// Other runs may have judged the same question with the same response, whatever the name
	// of the dataset.
	n := 0
	for other, err := range s.Store.Runs(ctx) {
		if err != nil {
			return page{}, err
		}
		if other.ID == run.ID {
			continue
		}
		if n++; n > maxOthers {
			break
		}
		b := otherVerdict{Run: other, URL: itemURL(other.ID, v.Item.ID)}
		for rec, err := range s.Store.Records(ctx, other.ID, store.Query{IDs: []string{v.Item.ID}}) {
			if err != nil {
				return page{}, err
			}
			if rec.Item.Hash() == v.Hash {
				b.Trials = append(b.Trials, rec)
			}
		}
		if len(b.Trials) > 0 {
			v.OtherVerdicts = append(v.OtherVerdicts, b)
			recs = append(recs, b.Trials...)
		}
	}
	if v.Labels, err = s.labelsOf(ctx, store.LabelQuery{IDs: []string{v.Item.ID}}); err != nil {
		return page{}, err
	}
	v.Labels = slices.DeleteFunc(v.Labels, func(l store.Label) bool { return l.Item != v.Hash })
	for _, l := range v.Labels {
		v.said(l.Score, l.Note)
	}
	for _, rec := range recs {
		if rec.Verdict != nil {
			v.said(rec.Verdict.Score, rec.Verdict.Reason)
		}
	}
	return page{Template: "item", Title: excerpt(id) + " · " + runName(run), Section: "runs", Data: v, Scripts: []string{"items.js"}}, nil
}

// said notes the score of a verdict or a label, and why it was given.
func (v *itemView) said(score float64, why string) {
	v.Graded = v.Graded || score != 0 && score != 1
	v.Explained = v.Explained || why != ""
}

// texts fills in the texts of the item.
func (v *itemView) texts() {
	it := v.Item
	v.Question = v.text("question", "question", 0, it.Question)
	v.Response = v.text("response", "response", 0, it.Response)
	v.Conversation = v.text("conversation", "conversation", 0, it.Messages.Text(0, len(it.Messages)))
	for i, ref := range it.References {
		v.References = append(v.References, v.text(fmt.Sprintf("reference %d", i+1), fmt.Sprintf("reference.%d", i), 0, ref))
	}
	for _, name := range slices.Sorted(maps.Keys(it.Fields)) {
		text := v.text(name, "field."+name, 0, it.Fields[name])
		if len(text.Text) <= maxFact && !strings.Contains(text.Text, "\n") {
			v.Facts = append(v.Facts, text)
			continue
		}
		if !text.Long() {
			text.Pieces = []piece{{Text: pretty(text.Text)}}
		}
		v.Fields = append(v.Fields, text)
	}
}

// text returns a text with the address of its full version.
func (v *itemView) text(name, part string, trial int, text string) textView {
	args := append([]string{"part", part}, trialArg(trial)...)
	return textView{
		Name: name, Text: words.Cut(text, maxShown), Size: len(text), Raw: server.Link(under(runURL(v.Run.ID)+"/raw/", v.Item.ID), url.Values{}, args...),
		ID: "text-" + strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(part+strconv.Itoa(trial)))), 36),
	}
}

// addTrials fills in every trial, and for the selected one the prompt rendered again and
// the reply read by both parsers.
func (v *itemView) addTrials(recs []deem.Record, wantTrial string) {
	for i, rec := range recs {
		if strconv.Itoa(rec.Trial) == wantTrial {
			v.Current = i
		}
		v.Trials = append(v.Trials, trialView{
			Record: rec, URL: v.Filter.Link(itemURL(v.Run.ID, rec.Item.ID), trialArg(rec.Trial)...),
		})
	}
	p, err := reports.Protocol(v.Run)
	if err != nil {
		p, v.Note = nil, "The prompt cannot be rendered again: "+err.Error()+"."
	}
	t := &v.Trials[v.Current]
	rec := t.Record
	shown := reports.Show(v.Run, p, rec)
	t.Current, t.Verified = true, shown.Verified
	if o := shown.Other; o != nil && decision(o.Verdict, o.Failure) != decision(rec.Verdict, rec.Failure) {
		t.Other = o
	}
	if by := shown.Reader; by != nil {
		t.Reader = by.Name
		for i, c := range by.Contexts {
			name := doc.Join(", ", fmt.Sprintf("Context %d", i+1), c.ID, c.Time, c.Speaker)
			t.Contexts = append(t.Contexts, contextView{v.text(name, fmt.Sprintf("context.%d", i), rec.Trial, c.Content()), c.LeftOut, c.Evidence})
		}
	}
	for i, m := range shown.Prompt {
		text := v.text(m.Role, fmt.Sprintf("prompt.%d", i), rec.Trial, m.Content)
		text.Pieces = slots(text.Text, rec.Item)
		t.Prompt = append(t.Prompt, text)
	}
	for i, c := range rec.Calls {
		cv := callView{Call: c, Got: c.Reply}
		if c.Reply != nil {
			cv.Reply = v.text("reply", fmt.Sprintf("reply.%d", i), rec.Trial, c.Reply.Text)
			if !cv.Reply.Long() {
				cv.Reply.Pieces = []piece{{Text: pretty(cv.Reply.Text)}}
			}
		}
		t.Calls = append(t.Calls, cv)
	}
	if reply, ok := reports.LastReply(rec); ok {
		t.Trace = traceOf(p, rec, reply)
	}
}

// neighbour returns the path of the next item in one direction. In the order of the
// dataset, the trials of an item are adjacent; the other trials are not neighbours.
func (v *itemView) neighbour(ctx context.Context, b store.Browser, backward bool) (string, error) {
	want := v.Filter.View()
	want.From, want.Backward = store.PlaceOf(v.Shown().Record, v.Filter.Order), backward
	want.Limit = len(v.Trials)
	recs, err := b.View(ctx, v.Run.ID, want)
	if err != nil {
		return "", err
	}
	for _, rec := range recs {
		if rec.Item.ID != v.Item.ID {
			return v.Filter.Link(itemURL(v.Run.ID, rec.Item.ID), trialArg(rec.Trial)...), nil
		}
	}
	return "", nil
}

// rawText sends one full text of an item as a file.
func (s *Server) rawText(w http.ResponseWriter, r *http.Request, run store.Run) error {
	id, part := itemOf(r), r.URL.Query().Get("part")
	recs, err := s.RecordsOf(r.Context(), run, id)
	if err != nil {
		return err
	}
	rec := recs[0]
	for _, other := range recs {
		if strconv.Itoa(other.Trial) == r.URL.Query().Get("t") {
			rec = other
		}
	}
	text, ok := textOf(run, rec, part)
	if !ok {
		return server.NotFound("item %q has no text %q", id, part)
	}
	server.Download(w, "text/plain; charset=utf-8", server.FileName(id)+"."+server.FileName(part)+".txt")
	server.Extend(http.NewResponseController(w), 0)
	_, _ = w.Write([]byte(text)) //nolint:gosec // It is plain text, and nobody may sniff it for more.
	return nil
}

// textOf returns one text of a record by name. Prompts are rendered again.
func textOf(run store.Run, rec deem.Record, name string) (string, bool) {
	kind, rest, _ := strings.Cut(name, ".")
	n, err := strconv.Atoi(rest)
	if err != nil {
		n = -1
	}
	switch kind {
	case "question":
		return rec.Item.Question, true
	case "response":
		return rec.Item.Response, true
	case "conversation":
		return rec.Item.Messages.Text(0, len(rec.Item.Messages)), rec.Item.Messages != nil
	case "field":
		text, ok := rec.Item.Fields[rest]
		return text, ok
	case "reference":
		if n >= 0 && n < len(rec.Item.References) {
			return rec.Item.References[n], true
		}
	case "reply":
		if n >= 0 && n < len(rec.Calls) && rec.Calls[n].Reply != nil {
			return rec.Calls[n].Reply.Text, true
		}
	case "context":
		if by := reports.Show(run, nil, rec).Reader; by != nil && n >= 0 && n < len(by.Contexts) {
			return by.Contexts[n].Content(), true
		}
	case "prompt":
		p, err := reports.Protocol(run)
		if err != nil {
			return "", false
		}
		if messages := reports.Show(run, p, rec).Prompt; n >= 0 && n < len(messages) {
			return messages[n].Content, true
		}
	}
	return "", false
}
