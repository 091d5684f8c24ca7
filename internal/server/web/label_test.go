package web_test

import (
	"context"
	"fmt"
	"html"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/labels"
	"deem/internal/reports"
	"deem/internal/reports/agree"
	"deem/internal/server"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/judge"
	"deem/judge/match"
	"deem/model/fake"
)

// A labeller is an annotator whose browser runs no scripts.
type labeller struct {
	t    testing.TB
	s    *server.Server
	run  store.Run
	who  string
	at   string // the current page
	body string
	form map[string]string // the hidden fields of its form
	all  []*httptest.ResponseRecorder
}

// sitDown opens the labelling page, submits the name, and follows to the first item.
func sitDown(t testing.TB, s *server.Server, run store.Run, who string) *labeller {
	t.Helper()
	l := &labeller{t: t, s: s, run: run, who: who, at: "/runs/" + run.ID + "/label"}
	l.open(l.at)
	if l.who != "" {
		l.submit(map[string]string{"annotator": who}, "name")
	}
	return l
}

func (l *labeller) open(path string) {
	l.t.Helper()
	var cookie []string
	if l.body != "" { // The first request has no cookie.
		cookie = []string{"Cookie", "deem_annotator=" + url.QueryEscape(l.who)}
	}
	answer := get(l.t, l.s, path, cookie...)
	l.all = append(l.all, answer)
	if answer.Code != http.StatusOK {
		l.t.Fatalf("GET %s = %d: %s", path, answer.Code, answer.Body)
	}
	l.at, l.body, l.form = path, answer.Body.String(), map[string]string{}
	for _, e := range elements(l.t, path, l.body) {
		if e.name == "input" && e.attrs["type"] == "hidden" {
			l.form[e.attrs["name"]] = e.attrs["value"]
		}
	}
}

// submit submits the form with the value of a button and follows the redirect.
func (l *labeller) submit(more map[string]string, say string) {
	l.t.Helper()
	answer := l.post(more, say)
	if answer.Code != http.StatusSeeOther {
		l.t.Fatalf("POST %s = %d: %s", say, answer.Code, answer.Body)
	}
	l.open(answer.Header().Get("Location"))
}

func (l *labeller) post(more map[string]string, say string) *httptest.ResponseRecorder {
	l.t.Helper()
	v := url.Values{"say": {say}}
	for name, value := range l.form {
		v.Set(name, value)
	}
	for name, value := range more {
		v.Set(name, value)
	}
	answer := do(l.t, l.s, http.MethodPost, "/runs/"+l.run.ID+"/label", strings.NewReader(v.Encode()), "Content-Type", formType, "Sec-Fetch-Site", "same-origin")
	l.all = append(l.all, answer)
	return answer
}

// item returns the hash of the current item, "" if there is none.
func (l *labeller) item() string { return l.form["item"] }

// labelsBy returns the labels of an annotator by item hash.
func labelsBy(t testing.TB, st store.Labels, who string) map[string]store.Label {
	t.Helper()
	by := map[string]store.Label{}
	for l, err := range st.Labels(t.Context(), store.LabelQuery{Annotators: []string{who}}) {
		if err != nil {
			t.Fatal(err)
		}
		by[l.Item] = l
	}
	return by
}

