package api_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"deem/internal/catalog"
	"deem/internal/reports"
	"deem/internal/server/api"
	"deem/internal/store"
	"deem/internal/test/modeltest"
	"deem/report"
)

// lines returns n items, one per line.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"q%04d","question":"Which number?","references":["%d"],"response":"It is %d.","category":"c%d"}`+"\n", i, i, i+i%2, i%3)
	}
	return b.String()
}

const asLines = "application/x-ndjson"

// TestLinesInTheBackground sends items as lines, and reads the records page by page and
// as lines.
func TestLinesInTheBackground(t *testing.T) {
	ts := serveAPI(t, nil)
	const n = 250
	a := ts.ask(t, "POST", "/api/v1/runs?judge=exact&dataset=numbers&trials=2", lines(n), "Content-Type", asLines)
	a.want(t, 202, "items", n, "wanted", 2*n, "dataset", "numbers")
	id := fmt.Sprint(a.at("id"))
	ts.untilState(t, id, "done")
	ts.run(t, id).want(t, 200, "records", 2*n, "judge.name", "exact", "judge.rule", true)

	seen := map[string]int{}
	pages := 0
	for next := ""; pages == 0 || next != ""; pages++ {
		p := ts.ask(t, "GET", "/api/v1/runs/"+id+"/records?limit=120&after="+url.QueryEscape(next), "")
		list, _ := p.at("records").([]any)
		for _, rec := range list {
			m := rec.(map[string]any)
			seen[fmt.Sprint(m["id"], " ", m["trial"])]++
		}
		next, _ = p.at("next").(string)
	}
	if len(seen) != 2*n || pages != 5 {
		t.Errorf("%d records on %d pages, want %d on 5", len(seen), pages, 2*n)
	}
	all := ts.ask(t, "GET", "/api/v1/runs/"+id+"/records?trial=1&category=c0&with=item", "", "Accept", asLines)
	if got := strings.Count(all.text, "\n"); got != 84 || all.header.Get("Content-Type") != asLines {
		t.Errorf("%d lines of %s, want 84 of one trial and category", got, all.header.Get("Content-Type"))
	}
	var first struct{ Item struct{ Question string } }
	if json.Unmarshal([]byte(strings.SplitN(all.text, "\n", 2)[0]), &first) != nil || first.Item.Question != "Which number?" {
		t.Errorf("the first line has no item: %.200s", all.text)
	}
	ts.ask(t, "GET", "/api/v1/runs/"+id+"/records?verdct=yes", "").wantProblem(t, 400, `did you mean \"verdict\"`)
	ts.ask(t, "GET", "/api/v1/runs/"+id+"/records?limit=5000", "").wantProblem(t, 400, "limit")
	ts.ask(t, "GET", "/api/v1/runs/"+id+"/records?after=x", "").wantProblem(t, 400, "place")
	ts.ask(t, "GET", "/api/v1/runs/"+id+"/records/q0007", "").want(t, 200, "trials.0.record.item.id", "q0007", "trials.1.record.trial", 1)
	ts.ask(t, "GET", "/api/v1/runs/"+id+"/records/q9999", "").wantProblem(t, 404, "no record")
}

// TestLinesOfAFile sends a file with a byte order mark and blank lines, as some editors save
// it. "deem run" reads such files too.
func TestLinesOfAFile(t *testing.T) {
	ts := serveAPI(t, nil)
	file := "\uFEFF" + lines(3) + "\r\n  \t\n"
	id := fmt.Sprint(ts.ask(t, "POST", "/api/v1/runs", file, "Content-Type", asLines).at("id"))
	ts.untilState(t, id, "done")
	ts.run(t, id).want(t, 200, "records", 3)
}

// TestWrongLines checks that errors name the line, and that refused items leave no files.
func TestWrongLines(t *testing.T) {
	ts := serveAPI(t, nil)
	ask := func(query, body string) apiAnswer {
		return ts.ask(t, "POST", "/api/v1/runs"+query, body, "Content-Type", asLines)
	}
	ask("", lines(3)+"{no JSON\n").wantProblem(t, 400, `"index":3`, "not JSON")
	ask("", lines(1)+`{"response":"a"} {"response":"b"}`).wantProblem(t, 400, `"index":1`, "follows")
	ask("", `{"response":"`+strings.Repeat("x", 17<<20)+`"}`).wantProblem(t, 413, "line 1")
	ask("?judgee=match", lines(1)).wantProblem(t, 400, `did you mean \"judge\"`)
	ask("?trials=many", lines(1)).wantProblem(t, 400, "trials")
	ask("?fresh=perhaps", lines(1)).wantProblem(t, 400, "fresh")
	ask("?max_cost=x", lines(1)).wantProblem(t, 400, "max_cost")
	ask("?judge=match&judge=f1", lines(1)).wantProblem(t, 400, "2 times")
	ts.ask(t, "POST", "/api/v1/runs?judge=f1", `{"items":`+twoItems+`}`).wantProblem(t, 400, "judge stands in the address")
	ts.ask(t, "POST", "/api/v1/runs", `{"items":[{"response":"`+strings.Repeat("x", 65<<20)+`"}]}`).wantProblem(t, 413)
	if files, _ := os.ReadDir(ts.spool); len(files) != 0 {
		t.Errorf("%d files are left of what was refused", len(files))
	}
}

