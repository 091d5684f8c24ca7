package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deem/internal/server"
	"deem/internal/server/api"
	"deem/internal/server/web"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/test/modeltest"
	"deem/internal/vendors"
)

// An apiServer is a server whose API is tested.
type apiServer struct {
	*httptest.Server
	store store.Database
	spool string
	srv   *api.Server
}

// options are the options of a server and its API.
type options struct {
	server.Options
	API api.Options
}

// newServer returns a server with the API and the pages.
func newServer(t testing.TB, o options) *api.Server {
	t.Helper()
	s, err := server.New(o.Options)
	if err != nil {
		t.Fatal(err)
	}
	o.API.Report = web.New(s, web.Options{}).Report
	served, err := api.New(s, o.API)
	if err != nil {
		t.Fatal(err)
	}
	return served
}

// openStore returns an empty store.
func openStore(t testing.TB) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "deem.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// serveAPI starts a server that judges. Edit may change its options.
func serveAPI(t testing.TB, edit func(*options)) *apiServer {
	t.Helper()
	st := openStore(t)
	return serveStore(t, st, t.TempDir(), edit)
}

// serveStore starts a server that judges, with an existing store.
func serveStore(t testing.TB, st store.Database, spool string, edit func(*options)) *apiServer {
	t.Helper()
	o := options{Options: server.Options{Store: st, Version: "1.2.3"}, API: api.Options{Spool: spool, Fakes: true}}
	if edit != nil {
		edit(&o)
	}
	s := newServer(t, o)
	ts := httptest.NewServer(s)
	t.Cleanup(func() {
		ts.Close()
		s.Close()
	})
	return &apiServer{Server: ts, store: st, spool: spool, srv: s}
}

// token is the token of servers that need one.
const token = "a-token-for-the-tests-alone"

// patience is how long a test waits. It is long because other tests may slow the machine
// down.
const patience = 90 * time.Second

// An apiAnswer is a response of the server.
type apiAnswer struct {
	status int
	header http.Header
	text   string
	body   map[string]any // of a JSON response
}

// ask sends a request with headers given as name and value.
func (ts *apiServer) ask(t *testing.T, method, path, body string, headers ...string) apiAnswer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, ts.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := apiAnswer{status: resp.StatusCode, header: resp.Header, text: string(text)}
	if strings.Contains(resp.Header.Get("Content-Type"), "json") && json.Unmarshal(text, &a.body) != nil {
		a.body = nil // lines
	}
	return a
}

// at returns the value at a path of a response, for example "run.id".
func (a apiAnswer) at(path string) any {
	var v any = a.body
	for _, key := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// want checks the status of a response and the values at paths.
func (a apiAnswer) want(t *testing.T, status int, pairs ...any) {
	t.Helper()
	if a.status != status {
		t.Errorf("status %d, want %d: %s", a.status, status, a.text)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if got := fmt.Sprint(a.at(pairs[i].(string))); got != fmt.Sprint(pairs[i+1]) {
			t.Errorf("%s = %s, want %v in %s", pairs[i], got, pairs[i+1], a.text)
		}
	}
}

// wantProblem checks that a response is a problem (RFC 9457) and contains words.
func (a apiAnswer) wantProblem(t *testing.T, status int, words ...string) {
	t.Helper()
	a.want(t, status, "status", status, "type", "about:blank", "title", http.StatusText(status))
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type = %q, want application/problem+json", got)
	}
	for _, w := range words {
		if !strings.Contains(a.text, w) {
			t.Errorf("%q is not in %s", w, a.text)
		}
	}
	if strings.Contains(a.text, "goroutine") || strings.Contains(a.text, ".go:") {
		t.Errorf("a stack is in %s", a.text)
	}
}

