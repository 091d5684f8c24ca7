package web_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"deem"
	"deem/internal/server"
)

// pages returns one path of each kind.
func pages(w *world) []string {
	run := "/runs/" + w.first.ID
	return []string{
		"/", run, run + "/score", run + "/events", run + "/items", run + "/items.csv", run + "/items/plain", run + "/raw/plain?part=response",
		"/choose?run=a&run=b", "/nowhere", "/api/v1/runs", "/api/nowhere", "/login/", "/healthz/x", "/staticx", "/compare",
	}
}

// Pages are shown only with the token.
func TestTokenDemanded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range pages(w) {
		s := newServer(t, server.Options{Store: w.store, Token: token})
		for _, tt := range []struct {
			name    string
			headers []string
		}{
			{"nothing", nil},
			{"a wrong token", []string{"Authorization", "Bearer " + token + "x"}},
			{"an empty token", []string{"Authorization", "Bearer "}},
			{"another scheme", []string{"Authorization", "Basic " + token}},
			{"a made-up session", []string{"Cookie", "deem_session=99999999999.x.00"}},
			{"the token as a session", []string{"Cookie", "deem_session=" + token}},
			{"the token in the address", nil},
		} {
			at := path
			if tt.name == "the token in the address" {
				at += more(at) + "token=" + token
			}
			answer := get(t, s, at, tt.headers...)
			if answer.Code != http.StatusUnauthorized {
				t.Errorf("GET %s with %s = %d, want 401", path, tt.name, answer.Code)
			}
			if strings.Contains(answer.Body.String(), w.first.ID) && !strings.Contains(path, w.first.ID) {
				t.Errorf("GET %s with %s shows a run", path, tt.name)
			}
			wantType := "text/html"
			if strings.HasPrefix(path, "/api/") {
				wantType = "application/problem+json"
			}
			if got := answer.Header().Get("Content-Type"); !strings.HasPrefix(got, wantType) {
				t.Errorf("GET %s with %s is %s, want %s", path, tt.name, got, wantType)
			}
			checkHeaders(t, path, answer.Header())
		}
		if answer := get(t, s, path, "Authorization", "Bearer "+token); answer.Code == http.StatusUnauthorized {
			t.Errorf("GET %s with the token = 401", path)
		}
	}
}

func checkHeaders(t *testing.T, path string, h http.Header) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
	} {
		if got := h.Get(name); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s = %q, want %q", path, name, got, want)
		}
	}
	for _, bad := range []string{"unsafe-inline", "unsafe-eval", "*", "data:", "http"} {
		if strings.Contains(h.Get("Content-Security-Policy"), bad) {
			t.Errorf("%s: the policy holds %q", path, bad)
		}
	}
}

func TestOpenPaths(t *testing.T) {
	t.Parallel()
	s := newServer(t, server.Options{Store: openStore(t), Token: token})
	list := elements(t, "/login", get(t, s, "/login").Body.String())
	paths := []string{"/login", "/healthz"}
	for _, e := range list {
		if strings.HasPrefix(e.attrs["href"], "/static/") {
			paths = append(paths, e.attrs["href"])
		}
	}
	if len(paths) < 4 {
		t.Fatalf("the login page has only the files %v", paths)
	}
	for _, path := range paths {
		answer := get(t, s, path)
		if answer.Code != http.StatusOK {
			t.Errorf("GET %s = %d, want 200", path, answer.Code)
		}
		checkHeaders(t, path, answer.Header())
	}
}

// csrfOf returns the CSRF value of the login form.
func csrfOf(t *testing.T, s *server.Server, headers ...string) string {
	t.Helper()
	for _, e := range elements(t, "/login", get(t, s, "/login", headers...).Body.String()) {
		if e.name == "input" && e.attrs["name"] == "csrf" {
			return e.attrs["value"]
		}
	}
	t.Fatal("the login form carries no csrf value")
	return ""
}

func form(values ...string) *strings.Reader {
	v := url.Values{}
	for i := 0; i+1 < len(values); i += 2 {
		v.Set(values[i], values[i+1])
	}
	return strings.NewReader(v.Encode())
}

const formType = "application/x-www-form-urlencoded"