// A slowVendor answers no calls before open is called.
type slowVendor struct {
	url  string
	gate chan struct{}
	n    atomic.Int64
}

func newSlowVendor(t *testing.T) *slowVendor {
	t.Helper()
	v := &slowVendor{gate: make(chan struct{})}
	var once sync.Once
	srv := modeltest.NewServer(t, func(modeltest.Asked) modeltest.Answer {
		v.n.Add(1)
		<-v.gate
		return modeltest.Say("CORRECT")
	})
	v.url = srv.URL
	t.Cleanup(func() { once.Do(v.open) })
	return v
}

// open lets all calls be answered.
func (v *slowVendor) open() {
	select {
	case <-v.gate:
	default:
		close(v.gate)
	}
}

// TestCancelAndResume cancels a run while calls are in flight, and resumes it: the model is
// asked about every item once.
func TestCancelAndResume(t *testing.T) {
	v := newSlowVendor(t)
	ts := serveAPI(t, withModel(v.url, func(a *api.Options) { a.Concurrency = 2 }))
	id := fmt.Sprint(ts.ask(t, "POST", "/api/v1/runs?judge=universal", lines(20), "Content-Type", asLines).at("id"))
	until(t, "two calls are in flight", func() bool { return v.n.Load() == 2 })
	// The gate must not open before the run stops taking items.
	ts.ask(t, "POST", "/api/v1/runs/"+id+"/cancel", "").want(t, 202)
	v.open()
	ts.untilState(t, id, "open")
	ts.run(t, id).want(t, 200, "resumable", true, "problem.status", 409)
	asked := v.n.Load()
	if asked != 2 {
		t.Errorf("%d items were asked about although the run was cancelled after 2", asked)
	}
	ts.ask(t, "POST", "/api/v1/runs/"+id+"/cancel", "").wantProblem(t, 409, "does not judge")
	ts.ask(t, "POST", "/api/v1/runs/"+id+"/resume", `{"max_cst":1}`).wantProblem(t, 400, "max_cost")
	ts.ask(t, "POST", "/api/v1/runs/"+id+"/resume", "").want(t, 202, "id", id)
	ts.untilState(t, id, "done")
	ts.run(t, id).want(t, 200, "records", 20, "unjudged", 0, "resumable", nil)
	if got := v.n.Load(); got != 20 {
		t.Errorf("the model was asked %d times about 20 items", got)
	}
	if files, _ := os.ReadDir(ts.spool); len(files) != 0 {
		t.Errorf("%d files are left of a run that is done", len(files))
	}
}

// TestRestart stops a server in the middle of a run. The next server resumes the run.
func TestRestart(t *testing.T) {
	v := newSlowVendor(t)
	st, spool := openStore(t), t.TempDir()
	edit := withModel(v.url, func(a *api.Options) { a.Concurrency = 2 })
	first := serveStore(t, st, spool, edit)
	id := fmt.Sprint(first.ask(t, "POST", "/api/v1/runs?judge=universal", lines(120), "Content-Type", asLines).at("id"))
	other := fmt.Sprint(first.ask(t, "POST", "/api/v1/verdicts", `{"judge":"universal","trials":2,"items":`+twoItems+`}`, "Prefer", "respond-async").at("id"))
	until(t, "calls are in flight", func() bool { return v.n.Load() == 2 })
	go func() { // The gate must not open before the server stops taking items.
		<-first.srv.Background.Done()
		v.open()
	}()
	first.srv.Close()
	left := first.srv.Interrupted()
	if !slices.Contains(left, id) {
		t.Fatalf("interrupted %v, want %s among them", left, id)
	}
	second := serveStore(t, st, spool, edit)
	runs, err := second.srv.Resumable(t.Context())
	if err != nil || len(runs) != len(left) {
		t.Fatalf("%d runs can be resumed, error %v, want %d", len(runs), err, len(left))
	}
	for _, run := range runs {
		if err := second.srv.Resume(t.Context(), run); err != nil {
			t.Error(err)
		}
	}
	second.untilState(t, id, "done")
	second.untilState(t, other, "done")
	if got := v.n.Load(); got != 124 {
		t.Errorf("the model was asked %d times, want once for each of 124 records", got)
	}
}

