package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxReset limits the wait from rate limit headers. They say when the limit is fully reset,
// which may be long after there is room for one call.
const maxReset = time.Minute

// limits are the families of rate limit headers: the names of the remaining amount and of
// the reset time.
var limits = []struct{ remaining, reset string }{
	{"X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
	{"X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
	{"Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"},
	{"Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"},
	{"Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset"},
	{"Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset"},
}

// RetryAfter returns how long the server asks to wait from now on, or 0. An explicit
// Retry-After takes precedence over rate limit headers.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e12 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	if d, ok := parseRetryAfter(h.Get("Retry-After"), now); ok {
		return d
	}
	var longest time.Duration
	for _, l := range limits {
		// A limit with a remaining amount is not the one that was hit.
		if left := h.Get(l.remaining); left == "" || left == "0" {
			longest = max(longest, parseReset(h.Get(l.reset), now))
		}
	}
	return min(maxReset, longest)
}

// parseRetryAfter parses seconds or an HTTP date.
func parseRetryAfter(text string, now time.Time) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		if !(s >= 0 && s < 1e9) {
			return 0, false
		}
		return time.Duration(s * float64(time.Second)), true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return max(0, at.Sub(now)), true
}

// parseReset parses the reset time of a limit: "6m0s", bare seconds, or a time in
// Anthropic's format.
func parseReset(text string, now time.Time) time.Duration {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d
	}
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
