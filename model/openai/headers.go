package openai

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxReset bounds what is read from the rate limit headers. They say when the
// limit will be whole again, which may be long after there is room for one call.
const maxReset = time.Minute

// retryAfter returns how long the server asks to be left alone, 0 when it does
// not say. An explicit wish goes before the state of the limits.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e12 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	if d, ok := parseRetryAfter(h.Get("Retry-After"), time.Now()); ok {
		return d
	}
	return min(maxReset, max(reset(h, "requests"), reset(h, "tokens")))
}

// parseRetryAfter reads seconds or an HTTP date.
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

// reset returns when the limit of requests or tokens is whole again. A limit of
// which something remains is not the one that was hit.
func reset(h http.Header, what string) time.Duration {
	if left := h.Get("X-Ratelimit-Remaining-" + what); left != "" && left != "0" {
		return 0
	}
	text := h.Get("X-Ratelimit-Reset-" + what)
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d
	}
	// Some servers write bare seconds.
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	return 0
}