// An annotator labels, skips, undoes, leaves and returns, without scripts. Every label is
// in the store at once.
func TestLabelling(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	s := newServer(t, server.Options{Store: st})
	items := plainItems(12, "rag")
	run := keepRun(t, st, "rag.jsonl", "one", items, every(3))
	l := sitDown(t, s, run, "anna")
	wantAll(t, "the first page", l.body, "<b>0</b> of 12 labelled", "Is the response right?", `data-key="y"`, `data-key="n"`, `data-key="s"`, `data-key="u" disabled`)

	first := l.item()
	l.submit(map[string]string{"note": "sure of it"}, "yes")
	kept := labelsBy(t, st, "anna")[first]
	want := store.Label{Item: first, ID: kept.ID, Dataset: run.Dataset.Hash, Annotator: "anna", Yes: true, Label: "yes", Score: 1, Note: "sure of it", Drawn: kept.Drawn, Labelled: kept.Labelled}
	if kept != want || kept.Labelled.IsZero() || kept.Drawn == "" {
		t.Errorf("the store has %+v, want %+v", kept, want)
	}
	wantAll(t, "the second page", l.body, "<b>1</b> of 12 labelled")

	second := l.item()
	l.submit(nil, "skip")
	if l.item() == second || l.item() == first {
		t.Error("what was skipped, or labelled, is shown again at once")
	}
	third := l.item()
	l.submit(nil, "no")
	if got := labelsBy(t, st, "anna")[third]; got.Yes || got.Label != "no" || got.Score != 0 {
		t.Errorf("the store has %+v, want a no", got)
	}

	l.submit(nil, "undo")
	if _, there := labelsBy(t, st, "anna")[third]; there || l.item() != third {
		t.Errorf("after undo the label is there: %v, and the item shown is %.8s, want %.8s", there, l.item(), third)
	}
	wantAll(t, "the page after undo", l.body, "undone")
	l.submit(nil, "yes")

	// Another server resumes where this one stopped, as after a restart.
	again := sitDown(t, newServer(t, server.Options{Store: st}), run, "anna")
	seen := map[string]bool{first: true, third: true}
	for again.item() != "" {
		if seen[again.item()] {
			t.Fatalf("item %.8s is shown again", again.item())
		}
		seen[again.item()] = true
		again.submit(nil, "yes")
	}
	if len(seen) != 12 || len(labelsBy(t, st, "anna")) != 12 {
		t.Errorf("%d items were shown and %d labelled, want 12", len(seen), len(labelsBy(t, st, "anna")))
	}
	wantAll(t, "the last page", again.body, "Everything planned is labelled", "That is all there is", "/agreement")
	again.submit(nil, "undo")
	if n := len(labelsBy(t, st, "anna")); n != 11 || again.item() == "" {
		t.Errorf("undo at the end leaves %d labels, want 11 and the item shown", n)
	}
}

// Skipped items come again after all others, in the order in which they were skipped.
func TestLabelSkip(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	run := keepRun(t, st, "rag.jsonl", "one", plainItems(5, "rag"), every(2))
	l := sitDown(t, newServer(t, server.Options{Store: st}), run, "anna")
	var order []string
	for range 5 {
		order = append(order, l.item())
		l.submit(nil, "skip")
	}
	for i := range 5 {
		if l.item() != order[i] {
			t.Errorf("item %d that comes again is %.8s, want %.8s", i, l.item(), order[i])
		}
		l.submit(nil, "no")
	}
	l.submit(nil, "undo") // of the label
	if l.item() != order[4] || len(labelsBy(t, st, "anna")) != 4 {
		t.Errorf("undo shows %.8s and leaves %d labels, want %.8s and 4", l.item(), len(labelsBy(t, st, "anna")), order[4])
	}
}

// Undo restores the earlier label of an item.
func TestLabelUndoRestores(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	items := plainItems(3, "rag")
	run := keepRun(t, st, "rag.jsonl", "one", items, every(2))
	old := labelled(items[1], "anna", true)
	old.Note, old.Label, old.Score = "from a file", "right", 0.75
	putLabels(t, st, old)
	l := sitDown(t, newServer(t, server.Options{Store: st}), run, "anna")
	l.open(l.at + "?item=" + old.Item)
	wantAll(t, "an item that was labelled before", l.body, "You said right before", "from a file")
	l.submit(map[string]string{"note": ""}, "no")
	if got := labelsBy(t, st, "anna")[old.Item]; got.Yes {
		t.Error("the change of mind is not kept")
	}
	l.submit(nil, "undo")
	l.submit(nil, "undo") // There is nothing more to undo: labels from a file stay.
	got := labelsBy(t, st, "anna")[old.Item]
	if !got.Labelled.Equal(old.Labelled) || !got.Yes || got.Note != old.Note || got.Score != old.Score {
		t.Errorf("undo left %+v, want %+v", got, old)
	}
}

