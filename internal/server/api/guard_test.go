package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"deem/internal/store/sqlite"
)

// TestForeignPageCannotPost simulates a page of another site that makes a browser send items
// to a server without a token.
func TestForeignPageCannotPost(t *testing.T) {
	ts := serveAPI(t, nil)
	body := `{"items":` + twoItems + `}`
	for name, headers := range map[string][]string{
		"another site":          {"Sec-Fetch-Site", "cross-site"},
		"another port":          {"Sec-Fetch-Site", "same-site"},
		"an old browser":        {"Origin", "https://evil.example"},
		"a file":                {"Origin", "null"},
		"a form":                {"Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"},
		"a name that points us": {"Host", "evil.example"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/api/v1/verdicts", "/api/v1/runs", "/api/v1/runs/last/labels", "/api/v1/runs/last/cancel"} {
				a := askAs(t, ts, path, body, headers)
				if a.status != http.StatusForbidden && a.status != http.StatusMisdirectedRequest {
					t.Errorf("POST %s is answered with %d %s", path, a.status, a.text)
				}
			}
		})
	}
	// Even without those headers, media types that a form can send are rejected.
	for _, media := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""} {
		ts.ask(t, "POST", "/api/v1/verdicts", body, "Content-Type", media).wantProblem(t, 415, "Content-Type")
	}
	ts.ask(t, "GET", "/api/v1/runs", "").want(t, 200, "runs", "[]")
	ts.ask(t, "POST", "/api/v1/verdicts", body, "Sec-Fetch-Site", "same-origin").want(t, 200)
}