// Logging in with the token starts a session, whose cookie does not contain the token.
// Logging out ends it.
func TestLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newServer(t, server.Options{Store: w.store, Token: token})
	next := "/runs/" + w.first.ID + "/items?q=a+b"
	answer := do(t, s, http.MethodPost, "/login", form("csrf", csrfOf(t, s), "token", token, "next", next), "Content-Type", formType)
	if got := answer.Header().Get("Location"); answer.Code != http.StatusSeeOther || got != next {
		t.Fatalf("POST /login = %d to %q, want 303 to %q", answer.Code, got, next)
	}
	cookies := answer.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("there are %d cookies, want 1", len(cookies))
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.MaxAge <= 0 || strings.Contains(c.Value, token) {
		t.Errorf("the cookie is %v", c)
	}
	cookie := c.Name + "=" + c.Value
	page := get(t, s, "/", "Cookie", cookie)
	if page.Code != http.StatusOK || !strings.Contains(page.Body.String(), "Log out") {
		t.Errorf("GET / with the session = %d, want 200 and a way out", page.Code)
	}
	if got := get(t, s, "/", "Cookie", cookie[:len(cookie)-1]).Code; got != http.StatusUnauthorized {
		t.Errorf("GET / with a session cut short = %d, want 401", got)
	}
	out := do(t, s, http.MethodPost, "/logout", form("csrf", csrfOf(t, s, "Cookie", cookie)), "Content-Type", formType, "Cookie", cookie)
	if got := out.Result().Cookies(); out.Code != http.StatusSeeOther || len(got) != 1 || got[0].MaxAge >= 0 {
		t.Errorf("POST /logout = %d with %v, want the cookie taken away", out.Code, got)
	}
	if got := get(t, s, "/", "Cookie", cookie).Code; got != http.StatusUnauthorized {
		t.Errorf("GET / with a cookie copied before the logout = %d, want 401", got)
	}
}

// A session of one server is invalid on another.
func TestSessionOfAnother(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	a, b := newServer(t, server.Options{Store: st, Token: token}), newServer(t, server.Options{Store: st, Token: token})
	c := do(t, a, http.MethodPost, "/login", form("csrf", csrfOf(t, a), "token", token), "Content-Type", formType).Result().Cookies()[0]
	if got := get(t, b, "/", "Cookie", c.Name+"="+c.Value).Code; got != http.StatusUnauthorized {
		t.Errorf("GET / with the session of another server = %d, want 401", got)
	}
}

// The login does not redirect to other sites.
func TestLoginStays(t *testing.T) {
	t.Parallel()
	s := newServer(t, server.Options{Store: openStore(t), Token: token})
	csrf := csrfOf(t, s)
	for _, next := range []string{"//evil.example", "https://evil.example/", `/\evil.example`, "javascript:alert(1)", "evil", "", "/\t/evil.example", "/login"} {
		answer := do(t, s, http.MethodPost, "/login", form("csrf", csrf, "token", token, "next", next), "Content-Type", formType)
		if got := answer.Header().Get("Location"); got != "/" {
			t.Errorf("next=%q leads to %q, want /", next, got)
		}
	}
}

// Changes are accepted only from our own pages.
func TestForeignChanges(t *testing.T) {
	t.Parallel()
	s := newServer(t, server.Options{Store: openStore(t)})
	csrf := csrfOf(t, s)
	for _, tt := range []struct {
		name    string
		csrf    string
		headers []string
		want    int
	}{
		{"our form", csrf, []string{"Sec-Fetch-Site", "same-origin"}, 303},
		{"our form in an old browser", csrf, []string{"Origin", "http://localhost"}, 303},
		{"our script", "", []string{"X-CSRF-Token", csrf}, 303},
		{"no value", "", nil, 403},
		{"a made-up value", strings.Repeat("0", 64), nil, 403},
		{"another site", csrf, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"another port", csrf, []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"another origin", csrf, []string{"Origin", "http://evil.example"}, 403},
	} {
		answer := do(t, s, http.MethodPost, "/logout", form("csrf", tt.csrf), append([]string{"Content-Type", formType}, tt.headers...)...)
		if answer.Code != tt.want {
			t.Errorf("POST with %s = %d, want %d", tt.name, answer.Code, tt.want)
		}
		checkHeaders(t, tt.name, answer.Header())
	}
}

// Without a token, only host names of this machine are accepted (DNS rebinding).
func TestHost(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	for _, tt := range []struct {
		host  string
		token string
		want  int
	}{
		{"localhost", "", 200},
		{"localhost:8080", "", 200},
		{"LOCALHOST:8080", "", 200},
		{"127.0.0.1:8080", "", 200},
		{"127.8.8.8", "", 200},
		{"[::1]:8080", "", 200},
		{"deem.localhost:8080", "", 200},
		{"evil.example", "", 421},
		{"localhost.evil.example", "", 421},
		{"127.0.0.1.evil.example", "", 421},
		{"localhost:8080.evil.example", "", 421},
		{"[::1]:8080.evil.example", "", 421},
		{"0.0.0.0:8080", "", 421},
		{"192.168.1.2:8080", "", 421},
		{"evil.example", token, 200},
	} {
		s := newServer(t, server.Options{Store: st, Token: tt.token})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/healthz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = tt.host
		if got := serveOnce(s, req).Code; got != tt.want {
			t.Errorf("GET of %s with token %q = %d, want %d", tt.host, tt.token, got, tt.want)
		}
	}
}

