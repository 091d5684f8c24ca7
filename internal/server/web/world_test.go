package web_test

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/internal/server"
	"deem/internal/server/api"
	"deem/internal/server/web"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/judge"
	"deem/model/fake"
)

// token is long enough, and nobody's.
const token = "a-token-for-the-tests-alone"

// evil is what a response may say. It must come out as text wherever it is shown.
const evil = `</script></textarea></pre>"'><script>alert(1)</script><img src=x onerror=alert(2)>{{.}}<!--`

// oddIDs are what datasets call their items.
var oddIDs = []string{
	"plain", "with space", "a/b", "a//b", "../up", "..", ".", "q?x=1", "q#frag", "100%", "%2F", "日本語", "é&è=+;", `quote"'`, "back\\slash", "a/../b", "trailing/", evil,
}

// openStore returns an empty store.
func openStore(t testing.TB) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "deem.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return st
}

// newServer returns a server with the pages and the API, which is closed when the test is
// over.
func newServer(t testing.TB, o server.Options) *server.Server {
	t.Helper()
	return newServerWith(t, o, web.Options{})
}

// newServerWith returns such a server with options of the pages.
func newServerWith(t testing.TB, o server.Options, shown web.Options) *server.Server {
	t.Helper()
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if _, err := api.New(s, api.Options{Report: web.New(s, shown).Report}); err != nil {
		t.Fatal(err)
	}
	return s
}

// universal returns the judge that comes with deem, asking a model that says whatever
// the function does.
func universal(t testing.TB, name string, say func(prompt string) (string, error)) deem.Judge {
	t.Helper()
	d, ok := judge.Builtin("universal")
	if !ok {
		t.Fatal("there is no judge universal")
	}
	p, err := d.Protocol(judge.Strict)
	if err != nil {
		t.Fatal(err)
	}
	return judge.New(p, fake.Func(name, func(_ context.Context, req deem.Request) (deem.Reply, error) {
		text, err := say(req.Messages[0].Content)
		if err != nil {
			return deem.Reply{}, err
		}
		return deem.Reply{
			Text: text, Stop: deem.StopEnd, Model: name, Usage: deem.Usage{Input: 100, Output: 3},
			Latency: 300 * time.Millisecond, Attempts: 1, CostMicros: 1200,
		}, nil
	}))
}

// specOf returns what a run of a judge over items is.
func specOf(t testing.TB, j deem.Judge, names string, items, trials int) store.Spec {
	t.Helper()
	spec := store.Spec{
		Judge: store.JudgeSpec{Name: j.Name()}, Model: "fake:test", Endpoint: "http://localhost:9/v1",
		Dataset: store.DatasetSpec{Names: []string{names}, Hash: "dataset-" + names, Items: items}, Trials: trials,
	}
	if judge.SpecOf(j).Kind != judge.KindModel {
		spec.Judge.Rule, spec.Model, spec.Endpoint = true, "", ""
	}
	var err error
	if spec.Judge.Hash, err = deem.JudgeHash(j); err != nil {
		t.Fatal(err)
	}
	if ij, ok := j.(deem.Identified); ok {
		if spec.Judge.Identity, err = deem.Canonical(ij.Identity()); err != nil {
			t.Fatal(err)
		}
	}
	return spec
}

// judged keeps a run of a judge over items.
func judged(t testing.TB, st store.Store, j deem.Judge, name string, items []deem.Item, trials int, edit func(*deem.Record)) store.Run {
	t.Helper()
	return keep(t, st, specOf(t, j, name, len(items), trials), j, items, edit)
}

