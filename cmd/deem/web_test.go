package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A web is a serving deem, as browsers and programs see it.
type web struct {
	*process
	url    string
	client *http.Client
}

// serve starts a server on a free port.
func serve(ctx context.Context, dir string, env []string, args ...string) (*web, error) {
	p, err := start(ctx, dir, env, append([]string{"serve", "--json", "--listen", "127.0.0.1:0"}, args...)...)
	if err != nil {
		return nil, err
	}
	w := &web{process: p, client: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 16},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	err = until(ctx, "the server to say where it is", func() (bool, error) {
		var said struct {
			URL string `json:"url"`
		}
		if p.gone() {
			return false, p.trouble(errors.New("the server does not start"))
		}
		if json.Unmarshal([]byte(p.out.String()), &said) == nil { // The output is complete.
			w.url = strings.TrimSuffix(said.URL, "/")
		}
		return w.url != "", nil
	})
	if err != nil {
		p.kill()
	}
	return w, err
}

// do sends a request. The caller closes the body of the answer.
func (w *web) do(ctx context.Context, method, path string, body []byte, headers ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return w.client.Do(req)
}

// ask sends a request, checks the status of the answer, and returns its body.
func (w *web) ask(ctx context.Context, want int, method, path string, body []byte, headers ...string) ([]byte, error) {
	resp, err := w.do(ctx, method, path, body, headers...)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode != want {
		return nil, fmt.Errorf("%s %s: status %d, want %d: %s", method, path, resp.StatusCode, want, text[:min(len(text), 2000)])
	}
	return text, nil
}

// get returns the content of a page.
func (w *web) get(ctx context.Context, path string) ([]byte, error) {
	return w.ask(ctx, http.StatusOK, http.MethodGet, path, nil)
}

// shown returns a page of which parts take time, once it is complete: until then the server
// shows another one, which reloads.
func (w *web) shown(ctx context.Context, path string) (text []byte, err error) {
	err = until(ctx, path+" to be shown", func() (bool, error) {
		resp, err := w.do(ctx, http.MethodGet, path, nil)
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		if text, err = io.ReadAll(resp.Body); err == nil && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("GET %s: status %d: %s", path, resp.StatusCode, text[:min(len(text), 2000)])
		}
		return resp.Header.Get("Refresh") == "", err
	})
	return text, err
}

// A runInfo is the API's description of a run.
type runInfo struct {
	ID      string          `json:"id"`
	State   string          `json:"state"`
	Records int             `json:"records"`
	Items   int             `json:"items"`
	Cost    int64           `json:"cost_micros"`
	Problem json.RawMessage `json:"problem"`
}

// tell sends a request about a run and returns the API's description of the run.
func (w *web) tell(ctx context.Context, want int, method, path string, body []byte, headers ...string) (runInfo, error) {
	text, err := w.ask(ctx, want, method, path, body, headers...)
	var r runInfo
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// look returns the progress of a run.
func (w *web) look(ctx context.Context, id string) (runInfo, error) {
	return w.tell(ctx, http.StatusOK, http.MethodGet, "/api/v1/runs/"+id, nil)
}

// done waits until a run is done.
func (w *web) done(ctx context.Context, id string) error {
	return until(ctx, "run "+id+" to be done", func() (bool, error) {
		r, err := w.look(ctx, id)
		if err == nil && r.Problem != nil {
			err = fmt.Errorf("run %s is %s: %s", id, r.State, r.Problem)
		}
		return r.State == "done", err
	})
}

// form submits a form of a page, and checks that the answer is a redirect. page is the page
// that contains the form.
func (w *web) form(ctx context.Context, page, action string, values url.Values) error {
	text, err := w.get(ctx, page)
	if err != nil {
		return err
	}
	values.Set("csrf", between(string(text), `<meta name="csrf" content="`, `"`))
	_, err = w.ask(ctx, http.StatusSeeOther, http.MethodPost, action, []byte(values.Encode()), "Content-Type", "application/x-www-form-urlencoded")
	return err
}

// between returns the text between two texts, or "" if they do not occur.
func between(text, from, to string) string {
	_, rest, ok := strings.Cut(text, from)
	found, _, ends := strings.Cut(rest, to)
	if !ok || !ends {
		return ""
	}
	return found
}

// watch reads the events of a run until it is done or, if most is above 0, until that many
// have come.
func (w *web) watch(ctx context.Context, id string, most int) (events int, err error) {
	ctx, leave := context.WithTimeout(ctx, longest)
	defer leave()
	resp, err := w.do(ctx, http.MethodGet, "/runs/"+id+"/events", nil)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("the events of run %s: status %d", id, resp.StatusCode)
	}
	var last string // the latest event, for the error message
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, ok := strings.CutPrefix(lines.Text(), "event: ")
		if !ok {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				last = text
				if strings.Contains(text, `"stopped":`) {
					return events, fmt.Errorf("run %s has stopped: %s", id, text)
				}
			}
			continue
		}
		if events++; name == "done" || events == most {
			return events, nil
		}
	}
	return events, fmt.Errorf("the events of run %s ended after %d without the last; the latest says %s", id, events, last)
}

// metric returns a number of the server's Prometheus page.
func metric(ctx context.Context, base, name string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	req.Close = true // A kept connection would be counted as open.
	resp, err := scrapes.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	var v float64
	if _, err := fmt.Sscan(between(string(text), "\n"+name+" ", "\n"), &v); err != nil {
		return 0, fmt.Errorf("no %s at %s: %w", name, base, err)
	}
	return v, nil
}

// scrapes is the HTTP client for Prometheus pages.
var scrapes = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
