package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"deem"
	"deem/internal/server"
	"deem/internal/usage"
	"deem/internal/words"
)

// A submission is a request to judge items, without the items. It is stored with the run,
// so that another server can resume it.
type submission struct {
	Judge       string `json:"judge,omitempty"`
	Declaration string `json:"declaration,omitempty"` // a declared judge, instead of the name of a judge
	Model       string `json:"model,omitempty"`
	Reading     string `json:"reading,omitempty"`
	Trials      int    `json:"trials,omitempty"`

	MaxCost *dollarSum `json:"max_cost,omitempty"`

	Dataset     string `json:"dataset,omitempty"`
	System      string `json:"system,omitempty"`
	SystemModel string `json:"system_model,omitempty"`

	Fresh         bool `json:"fresh,omitempty"`
	RetryUnjudged bool `json:"retry_unjudged,omitempty"`
}

// The limits of a submission.
const (
	maxTrials      = 100
	maxName        = 200
	maxDeclaration = 256 << 10
)

// A dollarSum is an amount in millionths of a dollar. In JSON it is a decimal number of
// dollars or a string with one. It is never converted to a float.
type dollarSum int64

// UnmarshalJSON accepts numbers and strings, such as 1.5 and "1.50".
func (d *dollarSum) UnmarshalJSON(raw []byte) error {
	text := string(raw)
	if len(raw) > 0 && raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
	}
	micros, err := words.ParseDollars(text)
	if err != nil {
		return fmt.Errorf("max_cost: %w", err)
	}
	*d = dollarSum(micros)
	return nil
}

// MarshalJSON writes a string, which keeps every digit.
func (d dollarSum) MarshalJSON() ([]byte, error) {
	return json.Marshal(fmt.Sprintf("%d.%06d", d/1_000_000, d%1_000_000))
}

// readSubmission reads the body of a request into the spool. Unless there is an error, the
// caller must release the spooled items.
func (s *Server) readSubmission(w http.ResponseWriter, r *http.Request, most int) (submission, spooled, error) {
	var sub submission
	body := &slowBody{Reader: r.Body, rc: http.NewResponseController(w), since: time.Now()}
	q := r.URL.Query()
	var read func(each func(raw []byte) error) error
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.EqualFold(strings.TrimSpace(kind), ndjson) {
		if err := sub.readQuery(q); err != nil {
			return sub, spooled{}, err
		}
		read = func(each func(raw []byte) error) error { return readLines(body, each) }
	} else {
		for _, name := range lineParameters {
			if q.Has(name) {
				return sub, spooled{}, server.BadRequest("%s stands in the address, and belongs into the body where that is JSON", name)
			}
		}
		// One item may be as long as the whole body.
		body.Reader = http.MaxBytesReader(w, r.Body, maxSubmission)
		read = func(each func(raw []byte) error) error { return sub.readJSON(body, each) }
	}
	d, err := s.spool.take(most, read)
	if err != nil {
		return sub, spooled{}, err
	}
	switch { // These values are invalid for every judge.
	case sub.Judge != "" && sub.Declaration != "":
		err = usage.Errorf("judge names a judge and declaration is one; give one of the two")
	case sub.Trials < 0 || sub.Trials > maxTrials:
		err = usage.Errorf("trials is %d, and must be from 1 to %d", sub.Trials, maxTrials)
	case len(sub.Declaration) > maxDeclaration:
		err = usage.Errorf("the declaration has %d bytes, and may have %d", len(sub.Declaration), maxDeclaration)
	case max(len(sub.Dataset), len(sub.System), len(sub.SystemModel), len(sub.Judge), len(sub.Model), len(sub.Reading)) > maxName:
		err = usage.Errorf("a name has more than %d bytes", maxName)
	}
	if err != nil {
		s.spool.release(d, s.unfinished)
		return sub, spooled{}, err
	}
	return sub, d, nil
}

// minRate is the minimum average rate of a body in bytes per second, after the first
// minute.
const minRate = 1 << 10

// errStalled is returned if a body arrives too slowly or not at all.
var errStalled = server.WithStatus(http.StatusRequestTimeout, deem.WithHint(errors.New("the body of the request stalled"),
	"send the items faster than %d bytes per second, or in smaller requests", minRate))

// A slowBody allows a large body more time than [server.ReadTimeout], as long as it keeps
// arriving.
type slowBody struct {
	io.Reader
	rc    *http.ResponseController
	since time.Time
	n     int64
}