// twoItems is an item that the judge match accepts and one that it rejects.
const twoItems = `[{"id":"q1","question":"How long?","references":["18 days"],"response":"It took 18 days.","category":"temporal"},
{"id":"q2","question":"How long?","references":["18 days"],"response":"It took 19 days."}]`

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// run gets a run from the API.
func (ts *apiServer) run(t *testing.T, id string) apiAnswer {
	t.Helper()
	return ts.ask(t, "GET", "/api/v1/runs/"+id, "")
}

// untilState waits until a run has a state.
func (ts *apiServer) untilState(t *testing.T, id, state string) {
	t.Helper()
	until(t, "run "+id+" is "+state, func() bool { return ts.run(t, id).at("state") == state })
}

func TestVerdicts(t *testing.T) {
	ts := serveAPI(t, nil)
	a := ts.ask(t, "POST", "/api/v1/verdicts", `{"judge":"match","dataset":"trips","items":`+twoItems+`}`)
	a.want(t, 200, "run.state", "done", "run.records", 2, "run.unjudged", 0, "run.dataset", "trips",
		"records.0.id", "q1", "records.0.verdict.score", 1, "records.1.verdict.score", 0, "records.0.item", nil,
		"report.judged", 2, "report.version", "deem.report/1")
	id := fmt.Sprint(a.at("run.id"))
	if got := a.header.Get("Location"); got != "/api/v1/runs/"+id {
		t.Errorf("Location = %q, want that of run %s", got, id)
	}
	// The same items again are the same run, at no cost.
	again := ts.ask(t, "POST", "/api/v1/verdicts?with=item,calls", `{"items":`+twoItems+`}`)
	again.want(t, 200, "run.id", id, "records.0.item.category", "temporal")
	ts.ask(t, "POST", "/api/v1/verdicts", `{"fresh":true,"items":`+twoItems+`}`).want(t, 200, "records.1.id", "q2")
	if files, _ := os.ReadDir(ts.spool); len(files) != 0 {
		t.Errorf("%d files are left of runs that are done", len(files))
	}
}

// TestUnjudgedIsNotWrong checks that an unjudged item has a failure and no score.
func TestUnjudgedIsNotWrong(t *testing.T) {
	ts := serveAPI(t, nil)
	a := ts.ask(t, "POST", "/api/v1/verdicts", `{"judge":"universal","model":"fake:gibberish","items":`+twoItems+`}`)
	a.want(t, 200, "records.0.failure.kind", "unparseable", "records.0.verdict", nil, "run.unjudged", 2, "report.unjudged", 2)
	if strings.Contains(a.text, `"score":`) {
		t.Errorf("a failure has a score: %s", a.text)
	}
	a = ts.ask(t, "POST", "/api/v1/verdicts", `{"judge":"universal","model":"fake:gibberish","retry_unjudged":true,"items":`+twoItems+`}`)
	a.want(t, 200, "records.1.failure.kind", "unparseable")
}

func TestVerdictsStream(t *testing.T) {
	ts := serveAPI(t, nil)
	for _, round := range []string{"judged", "recalled"} {
		a := ts.ask(t, "POST", "/api/v1/verdicts", `{"items":`+twoItems+`}`, "Accept", "application/x-ndjson")
		var records, runs int
		for line := range strings.Lines(a.text) {
			var got struct {
				Record *struct{ ID string }
				Run    *struct{ State string }
				Report *struct{ Judged int }
			}
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			if got.Record != nil {
				records++
			}
			if got.Run != nil && got.Run.State == "done" && got.Report != nil && got.Report.Judged == 2 {
				runs++
			}
		}
		if records != 2 || runs != 1 || a.header.Get("Content-Type") != "application/x-ndjson" {
			t.Errorf("%s: %d records and %d ends of type %s, want 2 and 1: %s", round, records, runs, a.header.Get("Content-Type"), a.text)
		}
	}
}

