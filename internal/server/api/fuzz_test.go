package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzSubmit submits any body to be judged, by a rule that costs nothing. It is refused with
// a 4xx status, or each item is returned once, with a score from 0 to 1 or with a failure.
func FuzzSubmit(f *testing.F) {
	ts := serveAPI(f, nil)
	f.Add(`{"judge":"match","items":`+twoItems+`}`, false)
	f.Add(`{"judge":"f1+match","fresh":true,"trials":2,"items":[{"response":"r","references":["r"],"weight":-1}]}`, false)
	f.Add(`{"judge":{"name":"x"},"items":[]}`, false)
	f.Add(`{"items":[{"id":1}]} {}`, false)
	f.Add(`{"id":"a","references":["x","y"],"response":"x","fields":{"a":"b"}}`+"\n\n"+`{"id":"b","response":""}`, true)
	f.Add("{\"response\":\"\xff\"}\n{\"response\":\"\\ud800\"}", true)
	f.Fuzz(func(t *testing.T, body string, lines bool) {
		if strings.Contains(body, "fake") || strings.Contains(body, "replay") {
			return // These models may be configured with any delay.
		}
		target, media := "/api/v1/verdicts?with=item", "application/json"
		if lines {
			target, media = target+"&judge=match", "application/x-ndjson"
		}
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost"+target, strings.NewReader(body))
		req.Header.Set("Content-Type", media)
		answer := httptest.NewRecorder()
		ts.srv.ServeHTTP(answer, req)
		if answer.Code >= 500 || !json.Valid(answer.Body.Bytes()) {
			t.Errorf("%q is answered with %d: %s", body, answer.Code, answer.Body)
		}
		if answer.Code == http.StatusOK {
			checkVerdicts(t, body, answer.Body)
		}
	})
}

// checkVerdicts checks that each record has either a verdict or a failure.
func checkVerdicts(t *testing.T, sent string, answer io.Reader) {
	t.Helper()
	var got struct {
		Records []struct {
			ID      string `json:"id"`
			Trial   int    `json:"trial"`
			Verdict *struct {
				Label string  `json:"label"`
				Score float64 `json:"score"`
			} `json:"verdict"`
			Failure *struct {
				Kind string `json:"kind"`
			} `json:"failure"`
		} `json:"records"`
	}
	if err := json.NewDecoder(answer).Decode(&got); err != nil {
		t.Fatal(err)
	}
	type place struct {
		id    string
		trial int
	}
	seen := map[place]bool{}
	for _, rec := range got.Records {
		if at := (place{rec.ID, rec.Trial}); seen[at] {
			t.Errorf("%q: item %q comes back twice", sent, rec.ID)
		} else {
			seen[at] = true
		}
		switch v := rec.Verdict; {
		case (v == nil) == (rec.Failure == nil):
			t.Errorf("%q: item %q has verdict %v and failure %v", sent, rec.ID, v, rec.Failure)
		case v != nil && !(v.Score >= 0 && v.Score <= 1):
			t.Errorf("%q: item %q has the score %v", sent, rec.ID, v.Score)
		}
	}
	if len(got.Records) == 0 {
		t.Errorf("%q is answered with nothing", sent)
	}
}