func (b *slowBody) Read(p []byte) (int, error) {
	until := b.since.Add(server.ReadTimeout + time.Duration(b.n)*time.Second/minRate)
	if least := time.Now().Add(server.ReadTimeout); until.After(least) {
		until = least
	}
	// Writers in tests do not support deadlines. The response needs time after the last
	// byte.
	_ = b.rc.SetReadDeadline(until)
	_ = b.rc.SetWriteDeadline(until.Add(server.WriteTimeout))
	n, err := b.Reader.Read(p)
	b.n += int64(n)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errStalled
	}
	return n, err
}

// readJSON reads an object. It calls each for one item at a time, wherever the items are in
// the object, so that they are never all in memory.
func (sub *submission) readJSON(body io.Reader, each func(raw []byte) error) error {
	dec := json.NewDecoder(body)
	if err := expect(dec, '{'); err != nil {
		return err
	}
	rest, seen := map[string]json.RawMessage{}, map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return noJSON(err)
		}
		key, _ := token.(string) // The keys of an object are strings.
		if seen[key] {
			return server.BadRequest("the field %q stands twice in the body", key)
		}
		seen[key] = true
		if key != "items" {
			var raw json.RawMessage
			if err := dec.Decode(&raw); err != nil {
				return noJSON(err)
			}
			rest[key] = raw
			continue
		}
		if err := expect(dec, '['); err != nil {
			return err
		}
		for dec.More() {
			var raw json.RawMessage
			if err := dec.Decode(&raw); err != nil {
				return noJSON(err)
			}
			if err := each(raw); err != nil {
				return err
			}
		}
		if err := expect(dec, ']'); err != nil {
			return err
		}
	}
	if err := expect(dec, '}'); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return server.BadRequest("something follows behind the body")
	}
	text, err := json.Marshal(rest)
	if err != nil {
		return noJSON(err)
	}
	return usage.Mark(decodeStrictly(text, sub, "the body", "items"))
}

// expect reads a bracket, and returns an error if the next token is a different one.
func expect(dec *json.Decoder, want json.Delim) error {
	got, err := dec.Token()
	switch {
	case errors.Is(err, io.EOF) && dec.InputOffset() == 0:
		return server.BadRequest("the body is empty")
	case err != nil:
		return noJSON(err)
	case got != want && want == '[':
		return server.BadRequest("items is a list of items")
	case got != want:
		return server.BadRequest("the body is not a JSON object")
	}
	return nil
}

// noJSON returns the error for a body that is not JSON. A body that is too long or that
// stalled keeps its own error.
func noJSON(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok || errors.Is(err, errStalled) {
		return err
	}
	return usage.Errorf("the body is not JSON: %w", err)
}

// lineParameters replace the members of a submission if its body contains only items.
var lineParameters = []string{"judge", "model", "reading", "trials", "max_cost", "dataset", "system", "system_model", "fresh", "retry_unjudged"}

// readQuery reads the submission from the query if the body contains only items.
func (sub *submission) readQuery(q url.Values) error {
	sub.Judge, sub.Model, sub.Reading = q.Get("judge"), q.Get("model"), q.Get("reading")
	sub.Dataset, sub.System, sub.SystemModel = q.Get("dataset"), q.Get("system"), q.Get("system_model")
	if text := q.Get("trials"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return server.BadRequest("trials is a number from 1, not %q", text)
		}
		sub.Trials = n
	}
	if text := q.Get("max_cost"); text != "" {
		micros, err := words.ParseDollars(text)
		if err != nil {
			return usage.Mark(fmt.Errorf("max_cost: %w", err))
		}
		sub.MaxCost = (*dollarSum)(&micros)
	}
	for name, to := range map[string]*bool{"fresh": &sub.Fresh, "retry_unjudged": &sub.RetryUnjudged} {
		switch text := q.Get(name); text {
		case "", "false":
		case "true":
			*to = true
		default:
			return server.BadRequest("%s is true or false, not %q", name, text)
		}
	}
	return nil
}

// readLines calls each for every line of a body that is not blank. A line is an item.
func readLines(body io.Reader, each func(raw []byte) error) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := lines.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\uFEFF")) // the byte order mark of some programs
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := each(line); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return server.WithStatus(http.StatusRequestEntityTooLarge, fmt.Errorf("line %d has more than %d bytes", n+1, maxLine))
	}
	return lines.Err()
}
