package faultserver

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ServeHTTP answers a request: completions according to the options, GET .../models with
// the only model, and GET /stats with the [Stats] as JSON.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/chat/completions") && r.Method == http.MethodPost:
		s.complete(w, r)
	case strings.HasSuffix(r.URL.Path, "/models") && r.Method == http.MethodGet:
		_ = send(w, http.StatusOK, `{"object":"list","data":[{"id":"test","object":"model","owned_by":"faultserver"}]}`)
	case r.URL.Path == "/stats" && r.Method == http.MethodGet:
		w.Header()["Content-Type"] = jsonType
		_ = json.NewEncoder(w).Encode(s.Stats())
	default:
		_ = send(w, http.StatusNotFound, trouble("there is nothing here", "not_found"))
	}
}

// buffers hold bodies while they are hashed.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// complete reads a request, admits it, and applies its outcome.
func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	came := time.Now()
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	if _, err := buf.ReadFrom(r.Body); err != nil {
		return // The caller has gone.
	}
	prompt, ok := messages(buf.Bytes())
	if !ok {
		_ = send(w, http.StatusBadRequest, trouble("the request has no messages", "invalid_request_error"))
		return
	}
	d := digestOf(buf.Bytes())
	attempt, ok := s.admit(d)
	if !ok {
		s.refused(w)
		return
	}
	f := s.outcomeOf(d, attempt)
	answered := false
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stats.InFlight--
		if f.fault != "" {
			s.stats.Faults[f.fault]++
		}
		if answered {
			s.stats.Answered++
			s.asked[d].answered = true
		}
	}()
	label := digestOf(prompt)
	n := binary.LittleEndian.Uint64(label[:]) % uint64(len(s.replies))
	// The time spent so far is part of the latency, as it is at a vendor.
	jitter := time.Duration(unit(f.draw) * float64(s.opts.Jitter))
	if s.wait(r.Context(), s.opts.Latency+jitter-time.Since(came)) != nil {
		panic(http.ErrAbortHandler) // A missing answer must not look like an empty one.
	}
	answered = s.answer(w, r, f, s.replies[n]) == nil && f.fault.answered()
}

// wait sleeps until d has passed, the caller goes away or the server is closed.
func (s *Server) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	if s.opts.Exact {
		return exactly(ctx, s.closing, d)
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing.Done():
		return s.closing.Err()
	}
}

// refused tells a caller to come later.
func (s *Server) refused(w http.ResponseWriter) {
	if s.opts.RetryAfter > 0 {
		seconds := (s.opts.RetryAfter + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
	}
	_ = send(w, http.StatusTooManyRequests, trouble("too many requests at once", "rate_limit_exceeded"))
}

// page is what a captive portal shows to users who have not signed in.
const page = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Sign in to go on.</body></html>\n"

// answer writes the answer to one attempt, which fails according to its outcome. The error
// means that the caller did not get all of it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, f outcome, body string) error {
	switch f.fault {
	case Busy:
		s.refused(w)
	case Unavailable:
		_ = send(w, statuses[f.draw%uint64(len(statuses))], trouble("the server is in trouble", "server_error"))
	case Reset:
		return reset(w)
	case Slow:
		return s.drip(w, r, body)
	case Malformed:
		_ = send(w, http.StatusOK, strings.Replace(body, `"choices":[`, `"choices":[,`, 1))
	case Truncated:
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = io.WriteString(w, body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler) // This breaks the connection.
	case WrongType:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, page)
	case NoChoices:
		_ = send(w, http.StatusOK, `{"id":"chatcmpl-0","object":"chat.completion","model":"test","choices":[]}`)
	case Filtered:
		return send(w, http.StatusOK, reply("", "content_filter"))
	case CutShort:
		// Not empty: an empty reply that used all tokens is how reasoning models are
		// recognized.
		return send(w, http.StatusOK, reply("The", "length"))
	default:
		return send(w, http.StatusOK, body)
	}
	return nil
}

// reset closes the connection so that the caller sees a reset and not an end of file.
func reset(w http.ResponseWriter) error {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // Unsent data is discarded, which makes it a reset.
	}
	return errors.Join(errors.New("reset"), conn.Close())
}

// drips is the number of pieces of a slow body.
const drips = 8

// drip sends the body in pieces.
func (s *Server) drip(w http.ResponseWriter, r *http.Request, body string) error {
	w.Header()["Content-Type"] = jsonType
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	out := http.NewResponseController(w)
	for i := range drips {
		if s.wait(r.Context(), s.opts.Drip/drips) != nil {
			panic(http.ErrAbortHandler) // Half an answer must not look like a complete one.
		}
		// The last piece is sent after the attempt has left, so that a caller that returns
		// at once finds its slot free.
		if err := out.Flush(); err != nil {
			return err
		}
		if _, err := io.WriteString(w, body[len(body)*i/drips:len(body)*(i+1)/drips]); err != nil {
			return err
		}
	}
	return nil
}

var jsonType = []string{"application/json"}

// send writes a whole answer.
func send(w http.ResponseWriter, status int, body string) error {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, err := io.WriteString(w, body)
	return err
}

// reply returns the JSON of a reply. Its text must not need escaping.
func reply(text, finish string) string {
	return `{"id":"chatcmpl-0","object":"chat.completion","created":1700000000,"model":"test","choices":[{"index":0,` +
		`"message":{"role":"assistant","content":"` + text + `"},"finish_reason":"` + finish + `"}],` +
		`"usage":{"prompt_tokens":100,"completion_tokens":2,"total_tokens":102},"system_fingerprint":"fp_fault"}`
}

// trouble returns the JSON of an error.
func trouble(message, code string) string {
	return `{"error":{"message":"` + message + `","type":"` + code + `","param":null,"code":"` + code + `"}}`
}

// messages returns the bytes of the value of "messages" in a request. It scans only
// brackets and strings, because a server for benchmarks must be fast.
func messages(body []byte) ([]byte, bool) {
	const key = `"messages":`
	i := bytes.Index(body, []byte(key))
	if i < 0 {
		return nil, false
	}
	rest := body[i+len(key):]
	depth, quoted := 0, false
	for k := 0; k < len(rest); k++ {
		switch c := rest[k]; {
		case quoted && c == '\\':
			k++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return rest[:k+1], true
			}
		}
	}
	return nil, false
}
