package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"deem/internal/server"
	"deem/internal/store"
)

// ask sends a request. Its address may be one that a browser would not send.
func ask(t *testing.T, s *server.Server, method, target, body string, headers ...string) (*httptest.ResponseRecorder, bool) {
	t.Helper()
	u, err := url.ParseRequestURI(target)
	if err != nil || !strings.HasPrefix(target, "/") {
		return nil, false // The server of net/http rejects such an address.
	}
	req := httptest.NewRequestWithContext(t.Context(), method, "http://localhost/", strings.NewReader(body))
	req.URL.Path, req.URL.RawPath, req.URL.RawQuery, req.RequestURI = u.Path, u.RawPath, u.RawQuery, target
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, req)
	return rec, true
}

// FuzzAddress requests any address. No answer has a 5xx status; all have the security headers
// for browsers; a page is well formed, whatever part of the address it contains; JSON is
// valid; and no answer redirects to another site.
func FuzzAddress(f *testing.F) {
	w := newWorld(f)
	s := newServer(f, server.Options{Store: w.store})
	for _, path := range append(pages(w), "/choose?run=last&to=//evil", "/api/v1/runs?limit=-1", "/api/v1/runs/last/records?after=e30&sort=score&q=%22a%20b", "/metrics", "//x", "/runs/last/../x") {
		f.Add(path)
	}
	for _, query := range []string{
		"?category=%28none%29&label=x&kind=refused&verdict=yes&trial=0&q=Lisbon&sort=score&desc=1", "?after=e30", "?after=eyJwb3NpdGlvbiI6LTF9", "?against=last~1", "?q=%22a*%20OR%20b%29", "?trial=99999999999999999999",
		"?%ff=%00", "?sort=%27&desc=", "?page=-1",
	} {
		f.Add("/runs/" + w.first.ID + "/items" + query)
		f.Add("/api/v1/runs/" + w.first.ID + "/records" + query)
	}
	f.Add("/compare?run=last&run=last~1&run=&run=%00")
	f.Add("/runs/last/raw/plain?part=reference.99&trial=-1")
	f.Add("/runs/last/agreement?against=x&level=2")
	f.Add("/runs/last/label?batch=99&who=%0a&item=x")
	f.Add("/api/v1/runs/last/report?gate=overall.lo%3E%3D65%25&gate=x")
	f.Add("/api/v1/runs/last/export?format=csv")
	f.Fuzz(func(t *testing.T, target string) {
		if strings.Contains(target, "/events") {
			return // A stream of events does not end until the client disconnects.
		}
		answer, ok := ask(t, s, http.MethodGet, target, "")
		if !ok {
			return
		}
		checkAnswer(t, target, answer)
	})
}

// checkAnswer checks an answer for what all answers have in common.
func checkAnswer(t *testing.T, target string, answer *httptest.ResponseRecorder) {
	t.Helper()
	if answer.Code >= 500 {
		t.Errorf("%q is answered with %d: %s", target, answer.Code, answer.Body)
	}
	checkHeaders(t, target, answer.Header())
	if to := answer.Header().Get("Location"); strings.HasPrefix(to, "//") || strings.Contains(to, `\`) || to != "" && !strings.HasPrefix(to, "/") {
		t.Errorf("%q leads to %q", target, to)
	}
	kind := answer.Header().Get("Content-Type")
	switch {
	case strings.HasPrefix(kind, "text/html") && strings.Contains(answer.Body.String(), "<html"):
		checkElements(t, target, elements(t, target, answer.Body.String()))
	case kind == "application/json", kind == "application/problem+json":
		if !json.Valid(answer.Body.Bytes()) {
			t.Errorf("%q is answered with %q, which is not JSON", target, answer.Body)
		}
	}
}

// FuzzLabels sends any human labels, as JSON and as the form of the page. Every stored label
// is a yes or a no with a score from 0 to 1 and an annotator.
func FuzzLabels(f *testing.F) {
	w := newWorld(f)
	s := newServer(f, server.Options{Store: w.store})
	f.Add(`{"annotator":"anna","labels":[{"id":"plain","label":"yes","note":"n"},{"id":"..","label":"no"}]}`)
	f.Add(`{"annotator":"b","labels":[{"id":"plain","score":2},{"id":"a/b","label":"maybe"}]}`)
	f.Add(`{"labels":[{"id":"plain","label":"yes"},{"id":"plain","label":"no"}]}`)
	f.Add("annotator=anna&say=yes&item=" + oddItems()[0].Hash() + "&note=%ff")
	f.Add("annotator=%0a&say=undo")
	f.Add("annotator=" + strings.Repeat("x", 65) + "&say=name&batch=-5")
	kept := map[string]bool{}
	for _, it := range oddItems() {
		kept[it.Hash()] = true
	}
	f.Fuzz(func(t *testing.T, body string) {
		for path, media := range map[string]string{"/api/v1/runs/" + w.first.ID + "/labels": "application/json", "/runs/" + w.first.ID + "/label": formType} {
			answer, _ := ask(t, s, http.MethodPost, path, body, "Content-Type", media, "Sec-Fetch-Site", "same-origin")
			checkAnswer(t, body, answer)
		}
		for l, err := range w.store.Labels(t.Context(), store.LabelQuery{}) {
			if err != nil {
				t.Fatal(err)
			}
			if !(l.Score >= 0 && l.Score <= 1) || strings.TrimSpace(l.Annotator) == "" || !kept[l.Item] {
				t.Errorf("%q is kept as %+v", body, l)
			}
		}
	})
}