// Wrong tokens block an address for further ones, and never for the right token.
func TestGuessing(t *testing.T) {
	t.Parallel()
	s := newServer(t, server.Options{Store: openStore(t), Token: token})
	csrf := csrfOf(t, s)
	codes := map[int]int{}
	for i := range 20 {
		if i%2 == 0 {
			codes[get(t, s, "/", "Authorization", "Bearer wrong").Code]++
		} else {
			codes[do(t, s, http.MethodPost, "/login", form("csrf", csrf, "token", "wrong"), "Content-Type", formType).Code]++
		}
	}
	if codes[401] != 10 || codes[429] != 10 {
		t.Errorf("20 guesses = %v, want 10 times 401 and 10 times 429", codes)
	}
	if got := get(t, s, "/", "Authorization", "Bearer wrong").Header().Get("Retry-After"); got == "" {
		t.Error("status 429 without a time to wait")
	}
	if got := get(t, s, "/", "Authorization", "Bearer "+token).Code; got != http.StatusOK {
		t.Errorf("the right token after that = %d, want 200", got)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.RemoteAddr = "192.0.2.77:1234"
	req.Header.Set("Authorization", "Bearer "+token)
	if got := serveOnce(s, req).Code; got != http.StatusOK {
		t.Errorf("the right token from elsewhere = %d, want 200", got)
	}
}

// Behind a proxy all clients share its address. A client that guesses tokens does not block
// the others.
func TestGuessesThroughProxy(t *testing.T) {
	t.Parallel()
	s := newServer(t, server.Options{Store: openStore(t), Token: token, BehindProxy: true})
	const wrong, right = "Bearer wrong", "Bearer " + token
	for range 12 {
		get(t, s, "/", "Authorization", wrong, "X-Forwarded-For", "192.0.2.7")
	}
	for _, tt := range []struct {
		forwarded string
		want      int
	}{
		{"192.0.2.7", http.StatusTooManyRequests},
		{"203.0.113.5, 192.0.2.7", http.StatusTooManyRequests}, // a client may forge the first address
		{"192.0.2.8", http.StatusUnauthorized},
	} {
		if got := get(t, s, "/", "Authorization", wrong, "X-Forwarded-For", tt.forwarded).Code; got != tt.want {
			t.Errorf("a wrong token forwarded for %s = %d, want %d", tt.forwarded, got, tt.want)
		}
		if got := get(t, s, "/", "Authorization", right, "X-Forwarded-For", tt.forwarded).Code; got != http.StatusOK {
			t.Errorf("the right token forwarded for %s = %d, want 200", tt.forwarded, got)
		}
	}
}

// The length of a request is limited.
func TestLongRequest(t *testing.T) {
	t.Parallel()
	s := newServer(t, server.Options{Store: openStore(t), Token: token})
	body := form("csrf", csrfOf(t, s), "token", strings.Repeat("x", 2<<20))
	if got := do(t, s, http.MethodPost, "/login", body, "Content-Type", formType).Code; got != http.StatusForbidden && got != http.StatusRequestEntityTooLarge {
		t.Errorf("POST of 2 MiB = %d, want it refused", got)
	}
}

func TestCheckListen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		addr, token string
		ok          bool
	}{
		{"127.0.0.1:8080", "", true},
		{"localhost:8080", "", true},
		{"[::1]:8080", "", true},
		{":8080", "", false},
		{"0.0.0.0:8080", "", false},
		{"[::]:8080", "", false},
		{"192.168.1.2:8080", "", false},
		{"deem.example:8080", "", false},
		{"0.0.0.0:8080", token, true},
		{"0.0.0.0:8080", "short", false},
		{"127.0.0.1:8080", "short", false},
		{"127.0.0.1", "", false},
	} {
		err := server.CheckListen(tt.addr, tt.token)
		if (err == nil) != tt.ok {
			t.Errorf("CheckListen(%q, %q) = %v, want ok %v", tt.addr, tt.token, err, tt.ok)
		}
		if err != nil && deem.HintOf(err) == "" {
			t.Errorf("CheckListen(%q, %q) = %v, without a hint", tt.addr, tt.token, err)
		}
	}
	if err := server.CheckListen("0.0.0.0:1", ""); !errors.Is(err, server.ErrNoToken) {
		t.Errorf("CheckListen(0.0.0.0:1) = %v, want ErrNoToken", err)
	}
}

// A panic is a 500 for the client; its details are only logged.
func TestPanic(t *testing.T) {
	var log bytes.Buffer
	s := newServer(t, server.Options{Store: openStore(t), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	broken := func(http.ResponseWriter, *http.Request) error { panic("the secret of the bug") }
	s.Add(server.Part{Routes: []server.Route{{Pattern: "GET /broken", Handle: broken}, {Pattern: "GET /api/broken", Handle: broken}}})
	for path, kind := range map[string]string{"/broken": "text/html", "/api/broken": "application/problem+json"} {
		rec := do(t, s, http.MethodGet, path, nil)
		if rec.Code != http.StatusInternalServerError || !strings.HasPrefix(rec.Header().Get("Content-Type"), kind) {
			t.Errorf("%s = %d %s, want 500 %s", path, rec.Code, rec.Header().Get("Content-Type"), kind)
		}
		if body := rec.Body.String(); strings.Contains(body, "secret") || strings.Contains(body, "goroutine") {
			t.Errorf("%s tells the visitor: %s", path, body)
		}
	}
	if !strings.Contains(log.String(), "the secret of the bug") {
		t.Error("the log does not say what happened")
	}
}
