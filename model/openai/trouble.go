package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A trouble is what the body of an error says.
type trouble struct {
	message    string
	kind       string // "type" on the wire
	code       string
	inner      string // Azure's inner code
	param      string
	structured bool // it came as the JSON of an API, and not from a web server
}

// is reports whether the trouble is named by any of the codes. Some servers put
// the code where OpenAI has the type.
func (t trouble) is(codes []string) bool {
	return slices.Contains(codes, t.code) || slices.Contains(codes, t.kind) || slices.Contains(codes, t.inner)
}

// badKey reports whether the key is at fault. Google says so with a 400 and in
// words only.
func (t trouble) badKey() bool {
	return t.is(keyCodes) || strings.HasPrefix(t.message, "API key not valid")
}

// tooLong reports whether the request is longer than it can ever be. Some say so
// in words only.
func (t trouble) tooLong() bool {
	return t.is(lengthCodes) || strings.Contains(t.message, "maximum context length") || strings.HasPrefix(t.message, "Request too large")
}

// status returns the HTTP status that the code is, or the other one.
func (t trouble) status(other int) int {
	if n, err := strconv.Atoi(t.code); err == nil && n >= 400 && n <= 599 {
		return n
	}
	return other
}

// text returns the message, or the name of the status when there is none.
func (t trouble) text(status int) string {
	if t.message != "" {
		return t.message
	}
	if name := http.StatusText(status); name != "" {
		return strings.ToLower(name)
	}
	return "no explanation"
}

// readTrouble reads the body of an error in any of the forms that servers use:
//
//	{"error": {"message", "type", "param", "code"}}   OpenAI, Azure, llama.cpp
//	{"error": "text"}                                 Ollama, TGI
//	{"object": "error", "message", "type", "code"}    vLLM
//	{"detail": "text"} or {"detail": [{"loc", "msg"}]}  FastAPI
//	{"statusCode", "message"}                         API gateways
//	[{"error": {...}}]                                Google
//
// or else as text, of which the first line counts.
func readTrouble(text string) trouble {
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
		return trouble{message: oneLine(body)}
	}
	t := outer.trouble()
	switch {
	case present(outer.Error):
		t = readError(outer.Error)
	case present(outer.Detail):
		t.message = readDetail(outer.Detail)
	}
	if t.message == "" {
		t.message = oneLine(body)
	}
	return t
}

// present reports whether a field was there and not null.
func present(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null"
}

// A flat is an error whose fields lie side by side.
type flat struct {
	Message string `json:"message"`
	Type    any    `json:"type"`
	Code    any    `json:"code"`
	Param   any    `json:"param"`
	Inner   struct {
		Code any `json:"code"`
	} `json:"innererror"`
}

func (f flat) trouble() trouble {
	return trouble{
		message:    oneLine([]byte(f.Message)),
		kind:       word(f.Type),
		code:       word(f.Code),
		inner:      word(f.Inner.Code),
		param:      word(f.Param),
		structured: f.Message != "",
	}
}

// word returns a code that may be text, a number or null.
func word(v any) string {
	if v == nil {
		return ""
	}
	return oneLine([]byte(fmt.Sprint(v)))
}

// readError reads the value of "error", which is an object or a text.
func readError(raw json.RawMessage) trouble {
	var f flat
	if json.Unmarshal(raw, &f) == nil {
		return f.trouble()
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return trouble{message: oneLine([]byte(text)), structured: true}
	}
	return trouble{message: oneLine(raw)}
}

// readDetail reads the value of "detail", which is a text or a list of what is
// wrong where.
func readDetail(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return oneLine([]byte(text))
	}
	var list []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return oneLine(raw)
	}
	var parts []string
	for _, l := range list {
		var path []string
		for _, step := range l.Loc {
			path = append(path, fmt.Sprint(step))
		}
		parts = append(parts, strings.Join(path, ".")+": "+l.Msg)
	}
	return oneLine([]byte(strings.Join(parts, "; ")))
}

// maxLine is how much of a server's text goes into an error.
const maxLine = 300

var (
	hidden = regexp.MustCompile(`(?is)<(script|style|head)\b.*?</(script|style|head)\s*>`)
	title  = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	tag    = regexp.MustCompile(`<[^>]*>`)
)

// oneLine returns the gist of a text in one line: of a web page its title, else
// its words, at most maxLine bytes.
func oneLine(body []byte) string {
	text := string(body[:min(len(body), 16<<10)])
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		if t := title.FindStringSubmatch(text); t != nil && strings.TrimSpace(t[1]) != "" {
			text = t[1]
		} else {
			text = tag.ReplaceAllString(hidden.ReplaceAllString(text, " "), " ")
		}
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) <= maxLine {
		return text
	}
	cut := maxLine
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "..."
}
