package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sessionLife is how long a browser stays logged in.
const sessionLife = 12 * time.Hour

// A Guard checks tokens and sessions. Sessions are not stored: a cookie contains its expiry
// time, and is signed with a key that lives only as long as the process. Only sessions that
// were logged out before they expired are stored.
type Guard struct {
	token  string // "" means that no token is required
	key    [32]byte
	proxy  bool // requests come through a proxy that names the client
	misses *throttle
	now    func() time.Time

	mu    sync.Mutex
	ended map[string]time.Time // sessions that were logged out, and when they expire
}

func newGuard(token string, proxy bool) *Guard {
	g := &Guard{token: token, proxy: proxy, now: time.Now, ended: map[string]time.Time{}}
	_, _ = rand.Read(g.key[:]) // It never fails.
	g.misses = newThrottle(func() time.Time { return g.now() })
	return g
}

func (g *Guard) sign(purpose, text string) string {
	mac := hmac.New(sha256.New, g.key[:])
	mac.Write([]byte(purpose + "\x00" + text))
	return hex.EncodeToString(mac.Sum(nil))
}

// fits reports whether a signature is valid for a purpose and a text.
func (g *Guard) fits(signature, purpose, text string) bool {
	return subtle.ConstantTimeCompare([]byte(signature), []byte(g.sign(purpose, text))) == 1
}

// cookieName returns the name of the session cookie. It contains the port, because browsers
// share cookies between ports, and two servers on one machine must not log each other out.
func cookieName(r *http.Request) string {
	name := "deem_session"
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		name += "_" + port
	}
	return name
}

func (g *Guard) newSession(r *http.Request) *http.Cookie {
	text := strconv.FormatInt(g.now().Add(sessionLife).Unix(), 10) + "." + rand.Text()
	return g.cookie(r, text+"."+g.sign("session", text), int(sessionLife.Seconds()))
}

func (g *Guard) cookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure is set under TLS; loopback has no TLS.
		Name: cookieName(r), Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
		// A TLS proxy in front of the server sets this header. If a client forges it, its
		// cookie is only sent less often.
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
}

// Session returns the session of a request, or "" if it has no valid one.
func (g *Guard) Session(r *http.Request) string {
	if g.token == "" {
		return ""
	}
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return ""
	}
	at := strings.LastIndexByte(c.Value, '.')
	if at < 0 || !g.fits(c.Value[at+1:], "session", c.Value[:at]) {
		return ""
	}
	until, _, _ := strings.Cut(c.Value, ".")
	if end, err := strconv.ParseInt(until, 10, 64); err != nil || g.now().Unix() >= end {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ended := g.ended[c.Value[:at]]; ended {
		return ""
	}
	return c.Value[:at]
}

// CSRF returns the value that proves that a form is one of ours. Another site can make a
// browser send a request, but cannot read this value.
func (g *Guard) CSRF(r *http.Request) string { return g.sign("csrf", g.Session(r)) }

// Remote returns the key under which wrong tokens of a client are counted: its IPv4 address
// or, since a single machine often has 2^64 IPv6 addresses, its IPv6 network (/64).
func (g *Guard) Remote(r *http.Request) string {
	host := hostOf(r.RemoteAddr)
	if g.proxy {
		// The proxy adds the client at the end. The client can forge the addresses before it.
		all := strings.Join(r.Header.Values("X-Forwarded-For"), ",")
		last := strings.TrimSpace(all[strings.LastIndexByte(all, ',')+1:])
		if client := strings.Trim(hostOf(last), "[]"); net.ParseIP(client) != nil {
			host = client
		}
	}
	ip := net.ParseIP(host)
	if ip == nil || ip.To4() != nil {
		return host
	}
	return ip.Mask(net.CIDRMask(64, 128)).String()
}

// An address may send maxMisses wrong tokens per missWindow. At most maxAddresses are
// tracked; further addresses share one counter, so that an attacker with many addresses
// gains little and memory stays bounded.
const (
	maxMisses    = 10
	missWindow   = time.Minute
	maxAddresses = 10_000
)

// A throttle counts wrong tokens by address.
type throttle struct {
	now func() time.Time

	mu    sync.Mutex
	seen  map[string]missed
	swept time.Time // when expired entries were last removed
}

// missed counts the wrong tokens of one address since a time.
type missed struct {
	since time.Time
	n     int
}

func newThrottle(now func() time.Time) *throttle {
	return &throttle{now: now, seen: map[string]missed{}}
}

// wait returns how long an address must wait before it may try again, or 0.
func (t *throttle) wait(addr string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.seen[t.slot(addr)]
	if m.n < maxMisses {
		return 0
	}
	return max(0, missWindow-t.now().Sub(m.since))
}

// miss counts a wrong token.
func (t *throttle) miss(addr string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slot := t.slot(addr)
	m := t.seen[slot]
	if t.now().Sub(m.since) >= missWindow {
		m = missed{since: t.now()}
	}
	m.n++
	t.seen[slot] = m
}

// slot returns the key under which an address is counted. The caller holds the lock.
func (t *throttle) slot(addr string) string {
	if _, known := t.seen[addr]; known || len(t.seen) < maxAddresses {
		return addr
	}
	if now := t.now(); now.Sub(t.swept) >= missWindow/10 { // Do not sweep at every guess.
		t.swept = now
		for a, m := range t.seen {
			if now.Sub(m.since) >= missWindow {
				delete(t.seen, a)
			}
		}
	}
	if len(t.seen) < maxAddresses {
		return addr
	}
	return "" // All further addresses.
}
