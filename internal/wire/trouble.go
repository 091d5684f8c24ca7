package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"deem/internal/words"
)

// A Trouble is the content of an error. Its texts have no secrets.
type Trouble struct {
	Status     int    // of HTTP, or that of the server behind a router
	Message    string // "" if the body was empty
	Type       string // "type" on the wire
	Code       string
	Inner      string   // Azure's inner code
	State      string   // Google's "status"
	Param      string   // the field of the request that caused it
	Reasons    []string // Google's reasons in "details"
	Structured bool     // it is the JSON of an API, and not from a web server

	// RetryAfter is the wait that the body requests, as Google's does; 0 if none.
	RetryAfter time.Duration

	// Hint is the vendor's own advice; "" means the usual, if the run stops.
	Hint string
}

// Is reports whether any field has one of the codes: some servers put the code where others
// have the type.
func (t Trouble) Is(codes ...string) bool {
	for _, c := range codes {
		if c != "" && (c == t.Code || c == t.Type || c == t.Inner || c == t.State || slices.Contains(t.Reasons, c)) {
			return true
		}
	}
	return false
}

// Says reports whether the message contains any of the texts, ignoring case.
func (t Trouble) Says(texts ...string) bool {
	message := strings.ToLower(t.Message)
	return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(message, strings.ToLower(s)) })
}

// maxTrouble is how much of the body of an error is read.
const maxTrouble = 1 << 20

// ErrorText returns the body of an unsuccessful answer without secrets. It is redacted
// before it is shortened to a line: otherwise the line could end in half a key.
func (c *Client) ErrorText(a Answer) string {
	return c.secrets.redact(string(a.Text[:min(len(a.Text), maxTrouble)]))
}

// Trouble parses an unsuccessful answer.
func (c *Client) Trouble(a Answer) Trouble {
	t := readTrouble(c.ErrorText(a))
	t.Status = a.Status
	if a.Status < 300 {
		// A router passes on the error of an upstream server.
		t.Status = http.StatusBadGateway
		if n, err := strconv.Atoi(t.Code); err == nil && n >= 400 && n <= 599 {
			t.Status = n
		}
	}
	return t
}

// readTrouble parses the body of an error in any of the formats that servers use:
//
//	{"error": {"message", "type", "param", "code"}}       OpenAI, Azure, llama.cpp
//	{"error": {"message", "status", "code", "details"}}   Google
//	{"type": "error", "error": {"type", "message"}}       Anthropic
//	{"error": "text"}                                     Ollama, TGI
//	{"object": "error", "message", "type", "code"}        vLLM
//	{"detail": "text"} or {"detail": [{"loc", "msg"}]}    FastAPI
//	{"statusCode", "message"}                             API gateways
//	[{"error": {...}}]                                    Google
//
// or else as text, of which it takes the first line.
func readTrouble(text string) Trouble {
	body := []byte(text)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
		flat
	}
	if json.Unmarshal(body, &outer) != nil {
		return Trouble{Message: OneLine(body)}
	}
	t := outer.trouble()
	var inner flat
	var message string
	switch {
	case Present(outer.Error) && json.Unmarshal(outer.Error, &inner) == nil:
		t = inner.trouble()
	case Present(outer.Error) && json.Unmarshal(outer.Error, &message) == nil:
		t = Trouble{Message: OneLine([]byte(message)), Structured: true}
	case Present(outer.Error):
		t = Trouble{Message: OneLine(outer.Error)}
	case Present(outer.Detail):
		t.Message = readDetail(outer.Detail)
	}
	if t.Message == "" {
		t.Message = OneLine(body)
	}
	return t
}

// Present reports whether a field is present and not null.
func Present(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null"
}

// A flat is an error with all fields at the top level.
type flat struct {
	Message string          `json:"message"`
	Type    any             `json:"type"`
	Code    any             `json:"code"`
	Param   any             `json:"param"`
	State   any             `json:"status"`
	Details json.RawMessage `json:"details"`
	Inner   struct {
		Code any `json:"code"`
	} `json:"innererror"`
}

func (f flat) trouble() Trouble {
	t := Trouble{
		Message:    OneLine([]byte(f.Message)),
		Type:       word(f.Type),
		Code:       word(f.Code),
		Inner:      word(f.Inner.Code),
		State:      word(f.State),
		Param:      word(f.Param),
		Structured: f.Message != "",
	}
	// Google has a list of details. Other servers may put anything there.
	var details []struct {
		Reason     string `json:"reason"`
		RetryDelay string `json:"retryDelay"`
	}
	if json.Unmarshal(f.Details, &details) != nil {
		return t
	}
	for _, d := range details {
		if d.Reason != "" {
			t.Reasons = append(t.Reasons, OneLine([]byte(d.Reason)))
		}
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			t.RetryAfter = wait
		}
	}
	return t
}

// word returns a code that may be a string, a number or null.
func word(v any) string {
	if v == nil {
		return ""
	}
	return OneLine(fmt.Append(nil, v))
}

// readDetail parses the value of "detail", which is a string or a list of problems with
// their locations.
func readDetail(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return OneLine([]byte(text))
	}
	var list []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return OneLine(raw)
	}
	var parts []string
	for _, l := range list {
		var path []string
		for _, step := range l.Loc {
			path = append(path, fmt.Sprint(step))
		}
		parts = append(parts, strings.Join(path, ".")+": "+l.Msg)
	}
	return OneLine([]byte(strings.Join(parts, "; ")))
}

// maxLine is how much of a server's text goes into an error.
const maxLine = 300

var (
	hidden = regexp.MustCompile(`(?is)<(script|style|head)\b.*?</(script|style|head)\s*>`)
	title  = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	tag    = regexp.MustCompile(`<[^>]*>`)
)

// OneLine returns the gist of a text in one line, at most maxLine characters: the title of
// a web page, or else the words.
func OneLine(body []byte) string {
	text := string(body[:min(len(body), 16<<10)])
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		if t := title.FindStringSubmatch(text); t != nil && strings.TrimSpace(t[1]) != "" {
			text = t[1]
		} else {
			text = tag.ReplaceAllString(hidden.ReplaceAllString(text, " "), " ")
		}
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	return words.Clip(text, maxLine)
}