// askAs sends a POST with headers, which may include Host.
func askAs(t *testing.T, ts *apiServer, path, body string, headers []string) apiAnswer {
	t.Helper()
	if headers[0] != "Host" {
		return ts.ask(t, "POST", path, body, headers...)
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", ts.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = headers[1]
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return apiAnswer{status: resp.StatusCode}
}

// TestTokenOfTheAPI sends requests with and without the token.
func TestTokenOfTheAPI(t *testing.T) {
	ts := serveAPI(t, func(o *options) { o.Token = token })
	body := `{"items":` + twoItems + `}`
	for _, path := range []string{"/api/v1/runs", "/api/v1/openapi.json", "/api/v1/version", "/api/v1/nothing"} {
		ts.ask(t, "GET", path, "").wantProblem(t, 401, "token")
	}
	ts.ask(t, "POST", "/api/v1/verdicts", body).wantProblem(t, 401, "token")
	ts.ask(t, "POST", "/api/v1/verdicts", body, "Authorization", "Bearer wrong-wrong-wrong").wantProblem(t, 401)
	ts.ask(t, "POST", "/api/v1/verdicts", body, "Authorization", "Bearer "+token).want(t, 200)
	if a := ts.ask(t, "GET", "/metrics", ""); a.status != http.StatusUnauthorized {
		t.Errorf("GET /metrics without the token is %d, want 401", a.status)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := ts.ask(t, "GET", path, ""); a.status != http.StatusOK || a.text != "ok\n" {
			t.Errorf("GET %s = %d %q, want ok for everybody", path, a.status, a.text)
		}
	}
}

func TestReadOnly(t *testing.T) {
	ts := serveAPI(t, nil)
	body := `{"items":` + twoItems + `}`
	ts.ask(t, "POST", "/api/v1/verdicts", body).want(t, 200)
	st, err := sqlite.OpenReadOnly(t.Context(), ts.store.(*sqlite.Store).Path(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	ro := serveStore(t, st, t.TempDir(), func(o *options) { o.ReadOnly = true })
	for _, path := range []string{"/api/v1/verdicts", "/api/v1/runs", "/api/v1/runs/last/labels", "/api/v1/runs/last/cancel"} {
		ro.ask(t, "POST", path, body).wantProblem(t, 403, "read-only")
	}
	ro.ask(t, "GET", "/api/v1/runs/last/records", "").want(t, 200, "records.0.id", "q1")
	ro.ask(t, "GET", "/api/v1/runs/last/report", "").want(t, 200, "judged", 2)
}

// TestNowhere requests resources that do not exist.
func TestNowhere(t *testing.T) {
	ts := serveAPI(t, nil)
	for _, path := range []string{"/api", "/api/", "/api/v2/runs", "/api/v1/rns", "/api/v1/runs/last/nothing"} {
		if a := ts.ask(t, "GET", path, ""); a.status != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", path, a.status)
		}
	}
	ts.ask(t, "GET", "/api/v1/rns", "").wantProblem(t, 404, "/api/v1/openapi.json")
	a := ts.ask(t, "DELETE", "/api/v1/runs/last", "")
	a.wantProblem(t, 405, "GET")
	if got := a.header.Get("Allow"); got != "GET" {
		t.Errorf("Allow = %q, want GET", got)
	}
	ts.ask(t, "PUT", "/api/v1/runs", `{}`).wantProblem(t, 405, "GET, POST")
	ts.ask(t, "GET", "/api/v1/version?x=1", "").wantProblem(t, 400, "no parameters")
	ts.ask(t, "POST", "/api/v1/verdicts", `{"items":`+twoItems+`}`, "Content-Encoding", "gzip").wantProblem(t, 415, "gzip")
}

// TestModelsOfTheServer lists the models that clients may use.
func TestModelsOfTheServer(t *testing.T) {
	ts := serveAPI(t, withModel("http://localhost:9", nil))
	ts.ask(t, "GET", "/api/v1/models", "").want(t, 200, "models.0.name", "openai:gpt-4o-mini", "models.0.default", true)
	ts.ask(t, "GET", "/api/v1/judges", "").want(t, 200, "default", "match")
	ts.ask(t, "GET", "/api/v1/benchmarks", "").want(t, 200)
	ts.ask(t, "GET", "/api/v1/version", "").want(t, 200, "version", "1.2.3", "api", "v1")
	ts.ask(t, "POST", "/api/v1/verdicts", `{"judge":"universal","model":"openai:gpt-4o","items":`+twoItems+`}`).wantProblem(t, 403, "openai:gpt-4o-mini")
}

// TestFakesAreRefused checks that a client cannot use the models that exist for tests, one
// of which hangs until it is interrupted.
func TestFakesAreRefused(t *testing.T) {
	ts := serveAPI(t, func(o *options) { o.API.Fakes = false })
	for _, name := range []string{"fake:hang", "fake:say=CORRECT"} {
		for _, path := range []string{"/api/v1/verdicts", "/api/v1/runs"} {
			a := ts.ask(t, "POST", path, `{"judge":"universal","model":"`+name+`","items":`+twoItems+`}`)
			a.wantProblem(t, 403, "command line")
			a.want(t, 403, "hint", "use it on the command line: deem run --data FILE --model "+name)
		}
	}
	if a := ts.ask(t, "GET", "/api/v1/models", ""); strings.Contains(a.text, "fake:") {
		t.Errorf("the models that can be asked are %s", a.text)
	}
	ts.ask(t, "GET", "/api/v1/runs", "").want(t, 200, "runs", "[]")
}

// TestCancelEndsCalls cancels a run whose calls hang.
func TestCancelEndsCalls(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	ts := serveAPI(t, nil)
	id := fmt.Sprint(ts.ask(t, "POST", "/api/v1/runs", `{"judge":"universal","model":"fake:hang","items":`+twoItems+`}`).at("id"))
	ts.untilState(t, id, "judging")
	ts.ask(t, "POST", "/api/v1/runs/"+id+"/cancel", "").want(t, 202)
	ts.untilState(t, id, "open")
	ts.run(t, id).want(t, 200, "resumable", true, "problem.status", 409)
}

// TestOneClientLeavesAPlace has one client start more hanging runs than there are slots.
// Another client must still be served.
func TestOneClientLeavesAPlace(t *testing.T) {
	t.Parallel()
	ts := serveAPI(t, func(o *options) { o.BehindProxy = true })
	for i := range 20 {
		body := fmt.Sprintf(`{"judge":"universal","model":"fake:hang","items":[{"id":"q%d","question":"?","references":["x"],"response":"x"}]}`, i)
		ts.ask(t, "POST", "/api/v1/runs", body, "X-Forwarded-For", "192.0.2.1").want(t, 202)
	}
	a := ts.ask(t, "POST", "/api/v1/verdicts", `{"items":`+twoItems+`}`, "X-Forwarded-For", "192.0.2.2", "Prefer", "wait=120")
	a.want(t, 200, "run.state", "done")
	ts.srv.Kill()
}

// TestEveryCallEnds uses a model that never replies. The call must time out.
func TestEveryCallEnds(t *testing.T) {
	t.Parallel()
	ts := serveAPI(t, func(o *options) { o.API.CallTimeout, o.API.Retries = 100*time.Millisecond, -1 })
	a := ts.ask(t, "POST", "/api/v1/verdicts", `{"judge":"universal","model":"fake:hang","items":`+twoItems+`}`, "Prefer", "wait=120")
	a.want(t, 200, "run.unjudged", 2, "records.0.failure.kind", "timeout")
}

// TestStopEndsCalls stops a server while a call hangs.
func TestStopEndsCalls(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	ts := serveAPI(t, nil)
	id := fmt.Sprint(ts.ask(t, "POST", "/api/v1/runs", `{"judge":"universal","model":"fake:hang","items":`+twoItems+`}`).at("id"))
	ts.untilState(t, id, "judging")
	start := time.Now()
	ts.srv.Close()
	if took := time.Since(start); took > patience {
		t.Errorf("the server took %v to stop, want 10 s", took)
	}
}
