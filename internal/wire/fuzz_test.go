package wire_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"deem"
	"deem/internal/wire"
)

// FuzzRetryAfter checks that for any headers the wait is never negative, that rate limit
// headers never cause a wait above a minute, and that an error that is not transient has no
// wait at all.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []struct{ after, ms, left, reset string }{
		{"20", "", "", ""},
		{"", "1500", "", ""},
		{"Mon, 16 Nov 2026 02:00:00 GMT", "", "", ""},
		{"", "", "0", "6m0s"},
		{"", "", "0", "1.5"},
		{"", "", "", "2026-11-16T02:00:30Z"},
		{"-1", "NaN", "7", "1ms"},
		{"1e300", "Inf", "0", "-1s"},
		{"0x1p62", "1e11", "0", "9999-12-31T23:59:59Z"},
	} {
		f.Add(429, seed.after, seed.ms, seed.left, seed.reset)
	}
	now := time.Date(2026, 11, 16, 1, 59, 30, 0, time.UTC)
	c := open(f, wire.Options{Base: base(f, "http://localhost:1")})
	f.Fuzz(func(t *testing.T, status int, after, ms, left, reset string) {
		h := http.Header{}
		h.Set("Retry-After", after)
		h.Set("Retry-After-Ms", ms)
		for _, name := range []string{"X-Ratelimit-%s-Requests", "X-Ratelimit-%s-Tokens"} {
			h.Set(strings.Replace(name, "%s", "Remaining", 1), left)
			h.Set(strings.Replace(name, "%s", "Reset", 1), reset)
		}
		if got := wire.RetryAfter(h, now); got < 0 {
			t.Errorf("RetryAfter(%v) = %v", h, got)
		}
		me, ok := errors.AsType[*deem.ModelError](c.StatusError(wire.Answer{Status: status, Header: h}))
		if !ok || me.RetryAfter < 0 || !me.Passing && me.RetryAfter != 0 {
			t.Errorf("status %d with %v is %+v", status, h, me)
		}
		h.Del("Retry-After")
		h.Del("Retry-After-Ms")
		if got := wire.RetryAfter(h, now); got < 0 || got > time.Minute {
			t.Errorf("RetryAfter(%v) = %v, want at most a minute", h, got)
		}
	})
}

// A piece answers any request with a text that arrives as the reader returns it.
type piece func() io.Reader

func (p piece) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(p())}, nil
}

// FuzzLines checks that the lines of a long answer are those of the text, however the
// network splits it.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"", "a\nb\n", "\n\n{}\r\n ", "a\x00b", strings.Repeat("x", 70<<10) + "\ny"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want []string
		for line := range strings.SplitSeq(text, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				want = append(want, line)
			}
		}
		for name, arrive := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader, "with its end": iotest.DataErrReader,
		} {
			read := piece(func() io.Reader { return arrive(strings.NewReader(text)) })
			c := open(t, wire.Options{Base: base(t, "http://localhost:1"), HTTPClient: &http.Client{Transport: read}})
			if got, err := collect(c, "/x"); err != nil || !slices.Equal(got, want) {
				t.Errorf("lines of %q that come %s: %q, %v, want %q", text, name, got, err, want)
			}
		}
	})
}

// FuzzBase checks that an accepted base URL can be called, that parsing it again changes
// nothing, and that neither its printed form nor the error of a rejected one contains its
// password.
func FuzzBase(f *testing.F) {
	for _, seed := range []string{
		"", "api.example.com", " localhost:8000/v1/ ", "http://[::1]:8000", "https://u:%s@h/p?api-version=1&key=%s#f", "https://h/a%2Fb//", "//%s@h", "u:%s@h:1",
		"http://u:%s%zz@h", "ftp://u:%s@h", "http://h:%s/", "https://u:a/%s@h",
	} {
		f.Add(seed)
	}
	const secret = "hunter2-0123"
	f.Fuzz(func(t *testing.T, text string) {
		hidden := strings.Contains(text, ":%s@") && !strings.ContainsAny(strings.SplitAfterN(text, ":%s@", 2)[0], "/?#\\") || strings.HasPrefix(text, "https://u:%s@")
		b, err := wire.ParseBase(strings.Replace(text, "%s", secret, 1), "https://api.example.com/v1")
		if err != nil {
			if hidden && strings.Contains(err.Error()+deem.HintOf(err), secret) {
				t.Errorf("ParseBase(%q): %v, which holds the password", text, err)
			}
			return
		}
		u, err := url.Parse(b.Endpoint())
		if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			t.Fatalf("ParseBase(%q) is at %q, %v", text, b.Endpoint(), err)
		}
		if hidden && strings.Contains(b.Endpoint(), secret) {
			t.Errorf("ParseBase(%q) shows %q, which holds the password", text, b)
		}
		again, err := wire.ParseBase(b.Endpoint(), "https://api.example.com/v1")
		if err != nil || again.Endpoint() != b.Endpoint() {
			t.Errorf("ParseBase(%q) is at %q, and that at %q, %v", text, b.Endpoint(), again, err)
		}
	})
}