// keep judges items and keeps the run.
func keep(t testing.TB, st store.Store, spec store.Spec, j deem.Judge, items []deem.Item, edit func(*deem.Record)) store.Run {
	t.Helper()
	run, _, err := st.Begin(t.Context(), spec, false)
	if err != nil {
		t.Fatal(err)
	}
	stream := func(yield func(deem.Item, error) bool) {
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
	}
	var recs []deem.Record
	for rec, err := range deem.Run(t.Context(), stream, j, deem.Options{Concurrency: 1, Trials: spec.Trials}) {
		if err != nil {
			t.Fatal(err)
		}
		if edit != nil {
			edit(&rec)
		}
		recs = append(recs, rec)
	}
	if err := st.Append(t.Context(), run.ID, recs); err != nil {
		t.Fatal(err)
	}
	if err := st.Finish(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	if run, err = st.Run(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	return run
}

// A world is a store with runs in it that hold everything which is hard to show.
type world struct {
	store       *sqlite.Store
	first, next store.Run // two judges over the same items
	going       store.Run // not done
}

// oddItems returns an item for each odd id, with an evil text in every place.
func oddItems() []deem.Item {
	var items []deem.Item
	for i, id := range oddIDs {
		it := deem.Item{
			ID: id, Category: []string{"first", evil, ""}[i%3], Cluster: evil, Question: "Where? " + evil,
			References: []string{"Lisbon " + evil, "Porto"}, Response: fmt.Sprintf("I say Lisbon %d. %s", i, evil),
			Fields: map[string]string{"dialogue": strings.Repeat("word ", 30), evil: evil},
		}
		items = append(items, it)
	}
	return items
}

// evilModel says something else to each item: all of it evil.
func evilModel(prompt string) (string, error) {
	switch {
	case strings.Contains(prompt, "Lisbon 3."):
		return "", &deem.ModelError{Kind: deem.Provider, Status: 500, Err: errors.New(evil)}
	case strings.Contains(prompt, "Lisbon 4."):
		return evil, nil
	case strings.Contains(prompt, "Lisbon 5."):
		return "<think>" + evil + "</think>\"I say Lisbon 5\" is what it says.\nAnswer: CORRECT", nil
	case strings.Contains(prompt, "Lisbon 6."):
		return "INCORRECT", nil
	}
	return "CORRECT", nil
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{store: openStore(t)}
	sure := func(rec *deem.Record) {
		if v := rec.Verdict; v != nil {
			c := 0.5 + 0.05*float64(rec.Position%10)
			v.Confidence, v.Reason = &c, evil
			v.Aspects = map[string]float64{evil: 1}
			v.Parts = []deem.Part{{Name: evil, Label: "met", Score: &c, Reason: evil}, {Name: "the second", Failure: deem.Failf(deem.Refused, "%s", evil)}}
		}
	}
	w.first = judged(t, w.store, universal(t, "fake:"+evil, evilModel), "odd "+evil+".jsonl", oddItems(), 2, sure)
	w.next = judged(t, w.store, universal(t, "fake:no", func(string) (string, error) { return "INCORRECT", nil }), "odd "+evil+".jsonl", oddItems(), 1, nil)
	j := universal(t, "fake:yes", func(string) (string, error) { return "CORRECT", nil })
	var err error
	if w.going, _, err = w.store.Begin(t.Context(), specOf(t, j, "going.jsonl", 40, 1), false); err != nil {
		t.Fatal(err)
	}
	people := []store.Label{}
	for i, it := range oddItems() {
		people = append(people, store.Label{
			Item: it.Hash(), ID: it.ID, Dataset: w.first.Dataset.Hash, Annotator: evil, Yes: i%2 == 0, Label: evil, Score: float64(1 - i%2), Note: evil,
		})
	}
	if err := w.store.PutLabels(t.Context(), people); err != nil {
		t.Fatal(err)
	}
	return w
}

// get asks a server for a page, as a browser on this machine. Like a browser it asks
// again while the page says that it is not complete, which happens on a busy machine.
func get(t testing.TB, s *server.Server, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	for {
		answer := do(t, s, http.MethodGet, path, nil, headers...)
		if answer.Header().Get("Refresh") == "" || t.Context().Err() != nil {
			return answer
		}
	}
}

func do(t testing.TB, s *server.Server, method, path string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, body)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, req)
	return rec
}

// An element is a start tag of a page.
type element struct {
	name  string
	attrs map[string]string
}

// void are the elements of HTML and of our pictures that have no end.
var void = map[string]bool{"meta": true, "link": true, "input": true, "br": true, "img": true, "hr": true}

// elements reads a page and says what is wrong with how it is made: tags that do not
// match, ids that are not unique or not there, and whatever a policy would stop.
func elements(t testing.TB, where, page string) []element {
	t.Helper()
	list := rawElements(t, where, page)
	checkElements(t, where, list)
	return list
}

// rawElements reads the elements of a page.
func rawElements(t testing.TB, where, page string) []element {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(page))
	dec.Strict, dec.Entity = false, xml.HTMLEntity
	var list []element
	var stack []string
	for {
		tok, err := dec.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			e := element{tok.Name.Local, map[string]string{}}
			for _, a := range tok.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			list = append(list, e)
			if !void[e.name] {
				stack = append(stack, e.name)
			}
		case xml.EndElement:
			if void[tok.Name.Local] {
				continue // The decoder makes an end of <line/>, and of <br> none.
			}
			if len(stack) == 0 || stack[len(stack)-1] != tok.Name.Local {
				t.Fatalf("%s: </%s> ends %v", where, tok.Name.Local, stack)
			}
			stack = stack[:len(stack)-1]
		}
	}
	if len(stack) > 0 {
		t.Errorf("%s: %v have no end", where, stack)
	}
	return list
}

// checkElements says which elements would not work for everybody.
func checkElements(t testing.TB, where string, list []element) {
	t.Helper()
	ids := map[string]bool{}
	for _, e := range list {
		if id := e.attrs["id"]; id != "" {
			if ids[id] {
				t.Errorf("%s: two elements have the id %q", where, id)
			}
			ids[id] = true
		}
	}
	for _, e := range list {
		for name, value := range e.attrs {
			if name == "style" || strings.HasPrefix(name, "on") {
				t.Errorf("%s: <%s> has %s=%q, which the policy stops", where, e.name, name, value)
			}
			if name == "for" || name == "aria-labelledby" || name == "aria-describedby" {
				for _, id := range strings.Fields(value) {
					if !ids[id] {
						t.Errorf("%s: <%s %s=%q> means nothing", where, e.name, name, value)
					}
				}
			}
			if name == "href" && strings.HasPrefix(value, "#") && !ids[value[1:]] {
				t.Errorf("%s: there is nothing at %s", where, value)
			}
		}
		if e.name == "script" && !strings.HasPrefix(e.attrs["src"], "/static/") || e.name == "style" || e.name == "img" {
			t.Errorf("%s: <%s %v> is not ours", where, e.name, e.attrs)
		}
	}
}

// countElements returns how many elements have a name.
func countElements(list []element, name string) int {
	n := 0
	for _, e := range list {
		if e.name == name {
			n++
		}
	}
	return n
}