// Two annotators share the first items, and split the others between them.
func TestLabelTwoPeople(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	s := newServer(t, server.Options{Store: st})
	run := keepRun(t, st, "rag.jsonl", "one", plainItems(50, "rag"), every(3))
	people := []*labeller{sitDown(t, s, run, "anna"), sitDown(t, s, run, "bert")}
	if people[0].item() != people[1].item() {
		t.Error("two people begin with different items")
	}
	for range 100 {
		for _, l := range people {
			if l.item() != "" {
				l.submit(nil, "yes")
			}
		}
	}
	both, either := 0, map[string]bool{}
	bert := labelsBy(t, st, "bert")
	for hash := range labelsBy(t, st, "anna") {
		either[hash] = true
		if _, ok := bert[hash]; ok {
			both++
		}
	}
	for hash := range bert {
		either[hash] = true
	}
	// At the end, both may get the same item, because no other is left.
	if both < 30 || both > 31 || len(either) != 50 {
		t.Errorf("%d items were labelled by both and %d by either, want 30 and 50", both, len(either))
	}
	if n := len(bert); n < 40 || n > 41 {
		t.Errorf("bert labelled %d, want 40: the others are split", n)
	}
}

// The plan has 200 items, drawn from every category and verdict, and can be extended.
func TestLabelPlan(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	s := newServer(t, server.Options{Store: st})
	run := keepRun(t, st, "rag.jsonl", "one", plainItems(500, "rag"), every(50))
	l := sitDown(t, s, run, "anna")
	wantAll(t, "the plan", l.body, "of 200 labelled")
	ids := map[string]deem.Item{}
	for _, it := range plainItems(500, "rag") {
		ids[it.Hash()] = it
	}
	wrong := 0
	for l.item() != "" {
		if id := ids[l.item()].ID; strings.HasSuffix(id, "00") || strings.HasSuffix(id, "50") {
			wrong++
		}
		l.submit(nil, "yes")
	}
	if n := len(labelsBy(t, st, "anna")); n != 200 {
		t.Errorf("the plan has %d items, want 200", n)
	}
	if wrong < 5 {
		t.Errorf("%d of the 10 items that the judge rejects are among them, want 5 at least", wrong)
	}
	before := wantDesign(t, st, run, labelsBy(t, st, "anna"))
	wantAll(t, "the end of the plan", l.body, "500 items of this run have a verdict", "?batch=2")
	l.open("/runs/" + run.ID + "/label?batch=2")
	wantAll(t, "the second part", l.body, "<b>200</b> of 400 labelled")
	if l.item() == "" {
		t.Fatal("the second part has no item")
	}
	l.submit(nil, "no")
	wantAll(t, "the second part continues", l.body, "<b>201</b> of 400 labelled")
	after := wantDesign(t, st, run, labelsBy(t, st, "anna"))
	for stratum, d := range before {
		if now := after[stratum]; now.Of != d.Of || now.N < d.N {
			t.Errorf("stratum %s was drawn as %v, and as %v with twice as many items", stratum, d, now)
		}
	}
}