// TestItemsGone resumes a run whose items no longer exist.
func TestItemsGone(t *testing.T) {
	v := newSlowVendor(t)
	st, spool := openStore(t), t.TempDir()
	edit := withModel(v.url, nil)
	first := serveStore(t, st, spool, edit)
	id := fmt.Sprint(first.ask(t, "POST", "/api/v1/runs?judge=universal", lines(50), "Content-Type", asLines).at("id"))
	until(t, "a call is in flight", func() bool { return v.n.Load() > 0 })
	first.srv.Kill()
	first.srv.Close()
	if err := os.RemoveAll(spool); err != nil {
		t.Fatal(err)
	}
	v.open()
	second := serveStore(t, st, spool, edit)
	second.ask(t, "POST", "/api/v1/runs/"+id+"/resume", "").wantProblem(t, 409, "not on this machine", "send them again")
	// A client that sends them again resumes the same run.
	second.ask(t, "POST", "/api/v1/runs?judge=universal", lines(50), "Content-Type", asLines).want(t, 202, "id", id)
	second.untilState(t, id, "done")
}

// TestForeignRun tries to stop and to resume a run that a command started.
func TestForeignRun(t *testing.T) {
	ts := serveAPI(t, nil)
	run, _, err := ts.store.Begin(t.Context(), store.Spec{
		Judge: store.JudgeSpec{Name: "j", Hash: "h", Rule: true}, Dataset: store.DatasetSpec{Names: []string{"d"}, Hash: "h", Items: 1}, Trials: 1,
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	ts.run(t, run.ID).want(t, 200, "state", "open", "resumable", nil)
	ts.ask(t, "POST", "/api/v1/runs/"+run.ID+"/resume", "").wantProblem(t, 409, "not begun over this API")
	ts.ask(t, "POST", "/api/v1/runs/"+run.ID+"/cancel", "").wantProblem(t, 409, "does not judge")
	ts.ask(t, "POST", "/api/v1/runs/nosuch/cancel", "").wantProblem(t, 404)
}

// TestMoney limits the cost of runs: by the client, by the server for each run, and by the
// server for all runs.
func TestMoney(t *testing.T) {
	vendor := modeltest.NewServer(t, func(modeltest.Asked) modeltest.Answer { return modeltest.Say("CORRECT") })
	dollars := func(micros int64) catalog.Optional[int64] { return catalog.Optional[int64]{Value: micros, Set: true} }
	body := func(more string) string { return `{"judge":"universal",` + more + `"items":` + twoItems + `}` }
	ts := serveAPI(t, withModel(vendor.URL, func(a *api.Options) { a.MaxCost, a.Concurrency = dollars(1_000_000), 1 }))
	a := ts.ask(t, "POST", "/api/v1/verdicts", body(`"max_cost":"0.000001",`))
	a.wantProblem(t, 402, "budget", "max_cost")
	id := fmt.Sprint(a.at("run"))
	ts.run(t, id).want(t, 200, "state", "open", "problem.status", 402, "resumable", true)
	ts.ask(t, "POST", "/api/v1/runs/"+id+"/resume", `{"max_cost":0.5}`).want(t, 202)
	ts.untilState(t, id, "done")

	mean := serveAPI(t, withModel(vendor.URL, func(a *api.Options) { a.MaxCost, a.Concurrency = dollars(1), 1 }))
	mean.ask(t, "POST", "/api/v1/verdicts", body(`"max_cost":5,`)).wantProblem(t, 402, "budget")
	poor := serveAPI(t, withModel(vendor.URL, func(a *api.Options) { a.MaxTotal, a.Concurrency = dollars(1), 1 }))
	poor.ask(t, "POST", "/api/v1/verdicts", body("")).wantProblem(t, 402, "budget")
}

// TestWrongKey uses a vendor that rejects the key: the run is not done, and no item has a
// record.
func TestWrongKey(t *testing.T) {
	ts := serveAPI(t, nil)
	a := ts.ask(t, "POST", "/api/v1/verdicts", `{"judge":"universal","model":"fake:fatal","items":`+twoItems+`}`)
	a.wantProblem(t, 502)
	ts.run(t, fmt.Sprint(a.at("run"))).want(t, 200, "records", 0, "state", "open")
	a = ts.ask(t, "POST", "/api/v1/verdicts", `{"judge":"universal","model":"fake:fatal","items":`+twoItems+`}`, "Accept", asLines)
	if a.status != 200 || !strings.Contains(a.text, `{"problem":{`) || strings.Contains(a.text, `"record"`) {
		t.Errorf("the stream of a run that cannot begin is %d %s", a.status, a.text)
	}
}

func TestRunsPages(t *testing.T) {
	ts := serveAPI(t, nil)
	var want []string
	for i := range 5 {
		a := ts.ask(t, "POST", "/api/v1/verdicts", fmt.Sprintf(`{"judge":"exact","items":[{"response":"%d","references":["1"]}]}`, i))
		want = append(want, fmt.Sprint(a.at("run.id")))
	}
	slices.Reverse(want)
	var got []string
	for next, more := "", true; more; {
		p := ts.ask(t, "GET", "/api/v1/runs?limit=2&judge=exact&after="+next, "")
		list, _ := p.at("runs").([]any)
		for _, r := range list {
			got = append(got, fmt.Sprint(r.(map[string]any)["id"]))
		}
		next, more = p.at("next").(string)
	}
	if !slices.Equal(got, want) {
		t.Errorf("pages of runs have %v, want %v", got, want)
	}
	ts.ask(t, "GET", "/api/v1/runs?judge=nobody", "").want(t, 200, "runs", "[]")
	ts.run(t, "nosuch").wantProblem(t, 404, "no such run")
	ts.run(t, "last").want(t, 200, "id", want[0])
}

// TestReportIsThatOfTheCommand compares the report with the output of "deem report --json".
func TestReportIsThatOfTheCommand(t *testing.T) {
	ts := serveAPI(t, nil)
	ts.ask(t, "POST", "/api/v1/verdicts", `{"items":`+twoItems+`}`).want(t, 200)
	run, err := ts.store.Run(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	f, err := reports.Of(t.Context(), ts.store, run, reports.Options{MaxUnjudged: report.DefaultMaxUnjudged})
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := f.Report.JSON(&want); err != nil {
		t.Fatal(err)
	}
	if got := ts.ask(t, "GET", "/api/v1/runs/last/report", ""); got.text != want.String() {
		t.Errorf("the report is\n%s\nwant\n%s", got.text, want.String())
	}
}

func TestLabels(t *testing.T) {
	ts := serveAPI(t, nil)
	ts.ask(t, "POST", "/api/v1/verdicts", `{"items":`+twoItems+`}`).want(t, 200)
	post := func(body string) apiAnswer { return ts.ask(t, "POST", "/api/v1/runs/last/labels", body) }
	post(`{"annotator":"anna","labels":[{"id":"q1","label":"yes"},{"id":"q2","score":0.25,"note":"off by one"}]}`).want(t, 200, "kept", 2)
	a := ts.ask(t, "GET", "/api/v1/runs/last/labels", "")
	a.want(t, 200, "labels.0.id", "q1", "labels.0.yes", true, "labels.1.yes", false, "labels.1.score", 0.25,
		"labels.1.note", "off by one", "labels.1.annotator", "anna", "labels.2", nil)
	post(`{"annotator":"anna","labels":[{"id":"q1","label":"no"}]}`).want(t, 200, "kept", 1)
	ts.ask(t, "GET", "/api/v1/runs/last/labels", "").want(t, 200, "labels.0.yes", false, "labels.2", nil)
	post(`{"annotator":"anna","labels":[{"id":"q1","label":"yes"},{"id":"q9","label":"no"}]}`).wantProblem(t, 400, `"index":1`, "no record of this item")
	ts.ask(t, "GET", "/api/v1/runs/last/labels", "").want(t, 200, "labels.0.yes", false)
	post(`{"labels":[{"id":"q1","label":"perhaps"}]}`).wantProblem(t, 400, "perhaps")
	post(`{"labels":[{"id":"q1","score":7}]}`).wantProblem(t, 400, "7")
	post(`{"labels":[{"id":"q1","label":""}]}`).wantProblem(t, 400, "say nothing")
	post(`{"labels":[]}`).wantProblem(t, 400, "no labels")
	for _, who := range []string{strings.Repeat("x", 65), `a\u0000b`, `\u202ebob`, `   `} {
		post(`{"annotator":"`+who+`","labels":[{"id":"q1","label":"yes"}]}`).wantProblem(t, 400, "annotator is a name")
	}
	// Spaces are trimmed, as on the page: it is the same person.
	post(`{"annotator":" anna ","labels":[{"id":"q1","label":"yes"}]}`).want(t, 200, "kept", 1)
	ts.ask(t, "GET", "/api/v1/runs/last/labels", "").want(t, 200, "labels.0.yes", true, "labels.0.annotator", "anna", "labels.2", nil)
	post(`{"labls":[]}`).wantProblem(t, 400, "labels")
}

func TestExports(t *testing.T) {
	ts := serveAPI(t, nil)
	ts.ask(t, "POST", "/api/v1/verdicts", `{"items":`+twoItems+`}`).want(t, 200)
	for format, begin := range map[string]string{
		"deem": "deem", "csv": "run,", "jsonl": "{", "parquet": "PAR1", "junit": "<?xml", "html": "<!doctype html", "markdown": "#", "card": "## api",
	} {
		a := ts.ask(t, "GET", "/api/v1/runs/last/export?format="+format, "")
		if a.status != http.StatusOK || !strings.HasPrefix(strings.ToLower(a.text), strings.ToLower(begin)) {
			t.Errorf("export of %s is %d %.60q, want what begins with %q", format, a.status, a.text, begin)
		}
		if got := a.header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment; filename=") {
			t.Errorf("export of %s has the disposition %q", format, got)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(ts.ask(t, "GET", "/api/v1/runs/last/export?format=csv", "").text)).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Errorf("the CSV has %d rows, error %v, want 3", len(rows), err)
	}
	if page := ts.ask(t, "GET", "/api/v1/runs/last/export?format=html", ""); !strings.Contains(page.text, "It took 19 days.") {
		t.Error("the page lists no items")
	}
	ts.ask(t, "GET", "/api/v1/runs/last/export", "").wantProblem(t, 400, "format is missing")
	ts.ask(t, "GET", "/api/v1/runs/last/export?format=cvs", "").wantProblem(t, 400, `did you mean \"csv\"`)
}

// CSV is opened in spreadsheets, so no cell of it is a formula. JSON has the exact text.
func TestExportFormulas(t *testing.T) {
	ts := serveAPI(t, nil)
	ts.ask(t, "POST", "/api/v1/verdicts", `{"items":[{"id":"@a","question":"+1?","references":["-x"],"response":"=HYPERLINK(\"https://example.com\")"}]}`).want(t, 200)
	rows, err := csv.NewReader(strings.NewReader(ts.ask(t, "GET", "/api/v1/runs/last/export?format=csv", "").text)).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%d rows, error %v", len(rows), err)
	}
	for _, cell := range slices.Concat(rows...) {
		if cell != "" && strings.ContainsAny(cell[:1], "=+-@") {
			t.Errorf("there is the cell %q", cell)
		}
	}
	if text := ts.ask(t, "GET", "/api/v1/runs/last/export?format=jsonl", "").text; !strings.Contains(text, `"=HYPERLINK(`) {
		t.Errorf("the JSON lines have %s", text)
	}
}

// TestBusy submits a run that another server is judging.
func TestBusy(t *testing.T) {
	v := newSlowVendor(t)
	st := openStore(t)
	first := serveStore(t, st, t.TempDir(), withModel(v.url, nil))
	body := `{"judge":"universal","items":` + twoItems + `}`
	first.ask(t, "POST", "/api/v1/runs", body).want(t, 202)
	second := serveStore(t, st, t.TempDir(), withModel(v.url, nil))
	second.ask(t, "POST", "/api/v1/verdicts", body).wantProblem(t, 409, "being judged already")
	v.open()
}

// A page says why a run stopped.
func TestEventsOfStoppedRun(t *testing.T) {
	t.Parallel()
	vendor := modeltest.NewServer(t, func(modeltest.Asked) modeltest.Answer {
		return modeltest.Fail(401, `{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}`)
	})
	ts := serveAPI(t, withModel(vendor.URL, nil))
	a := ts.ask(t, "POST", "/api/v1/runs", `{"judge":"universal","items":`+twoItems+`}`)
	a.want(t, 202)
	id := fmt.Sprint(a.at("id"))
	var stopped string
	resp, err := http.Get(ts.URL + "/runs/" + id + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	for events := bufio.NewScanner(resp.Body); !strings.Contains(stopped, `"stopped"`) && events.Scan(); {
		stopped = events.Text()
	}
	if !strings.Contains(stopped, "401") {
		t.Errorf("the page is told %q, want the status that the vendor gave", stopped)
	}
	if page := ts.ask(t, "GET", "/runs/"+id, ""); !strings.Contains(page.text, "Stopped: ") {
		t.Errorf("the page of the run does not say that it stopped")
	}
}
