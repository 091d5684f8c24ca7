package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"deem/internal/store"
)

// A throttle expires entries and bounds their number.
func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(time.Now)
		for range maxMisses {
			if th.wait("a") != 0 {
				t.Fatal("a waits before it has missed often")
			}
			th.miss("a")
		}
		if th.wait("a") == 0 || th.wait("b") != 0 {
			t.Errorf("wait = %v for a and %v for b, want only a to wait", th.wait("a"), th.wait("b"))
		}
		time.Sleep(missWindow)
		if th.wait("a") != 0 {
			t.Errorf("a still waits %v after the window", th.wait("a"))
		}
		for i := range 3 * maxAddresses {
			th.miss(fmt.Sprint("x", i))
		}
		if len(th.seen) > maxAddresses+1 {
			t.Errorf("%d addresses are remembered, want at most %d", len(th.seen), maxAddresses+1)
		}
		if th.wait("fresh") == 0 {
			t.Error("an address that there is no room for is not held up with the others")
		}
	})
}

// A session expires.
func TestSessionEnds(t *testing.T) {
	g := newGuard("secret", false)
	r := httptest.NewRequest(http.MethodGet, "http://localhost:8080/", http.NoBody)
	c := g.newSession(r)
	r.AddCookie(c)
	if g.Session(r) == "" {
		t.Fatal("a new session is not good")
	}
	g.now = func() time.Time { return time.Now().Add(sessionLife + time.Second) }
	if g.Session(r) != "" {
		t.Error("a session is good for ever")
	}
	if c.Name != "deem_session_8080" {
		t.Errorf("the cookie is called %q, want the port in it", c.Name)
	}
}

// Guesses from one network count together. X-Forwarded-For is used only behind a proxy, and
// then only its last address.
func TestRemote(t *testing.T) {
	for _, tt := range []struct {
		addr      string
		forwarded []string
		direct    string
		proxied   string
	}{
		{"192.0.2.1:80", nil, "192.0.2.1", "192.0.2.1"},
		{"[2001:db8:1:2:3:4:5:6]:80", nil, "2001:db8:1:2::", "2001:db8:1:2::"},
		{"[2001:db8:1:2:ffff::1]:80", nil, "2001:db8:1:2::", "2001:db8:1:2::"},
		{"", nil, "", ""},
		{"10.0.0.1:80", []string{"192.0.2.7"}, "10.0.0.1", "192.0.2.7"},
		{"10.0.0.1:80", []string{"198.51.100.1, 192.0.2.7"}, "10.0.0.1", "192.0.2.7"},
		{"10.0.0.1:80", []string{"198.51.100.1", "192.0.2.7:5000"}, "10.0.0.1", "192.0.2.7"},
		{"10.0.0.1:80", []string{"2001:db8:1:2::9"}, "10.0.0.1", "2001:db8:1:2::"},
		{"10.0.0.1:80", []string{"[2001:db8:1:2::9]:5000"}, "10.0.0.1", "2001:db8:1:2::"},
		{"10.0.0.1:80", []string{"192.0.2.7, unknown"}, "10.0.0.1", "10.0.0.1"},
		{"10.0.0.1:80", []string{""}, "10.0.0.1", "10.0.0.1"},
	} {
		r := &http.Request{RemoteAddr: tt.addr, Header: http.Header{"X-Forwarded-For": tt.forwarded}}
		for proxy, want := range map[bool]string{false: tt.direct, true: tt.proxied} {
			if got := newGuard("secret", proxy).Remote(r); got != want {
				t.Errorf("remote of %q, forwarded for %q, proxy %t = %q, want %q", tt.addr, tt.forwarded, proxy, got, want)
			}
		}
	}
}

// A URL preserves every filter and every position.
func TestFilterRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		f := Filter{
			Category: text.Draw(t, "category"), Label: text.Draw(t, "label"), Kind: text.Draw(t, "kind"), Text: text.Draw(t, "text"), Against: text.Draw(t, "against"),
			Verdict: rapid.SampledFrom([]string{"", SaysYes, SaysNo, Unjudged}).Draw(t, "verdict"),
			Trial:   rapid.SampledFrom([]string{"", "0", "17"}).Draw(t, "trial"),
			Order:   rapid.SampledFrom([]store.Order{"", store.ByScore, store.ByConfidence}).Draw(t, "order"), Descending: rapid.Bool().Draw(t, "desc"),
		}
		link := f.Link("/runs/" + url.PathEscape(text.Draw(t, "run")) + "/items")
		u, err := url.Parse(link)
		if err != nil {
			t.Fatalf("the link %q: %v", link, err)
		}
		got, err := readFilter(u.Query())
		if err != nil || got != f {
			t.Errorf("readFilter(%q) = %+v, %v, want %+v", link, got, err, f)
		}
		p := &store.Place{Cursor: store.Cursor{Position: rapid.Int().Draw(t, "position"), ID: text.Draw(t, "place")}}
		back, err := DecodePlace(EncodePlace(p))
		if err != nil || back.Cursor != p.Cursor {
			t.Errorf("DecodePlace = %+v, %v, want %+v", back, err, p)
		}
	})
}