// TestStreamComesAsItIsJudged delays the second item until the first is received.
func TestStreamComesAsItIsJudged(t *testing.T) {
	gate := make(chan struct{})
	vendor := modeltest.NewServer(t, func(a modeltest.Asked) modeltest.Answer {
		if strings.Contains(a.Prompt(), "19 days") {
			<-gate
		}
		return modeltest.Say("CORRECT")
	})
	ts := serveAPI(t, withModel(vendor.URL, nil))
	req, err := http.NewRequestWithContext(t.Context(), "POST", ts.URL+"/api/v1/verdicts", strings.NewReader(`{"judge":"universal","items":`+twoItems+`}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/x-ndjson")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		close(gate)
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() || !strings.Contains(lines.Text(), `"id":"q1"`) {
		t.Errorf("the first line is %s, want the record of q1", lines.Text())
	}
	close(gate)
	rest := ""
	for lines.Scan() {
		rest += lines.Text()
	}
	if !strings.Contains(rest, `"id":"q2"`) || !strings.Contains(rest, `"report"`) {
		t.Errorf("the rest of the stream is %s, want q2 and the report", rest)
	}
}

// withModel configures a paid model at a URL.
func withModel(url string, edit func(*api.Options)) func(*options) {
	return func(o *options) {
		o.API.Models = []vendors.Options{{Name: "openai:gpt-4o-mini", BaseURL: url}}
		o.API.Retries = -1
		if edit != nil {
			edit(&o.API)
		}
	}
}

// TestWaitEnds delays a model. A client that stops waiting gets the run, which continues.
func TestWaitEnds(t *testing.T) {
	gate := make(chan struct{})
	vendor := modeltest.NewServer(t, func(modeltest.Asked) modeltest.Answer {
		<-gate
		return modeltest.Say("CORRECT")
	})
	ts := serveAPI(t, withModel(vendor.URL, nil))
	body := `{"judge":"universal","items":` + twoItems + `}`
	a := ts.ask(t, "POST", "/api/v1/verdicts", body, "Prefer", "wait=0")
	a.want(t, 202)
	id := fmt.Sprint(a.at("id"))
	ts.untilState(t, id, "judging")
	if got := a.header.Get("Location"); got != "/api/v1/runs/"+id {
		t.Errorf("Location = %q, want that of run %s", got, id)
	}
	// A second request with the same items joins the run.
	ts.ask(t, "POST", "/api/v1/runs", body).want(t, 202, "id", id)
	ts.ask(t, "POST", "/api/v1/verdicts", body, "Prefer", "respond-async").want(t, 202, "id", id)
	close(gate)
	ts.untilState(t, id, "done")
	ts.ask(t, "POST", "/api/v1/verdicts", body).want(t, 200, "run.id", id, "records.1.verdict.label", "CORRECT")
	ts.ask(t, "POST", "/api/v1/verdicts", body, "Prefer", "wait=soon").wantProblem(t, 400, "wait=soon")
	// This many seconds overflow a time.Duration.
	ts.ask(t, "POST", "/api/v1/verdicts", body, "Prefer", "wait=9300000000").want(t, 200, "run.id", id)
	if files, _ := os.ReadDir(ts.spool); len(files) != 0 {
		t.Errorf("%d files are left of a run that is done and that others joined", len(files))
	}
}

// TestStopAnswers stops a server while clients wait for a call that hangs. They must get an
// error with the run that contains what was judged.
func TestStopAnswers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	v := newSlowVendor(t)
	o := options{Options: server.Options{Store: openStore(t)}, API: api.Options{Spool: t.TempDir()}}
	withModel(v.url, nil)(&o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ts, srv := &apiServer{Server: &httptest.Server{URL: "http://" + l.Addr().String()}}, newServer(t, o)
	body := `{"judge":"universal","items":` + twoItems + `}`
	waits, ended := make(chan apiAnswer, 1), make(chan error, 1)
	go func() { ended <- srv.Serve(ctx, l) }()
	go func() {
		defer close(waits)
		waits <- ts.ask(t, "POST", "/api/v1/verdicts", body)
	}()
	until(t, "calls are in flight", func() bool { return v.n.Load() == 2 })
	id := fmt.Sprint(ts.ask(t, "POST", "/api/v1/verdicts", body, "Prefer", "respond-async").at("id"))
	req, err := http.NewRequestWithContext(t.Context(), "POST", ts.URL+"/api/v1/verdicts", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", asLines)
	stream, err := http.DefaultClient.Do(req) // It returns when the stream has begun.
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	stop()
	a := <-waits
	a.wantProblem(t, 503, "kept", "resume")
	if a.at("run") != id {
		t.Errorf("the answer names run %v, want %s", a.at("run"), id)
	}
	if text, err := io.ReadAll(stream.Body); err != nil || !strings.Contains(string(text), `"problem"`) || !strings.Contains(string(text), id) {
		t.Errorf("the stream ends with %q, error %v, want a problem of run %s", text, err, id)
	}
	v.open()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWrongItems(t *testing.T) {
	ts := serveAPI(t, nil)
	for _, c := range []struct {
		name, body string
		status     int
		words      []string
	}{
		{"no body", "", 415, []string{"Content-Type"}},
		{"not JSON", `{"items": [`, 400, []string{"not JSON"}},
		{"a list", `[]`, 400, []string{"not a JSON object"}},
		{"behind", `{"items":[{"response":"x"}]} {}`, 400, []string{"follows"}},
		{"twice", `{"items":[{"response":"x"}],"items":[]}`, 400, []string{"twice"}},
		{"no items", `{"judge":"match"}`, 400, []string{"no items"}},
		{"items is not a list", `{"items":{}}`, 400, []string{"list"}},
		{"unknown field", `{"itemz":1,"items":[{"response":"x"}]}`, 400, []string{"itemz", `did you mean \"items\"`}},
		{"unknown field of an item", `{"items":[{"response":"x"},{"respnse":"x"}]}`, 400, []string{`"index":1`, "respnse", `did you mean \"response\"`}},
		{"no response", `{"items":[{"id":"a"}]}`, 400, []string{`"index":0`, `"id":"a"`, "no response", "empty text"}},
		{"null response", `{"items":[{"response":null}]}`, 400, []string{"no response"}},
		{"same id", `{"items":[{"id":"a","response":"x"},{"id":"a","response":"y"}]}`, 400, []string{`"index":1`, "earlier item"}},
		{"number as id", `{"items":[{"id":7,"response":"x"}]}`, 400, []string{"id is a string, not a number"}},
		{"item is a text", `{"items":["x"]}`, 400, []string{"an item is an object"}},
		{"weight", `{"items":[{"response":"x","weight":-1}]}`, 400, []string{"weight"}},
		{"references", `{"items":[{"response":"x","references":"y"}]}`, 400, []string{"references is a list"}},
		{"trials", `{"trials":101,"items":[{"response":"x"}]}`, 400, []string{"trials"}},
		{"a fraction of a trial", `{"trials":1.5,"items":[{"response":"x"}]}`, 400, []string{"trials cannot be 1.5"}},
		{"weight beyond numbers", `{"items":[{"response":"x","weight":1e999}]}`, 400, []string{"weight cannot be 1e999"}},
		{"judge", `{"judge":"mtch","items":[{"response":"x"}]}`, 400, []string{`did you mean \"match\"`}},
		{"model for a rule", `{"judge":"match","model":"fake:x","items":[{"response":"x"}]}`, 400, []string{"asks no model"}},
		{"model missing", `{"judge":"universal","items":[{"response":"x"}]}`, 400, []string{"this server has none"}},
		{"model not allowed", `{"judge":"universal","model":"openai:gpt-4o","items":[{"response":"x"}]}`, 403, []string{"does not ask"}},
		{"replay", `{"judge":"universal","model":"replay:/etc/passwd","items":[{"response":"x"}]}`, 403, []string{"does not ask"}},
		{"reading", `{"reading":"strict","items":[{"response":"x"}]}`, 400, []string{"reading says nothing"}},
		{"cost", `{"max_cost":"much","items":[{"response":"x"}]}`, 400, []string{`"detail":"max_cost: \"much\" is not an amount in dollars`}},
		{"two judges", `{"judge":"match","declaration":"x","items":[{"response":"x"}]}`, 400, []string{"one of the two"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ts.ask(t, "POST", "/api/v1/verdicts", c.body).wantProblem(t, c.status, c.words...)
		})
	}
	if files, _ := os.ReadDir(ts.spool); len(files) != 0 {
		t.Errorf("%d files are left of what was refused", len(files))
	}
}

// TestManyWrongItems checks that all problems are counted and twenty are listed.
func TestManyWrongItems(t *testing.T) {
	ts := serveAPI(t, nil)
	body := `{"items":[` + strings.TrimSuffix(strings.Repeat(`{"id":"x"},`, 50), ",") + `]}`
	a := ts.ask(t, "POST", "/api/v1/verdicts", body)
	a.wantProblem(t, 400, "50 items are wrong")
	if list, _ := a.at("problems").([]any); len(list) != 20 {
		t.Errorf("%d problems are listed, want 20", len(list))
	}
}

func TestTooManyItems(t *testing.T) {
	ts := serveAPI(t, nil)
	var items []string
	for i := range 101 {
		items = append(items, fmt.Sprintf(`{"response":"%d","references":["1"]}`, i))
	}
	body := `{"items":[` + strings.Join(items, ",") + `]}`
	ts.ask(t, "POST", "/api/v1/verdicts", body).wantProblem(t, 413, "more than 100", "/api/v1/runs")
	a := ts.ask(t, "POST", "/api/v1/runs", body)
	a.want(t, 202, "items", 101)
	ts.untilState(t, fmt.Sprint(a.at("id")), "done")
}

// TestNoFiles checks that clients cannot make the server open a file.
func TestNoFiles(t *testing.T) {
	ts := serveAPI(t, nil)
	file := filepath.Join(t.TempDir(), "judge.yaml")
	if err := os.WriteFile(file, []byte("name: mine\nprompt: \"{response}\"\nlabels: {YES: 1, NO: 0}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, "labels:" + file, "f1+" + file, "labels:/etc/passwd", "../../../etc/passwd"} {
		text, _ := json.Marshal(name)
		ts.ask(t, "POST", "/api/v1/verdicts", `{"judge":`+string(text)+`,"items":`+twoItems+`}`).wantProblem(t, 400, "no judge")
	}
	for _, declaration := range []string{
		"name: mine\nprompt: {file: " + file + "}\nlabels: {YES: 1, NO: 0}\n",
		"kind: panel\nname: three\nmembers: [match, " + file + "]\n",
		"name: universal\nprompt: \"{response}\"\nlabels: {YES: 1, NO: 0}\n",
		"name: mine\nprompt: \"{respnse}\"\nlabels: {YES: 1, NO: 0}\n",
		": : :",
	} {
		text, _ := json.Marshal(declaration)
		a := ts.ask(t, "POST", "/api/v1/verdicts", `{"declaration":`+string(text)+`,"model":"fake:label=YES","items":`+twoItems+`}`)
		a.wantProblem(t, 400)
	}
}

// TestDeclaredJudge sends the declaration of a judge as YAML and as JSON.
func TestDeclaredJudge(t *testing.T) {
	ts := serveAPI(t, nil)
	for _, declaration := range []string{
		"name: mine\nprompt: \"Is {response} an answer to {question}?\"\nlabels: {YES: 1, NO: 0}\n",
		`{"name": "other", "prompt": "Is {response} an answer?", "labels": {"YES": 1, "NO": 0}}`,
	} {
		text, _ := json.Marshal(declaration)
		a := ts.ask(t, "POST", "/api/v1/verdicts", `{"declaration":`+string(text)+`,"model":"fake:say=YES","items":`+twoItems+`}`)
		a.want(t, 200, "records.0.verdict.label", "YES", "run.model", "fake:say=YES")
		ts.run(t, "last").want(t, 200, "judge.identity.kind", "model")
	}
}
