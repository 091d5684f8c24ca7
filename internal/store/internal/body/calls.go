package body

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"deem"
)

// A Call is a [deem.Call] as a store keeps it within its record. What its reply says is
// kept elsewhere and has a number there, or is kept here.
type Call struct {
	Model   string `json:"model"`
	Request string `json:"request"`
	Started *int64 `json:"started"` // nanoseconds since 1970; the zero time has none
	Error   string `json:"error"`
	Tries   int    `json:"tries"` // of a call that failed

	Number int64           `json:"reply"` // of the reply
	Key    string          `json:"key"`   // of a reply that is kept here
	Body   json.RawMessage `json:"body"`  // of the same

	Latency  int64 `json:"latency"`
	Attempts int   `json:"attempts"`
	Cost     int64 `json:"cost_micros"`
	Unpriced bool  `json:"unpriced"`
	Cached   bool  `json:"cached"`
}

// AppendCall appends the JSON of a call: of one whose reply has a number, or of one whose
// reply, if there is any, has the body. But for model and request, a value that is 0 or ""
// is left out.
func AppendCall(b []byte, c *deem.Call, number int64, body string) []byte {
	b = append(b, `{"model":`...)
	b = AppendText(b, c.Model)
	b = append(b, `,"request":`...)
	b = AppendText(b, c.Request)
	if !c.Started.IsZero() {
		b = strconv.AppendInt(append(b, `,"started":`...), c.Started.UnixNano(), 10)
	}
	b = appendName(b, `,"error":`, c.Error)
	b = appendCount(b, `,"tries":`, int64(c.Attempts))
	if r := c.Reply; r != nil {
		b = appendReply(b, r, number, body)
	}
	return append(b, '}')
}

// appendReply appends what a call says of its reply.
func appendReply(b []byte, r *deem.Reply, number int64, body string) []byte {
	b = appendCount(b, `,"reply":`, number)
	if number == 0 {
		b = appendName(b, `,"key":`, r.Key)
		b = append(append(b, `,"body":`...), body...)
	}
	b = appendCount(b, `,"latency":`, int64(r.Latency))
	b = appendCount(b, `,"attempts":`, int64(r.Attempts))
	b = appendCount(b, `,"cost_micros":`, r.CostMicros)
	if r.Unpriced {
		b = append(b, `,"unpriced":true`...)
	}
	if r.Cached {
		b = append(b, `,"cached":true`...)
	}
	return b
}

func appendCount(b []byte, name string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), n, 10)
}

func appendName(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return AppendText(append(b, name...), text)
}

// AppendText appends the JSON of a text, with U+FFFD for each byte that is no UTF-8.
func AppendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendEscaped(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

func appendEscaped(b []byte, s string) []byte {
	text, err := Encode(s)
	if err != nil {
		panic("body: a text has no JSON: " + err.Error()) // Every text has.
	}
	return append(b, text...)
}

// DecodeCalls reads the calls of a record.
func DecodeCalls(text string) ([]Call, error) {
	var calls []Call
	c := cursor{rest: text}
	c.list(func() {
		var one Call
		c.object(func(key string) { c.member(&one, key) })
		calls = append(calls, one)
	})
	if !c.bad && c.rest == "" {
		return calls, nil
	}
	calls = nil
	err := Decode(text, &calls)
	return calls, err
}

// member reads what a key of a call stands for.
func (c *cursor) member(one *Call, key string) {
	switch key {
	case "model":
		one.Model = c.text()
	case "request":
		one.Request = c.text()
	case "started":
		one.Started = new(int64(c.integer()))
	case "error":
		one.Error = c.text()
	case "tries":
		one.Tries = c.integer()
	case "reply":
		one.Number = int64(c.integer())
	case "latency":
		one.Latency = int64(c.integer())
	case "attempts":
		one.Attempts = c.integer()
	case "cost_micros":
		one.Cost = int64(c.integer())
	default: // Also what few calls have.
		c.bad = true
	}
}

// Call returns the call. A reply, if there is one, says what it is given and has the key.
func (c *Call) Call(said *deem.Reply, key string) deem.Call {
	call := deem.Call{Model: c.Model, Request: c.Request, Error: c.Error, Attempts: c.Tries}
	if c.Started != nil {
		call.Started = time.Unix(0, *c.Started).UTC()
	}
	if said != nil {
		said.Key, said.Latency, said.Attempts = key, time.Duration(c.Latency), c.Attempts
		said.CostMicros, said.Unpriced, said.Cached = c.Cost, c.Unpriced, c.Cached
		call.Reply = said
	}
	return call
}