// wantDesign checks that the labels of the page record how their items were drawn, so that
// the judge is compared with them according to the plan. It returns the design by stratum.
func wantDesign(t *testing.T, st store.Store, run store.Run, kept map[string]store.Label) map[string]labels.Drawn {
	t.Helper()
	strata := map[string]labels.Drawn{}
	for _, l := range kept {
		d := labels.ReadDrawn(l.Drawn)
		if was, ok := strata[d.Stratum]; d.Of == 0 || ok && was != d {
			t.Fatalf("item %s was drawn as %q, and another of its stratum as %v", l.ID, l.Drawn, was)
		}
		strata[d.Stratum] = d
	}
	// Every 50th item is rejected, and all of these are in one category. In both categories
	// the items that are accepted form two strata, by how sure the judge is.
	if len(strata) != 5 {
		t.Errorf("the labels are of %d strata, want 5: %v", len(strata), strata)
	}
	people, err := reports.Kept(t.Context(), st.(store.Labels), store.LabelQuery{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := reports.CompareWithPeople(t.Context(), st, run, people, agree.Options{People: true, Draws: 2})
	if err != nil {
		t.Fatal(err)
	}
	if a.Corrected == nil || a.Corrected.Mix.Drawn != "plan" {
		t.Errorf("the labels count as %+v, want as drawn by a plan", a.Corrected)
	}
	return strata
}

// The responses of the labelling pages never reveal the verdict of the judge or the system
// that answered.
func TestLabelBlind(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	s := newServer(t, server.Options{Store: st})
	items := plainItems(40, "rag")
	for i := range items {
		items[i].Fields = map[string]string{"answer_model": "zebra-model", "dialogue": "the context"}
	}
	run := keepRun(t, st, "rag.jsonl", "one", items, func(i int) string {
		if i%7 == 0 {
			return "" // unjudged
		}
		return every(2)(i)
	})
	l := sitDown(t, s, run, "anna")
	for n := 0; l.item() != ""; n++ {
		l.submit(map[string]string{"note": "n"}, []string{"yes", "no", "skip", "undo", "yes"}[min(n%7, 4)])
		if n > 200 {
			t.Fatal("labelling does not end")
		}
	}
	l.open("/runs/" + run.ID + "/label?who=")
	if len(l.all) < 60 {
		t.Fatalf("only %d answers were looked at", len(l.all))
	}
	shown := 0
	for _, answer := range l.all {
		text := answer.Body.String()
		for name, values := range answer.Header() {
			text += name + strings.Join(values, "\n")
		}
		wantNone(t, "a labelling page", text, sayRight, sayWrong, zebraWords, "zebra failure", "zebra-model", "answer_model", "% sure")
		if strings.Contains(text, "the context") {
			shown++
		}
	}
	if shown < 30 {
		t.Errorf("the context was shown on %d pages: the test looks at the wrong ones", shown)
	}
}

// Invalid requests and requests from other sites change nothing.
func TestLabelRefused(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	s := newServer(t, server.Options{Store: st})
	run := keepRun(t, st, "rag.jsonl", "one", plainItems(5, "rag"), every(2))
	l := sitDown(t, s, run, "anna")
	for _, c := range []struct {
		name string
		more map[string]string
		say  string
		want int
	}{
		{"no name", map[string]string{"annotator": "  "}, "yes", http.StatusBadRequest},
		{"a long name", map[string]string{"annotator": strings.Repeat("x", 65)}, "yes", http.StatusBadRequest},
		{"a name with signs", map[string]string{"annotator": "a\x00b"}, "name", http.StatusBadRequest},
		{"another item", map[string]string{"item": "nothing"}, "yes", http.StatusBadRequest},
		{"another word", nil, "maybe", http.StatusBadRequest},
		{"a long note", map[string]string{"note": strings.Repeat("x", 5000)}, "yes", http.StatusBadRequest},
		{"a foreign form", map[string]string{"csrf": "guess"}, "yes", http.StatusForbidden},
	} {
		if got := l.post(c.more, c.say).Code; got != c.want {
			t.Errorf("%s is answered with %d, want %d", c.name, got, c.want)
		}
	}
	if n := len(labelsBy(t, st, "anna")); n != 0 {
		t.Errorf("refused requests left %d labels", n)
	}
}

// A read-only server has no labelling page.
func TestLabelReadOnly(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "deem.db")
	st, err := sqlite.Open(t.Context(), name, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := keepRun(t, st, "rag.jsonl", "one", plainItems(5, "rag"), every(2))
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := sqlite.OpenReadOnly(t.Context(), name, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	s := newServer(t, server.Options{Store: reader, ReadOnly: true})
	answer := get(t, s, "/runs/"+run.ID+"/label")
	if answer.Code != http.StatusForbidden || !strings.Contains(answer.Body.String(), "without --read-only") {
		t.Errorf("GET label = %d: %s", answer.Code, answer.Body)
	}
	if body := page(t, s, "/runs/"+run.ID+"/agreement"); strings.Contains(body, run.ID+"/label") {
		t.Error("a page leads to the page of labels, where nothing can be labelled")
	}
}

// Markup in responses and names is escaped.
func TestLabelEscapes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newServer(t, server.Options{Store: w.store})
	l := sitDown(t, s, w.first, `anna <b>"x"`)
	for range 5 {
		body := l.body
		if strings.Contains(body, "<script>alert") || strings.Contains(body, "<img") || strings.Contains(body, "<b>\"x") {
			t.Fatalf("what was judged gets out of its place: %s", body)
		}
		if !strings.Contains(html.UnescapeString(body), evil) {
			t.Error("the response is not shown as it is")
		}
		l.submit(nil, "yes")
	}
	if n := len(labelsBy(t, w.store, `anna <b>"x"`)); n != 5 {
		t.Errorf("%d labels were kept, want 5", n)
	}
}

// A run without a verdict has nothing to label, and the page says if a run is not done.
func TestLabelOpenRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := sitDown(t, newServer(t, server.Options{Store: w.store}), w.going, "anna")
	wantAll(t, "a run without records", l.body, "There is no judged item to label yet", "This run is not done")
	if slices.Contains([]string{"yes", "no"}, l.item()) || l.item() != "" {
		t.Errorf("an item is shown: %s", l.item())
	}
}

// The page of a run works even if its labels say nothing about the judge's confidence: here
// the only labels are from two people who disagree.
func TestRunOfATie(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	it := deem.Item{ID: "q1", References: []string{"18 days"}, Response: "It took 18 days."}
	run := judged(t, st, match.New(), "tie.jsonl", []deem.Item{it}, 1, nil)
	s := newServer(t, server.Options{Store: st})
	for i, who := range []string{"anna", "bob"} {
		l := store.Label{Item: it.Hash(), ID: it.ID, Dataset: run.Dataset.Hash, Annotator: who, Yes: i == 0, Label: []string{"yes", "no"}[i]}
		if err := st.PutLabels(t.Context(), []store.Label{l}); err != nil {
			t.Fatal(err)
		}
		if rec := get(t, s, "/runs/"+run.ID); rec.Code != http.StatusOK {
			t.Errorf("with %d labels the page of the run is %d: %s", i+1, rec.Code, rec.Body)
		}
	}
}

// judgeOf returns the judge that a file declares. Its model's replies cannot be parsed.
func judgeOf(t testing.TB, yaml string) deem.Judge {
	t.Helper()
	file := filepath.Join(t.TempDir(), "judge.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := judge.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Protocol(judge.Strict)
	if err != nil {
		t.Fatal(err)
	}
	return judge.New(p, fake.Func("fake:judge", func(context.Context, deem.Request) (deem.Reply, error) {
		return deem.Reply{Text: "nothing", Stop: deem.StopEnd, Attempts: 1}, nil
	}))
}

// verdicts replaces the result of every record by a verdict, whatever the model replied.
func verdicts(rec *deem.Record) {
	rec.Failure, rec.Verdict = nil, &deem.Verdict{Label: "scored", Score: float64(rec.Position % 2)}
}

// aspectsJudge asks for two numbers.
const aspectsJudge = `name: two
prompt: "Rate {response}."
aspects:
  accuracy: {min: 1, max: 5, integer: true, weight: 3}
  style: {min: 0, max: 1}
pass: 0.6
`

// People give what the judge declares: one of several labels, a number on a scale, or a
// number for each aspect. Their labels survive the export to a table and back unchanged,
// including how the items were drawn.
func TestLabelForms(t *testing.T) {
	t.Parallel()
	many := "name: many\nprompt: \"Which kind is {response}?\"\nlabels: {"
	for i := range 12 {
		many += fmt.Sprintf("KIND%d: %g, ", i, float64(i)/11)
	}
	for _, tt := range []struct {
		name, yaml string
		page       []string
		say        string
		more       map[string]string
		want       store.Label
		wrong      map[string]string // refused
	}{
		{
			name: "twelve labels", yaml: many + "}\n", say: "KIND10",
			page: []string{`data-key="9"`, `value="KIND10" data-key="b"`, "Which label fits?"},
			want: store.Label{Label: "KIND10", Yes: true, Score: 10. / 11},
		},
		{
			name: "a scale", say: "4", yaml: "name: scale\nprompt: \"Rate {response}: {aspects}\"\naspects: {quality: {min: 1, max: 5, integer: true, levels: {1: useless, 5: perfect}}}\npass: 0.8\n",
			page: []string{`value="4" data-key="4" class="no"`, "5 perfect", "Which number fits?"},
			want: store.Label{Label: "4", Score: 0.75}, // below the pass mark of the judge
		},
		{
			name: "two aspects", yaml: aspectsJudge, say: "save", more: map[string]string{"aspect.accuracy": "4", "aspect.style": "0.5"},
			page:  []string{`type="radio" name="aspect.accuracy" value="5" data-key="5"`, `type="number" name="aspect.style" min="0" max="1"`, "How good is the response?"},
			want:  store.Label{Label: "accuracy 4, style 0.5", Yes: true, Score: 0.6875},
			wrong: map[string]string{"aspect.accuracy": "4.5", "aspect.style": "0.5"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st := openStore(t)
			run := judged(t, st, judgeOf(t, tt.yaml), "rag.jsonl", plainItems(4, "rag"), 1, verdicts)
			s := newServer(t, server.Options{Store: st})
			l := sitDown(t, s, run, "anna")
			wantAll(t, "the page", l.body, tt.page...)
			if answer := l.post(nil, "KIND99"); answer.Code != http.StatusBadRequest {
				t.Errorf("an unknown label = %d, want 400", answer.Code)
			}
			if tt.wrong != nil {
				if answer := l.post(tt.wrong, tt.say); answer.Code != http.StatusBadRequest {
					t.Errorf("a wrong number = %d, want 400", answer.Code)
				}
			}
			first := l.item()
			l.submit(tt.more, tt.say)
			l.submit(tt.more, tt.say)
			if got := labelsBy(t, st, "anna")[first]; got.Label != tt.want.Label || got.Yes != tt.want.Yes || math.Abs(got.Score-tt.want.Score) > 1e-9 {
				t.Errorf("the label is %q, %v, %g, want %q, %v, %g", got.Label, got.Yes, got.Score, tt.want.Label, tt.want.Yes, tt.want.Score)
			}
			wantAll(t, "the page", l.body, "/labels.csv")
			file := get(t, s, "/runs/"+run.ID+"/labels.csv").Body
			set, err := labels.Read(t.Context(), labels.Source{Names: []string{"-"}, Stdin: file, Format: "csv", Labels: reports.LabelsOf(run, false)})
			if err != nil {
				t.Fatal(err)
			}
			if len(set.Labels) != 2 {
				t.Fatalf("the file has %d labels, want 2", len(set.Labels))
			}
			for _, got := range set.Labels {
				if got.Annotator != "anna" || math.Abs(got.Score-tt.want.Score) > 1e-9 || got.Drawn.N != 2 && got.Drawn.N != 4 {
					t.Errorf("the file says %+v of %s", got, got.Item)
				}
			}
			l.submit(nil, "undo")
			if n := len(labelsBy(t, st, "anna")); n != 1 {
				t.Errorf("undo leaves %d labels, want 1", n)
			}
		})
	}
}

// Two people who give numbers disagree if one says yes and the other no, or if they differ
// by a quarter of the scale.
func TestLabelNumbersDisputed(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	items := plainItems(3, "rag")
	run := judged(t, st, judgeOf(t, aspectsJudge), "rag.jsonl", items, 1, verdicts)
	for i, scores := range [][2]float64{{0.9, 1}, {0.5, 0.65}, {0.7, 1}} {
		for k, who := range []string{"anna", "bert"} {
			l := labelled(items[i], who, scores[k] >= 0.6)
			l.Score, l.Label = scores[k], fmt.Sprintf("accuracy %d, style %d", i, k)
			putLabels(t, st, l)
		}
	}
	l := sitDown(t, newServer(t, server.Options{Store: st}), run, "anna")
	wantAll(t, "the page", l.body, "2 disagreements to resolve")
}
