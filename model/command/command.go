// Package command calls judges and models that are the user's own programs, in any
// language. A program reads requests from its standard input and writes replies to its
// standard output, one JSON object per line.
//
// The first line that a program writes is its hello:
//
//	{"deem": 1, "kind": "judge", "name": "my-grader", "version": "3"}
//
// A judge is then sent items, one at a time, and answers each with a verdict or a failure:
//
//	-> {"id": 1, "item": {"id": "q17", "question": "...", "references": ["..."], "response": "..."}}
//	<- {"id": 1, "label": "yes", "score": 1, "reason": "same year"}
//	<- {"id": 1, "failure": {"kind": "unsure", "detail": "no year in the response"}}
//
// A model ("kind": "model") is sent requests and answers with text:
//
//	-> {"id": 1, "request": {"messages": [{"role": "user", "content": "..."}], "temperature": 0}}
//	<- {"id": 1, "text": "yes", "usage": {"input": 12, "output": 1}}
//	<- {"id": 1, "error": "the model declined", "kind": "refused"}
//
// Standard error is the program's log. If a program exits, answers with anything else, or
// does not answer in time, the current item fails, and the next item gets a new process.
// [Server] sends the same objects over HTTP.
package command

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"deem"
	"deem/internal/wire"
)

// itemRole is the role of the message that contains an item as JSON. A judge program gets
// one such message.
const itemRole = "item"

// protocol is the version of the protocol.
const protocol = 1

// The defaults of [Options].
const (
	defaultProcesses = 8
	defaultTimeout   = 2 * time.Minute
	defaultStart     = 5 * time.Second
	defaultMaxReply  = 1 << 20
)

// Options configure which program is called and how.
type Options struct {
	Command   []string          // the program and its arguments
	Processes int               // maximum number of processes; 0 means 8
	Timeout   time.Duration     // of one request; 0 means 2 minutes
	Start     time.Duration     // timeout of the hello; 0 means 5 seconds
	MaxReply  int               // maximum bytes of one line; 0 means 1 MiB
	Log       func(line string) // called with each line of standard error; nil drops them

	clean func([]byte) []byte // removes the secrets of the environment from the output
}

// hello is the self-description of a program or a server.
type hello struct {
	Deem    int    `json:"deem"` // the version of the protocol, 1
	Kind    string `json:"kind"` // "judge" or "model"
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
}

func parseHello(line []byte) (hello, error) {
	var h hello
	if err := json.Unmarshal(line, &h); err != nil || h.Deem == 0 {
		return h, deem.WithHint(fmt.Errorf("the first line is not a hello: %s", clip(line)),
			`the first line must be {"deem": 1, "kind": "judge", "name": "...", "version": "..."}; write logs to standard error`)
	}
	switch {
	case h.Deem != protocol:
		return h, fmt.Errorf("it speaks version %d of the protocol, and deem speaks version %d", h.Deem, protocol)
	case h.Kind != "judge" && h.Kind != "model":
		return h, fmt.Errorf(`its hello says "kind": %q, which is neither "judge" nor "model"`, h.Kind)
	}
	return h, nil
}

// check rejects a request that is not for this kind of program.
func (h hello) check(req deem.Request) error {
	isItem := len(req.Messages) == 1 && req.Messages[0].Role == itemRole
	switch {
	case isItem && h.Kind == "model":
		return deem.WithHint(errors.New("it is a model and not a judge"), "name it with --model instead, and add a judge that asks a model: --judge universal")
	case !isItem && h.Kind == "judge":
		return deem.WithHint(errors.New("it is a judge and not a model"), "name it with --judge")
	}
	return nil
}

// settings returns the identity of the program as a URL query.
func (h hello) settings(more url.Values) string {
	if h.Version != "" {
		more.Set("version", h.Version)
	}
	return more.Encode()
}

// A program is a model whose processes are started on demand. It is safe for concurrent
// use.
type program struct {
	o        Options
	hello    hello
	settings string
	slots    chan struct{} // held by each request that has a process

	mu      sync.Mutex
	idle    []*process
	crashes int // consecutive processes without a reply
	closed  bool
}

var (
	_ deem.Tuned = (*program)(nil)
	_ io.Closer  = (*program)(nil)
)

// Open starts the program once and reads its hello. If it cannot be started, the error
// contains the program's own message.
func Open(ctx context.Context, o Options) (deem.Model, error) {
	if len(o.Command) == 0 || o.Command[0] == "" {
		return nil, deem.WithHint(errors.New("no command is named"), "name a program, as command:./grade.py")
	}
	o.Processes = cmp.Or(max(o.Processes, 0), defaultProcesses)
	o.Timeout = cmp.Or(max(o.Timeout, 0), defaultTimeout)
	o.Start = cmp.Or(max(o.Start, 0), defaultStart)
	o.MaxReply = cmp.Or(max(o.MaxReply, 0), defaultMaxReply)
	if o.Log == nil {
		o.Log = func(string) {}
	}
	o.clean = wire.RedactEnv(os.Environ())
	p, err := start(ctx, o)
	if err != nil {
		return nil, err
	}
	facts, err := fingerprint(o.Command)
	if err != nil {
		p.abort()
		return nil, err
	}
	return &program{
		o: o, hello: p.hello, settings: p.hello.settings(facts),
		slots: make(chan struct{}, o.Processes), idle: []*process{p},
	}, nil
}

// fingerprint returns the arguments as typed, and the hash of the files among them. An
// interpreter found by its name alone is not hashed.
func fingerprint(command []string) (url.Values, error) {
	facts := url.Values{"command": {strings.Join(command, " ")}}
	sum, files := sha256.New(), 0
	for i, arg := range command {
		if i == 0 && !strings.ContainsAny(arg, `/\`) {
			continue
		}
		info, err := os.Stat(arg)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		f, err := os.Open(arg)
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(sum, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("read %s: %w", arg, err)
		}
		files++
	}
	if files > 0 {
		facts.Set("sha256", hex.EncodeToString(sum.Sum(nil)))
	}
	return facts, nil
}

// Name returns "command:" and the name in the hello, or that of the program's file.
func (m *program) Name() string {
	if m.hello.Name != "" {
		return "command:" + m.hello.Name
	}
	return "command:" + filepath.Base(m.o.Command[0])
}

// Settings returns the command, the hash of its files and the version in the hello.
func (m *program) Settings() string { return m.settings }

// Complete calls the program.
func (m *program) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if err := m.hello.check(req); err != nil {
		return deem.Reply{}, m.fatal(err)
	}
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return deem.Reply{}, ctx.Err()
	}
	p, err := m.take(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return deem.Reply{}, ctx.Err()
		}
		return deem.Reply{}, m.fatal(err)
	}
	object, err := p.ask(ctx, req, m.o.Timeout)
	if err != nil {
		p.abort()
		m.note(false)
		if ctx.Err() != nil {
			return deem.Reply{}, ctx.Err()
		}
		return deem.Reply{}, err
	}
	m.note(true)
	m.mu.Lock()
	closed := m.closed
	if !closed {
		m.idle = append(m.idle, p) // for the next request
	}
	m.mu.Unlock()
	if closed {
		p.stop()
	}
	return parseReply(m.hello.Kind, object)
}

// fatal returns an error after which no request can succeed.
func (m *program) fatal(err error) error {
	return deem.WithHint(&deem.ModelError{Kind: deem.Provider, Fatal: true, Err: fmt.Errorf("%s: %w", m.Name(), err)}, "%s",
		cmp.Or(deem.HintOf(err), "run the program by hand: it must write its hello line first"))
}

// restarts is how many times a failed start is retried. The program has started before, so
// the cause, such as a signal, may be transient.
const restarts = 3

// take returns an idle process, or starts one. After crashes it waits first, longer each
// time.
func (m *program) take(ctx context.Context) (*process, error) {
	m.mu.Lock()
	if n := len(m.idle); n > 0 {
		p := m.idle[n-1]
		m.idle = m.idle[:n-1]
		m.mu.Unlock()
		return p, nil
	}
	m.mu.Unlock()
	for failed := 0; ; failed++ {
		m.mu.Lock()
		crashes := m.crashes
		m.mu.Unlock()
		if crashes > 1 {
			wait := min(50*time.Millisecond<<min(crashes-2, 10), 5*time.Second)
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		p, err := start(ctx, m.o)
		if err == nil || ctx.Err() != nil || failed == restarts {
			return p, err
		}
		m.note(false)
	}
}

// note counts the consecutive processes that ended without a reply.
func (m *program) note(replied bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if replied {
		m.crashes = 0
	} else {
		m.crashes++
	}
}

// Close ends the processes: it closes their input, and kills those that do not exit.
func (m *program) Close() error {
	m.mu.Lock()
	idle := m.idle
	m.idle, m.closed = nil, true
	m.mu.Unlock()
	var all sync.WaitGroup
	for _, p := range idle {
		all.Go(p.stop)
	}
	all.Wait()
	return nil
}

func encode(id int, req deem.Request) ([]byte, error) {
	line := struct {
		ID      int             `json:"id,omitempty"`
		Item    json.RawMessage `json:"item,omitempty"`
		Trial   int             `json:"trial,omitempty"`
		Request *deem.Request   `json:"request,omitempty"`
	}{ID: id, Trial: req.Trial}
	if len(req.Messages) == 1 && req.Messages[0].Role == itemRole {
		line.Item = json.RawMessage(req.Messages[0].Content)
	} else {
		req.Trial = 0
		line.Request = &req
	}
	text, err := wire.Encode(line)
	return append(text, '\n'), err
}

// An object is an answer of a program: a JSON object without duplicate keys.
type object map[string]json.RawMessage

// errTwice is the error for a duplicate key. Which of the two values counts would depend on
// the reader.
var errTwice = errors.New("a key stands twice in one object")

// UnmarshalJSON implements [json.Unmarshaler].
func (o *object) UnmarshalJSON(text []byte) error {
	if err := checkKeys(json.NewDecoder(bytes.NewReader(text))); err != nil {
		return err
	}
	return json.Unmarshal(text, (*map[string]json.RawMessage)(o))
}

// checkKeys reads a value and returns an error if an object in it has two keys that differ at
// most in case, which [json.Unmarshal] ignores.
func checkKeys(d *json.Decoder) error {
	t, err := d.Token()
	delim, ok := t.(json.Delim)
	if err != nil || !ok {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		if delim == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name := strings.ToLower(fmt.Sprint(key))
			if seen[name] {
				return fmt.Errorf("%w: %q", errTwice, key)
			}
			seen[name] = true
		}
		if err := checkKeys(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// parseReply converts the program's answer, without its id, to a reply. The text of a
// judge's reply is the object itself.
func parseReply(kind string, object object) (deem.Reply, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return deem.Reply{}, bad(deem.Unparseable, "%v", err)
	}
	if kind == "judge" {
		return deem.Reply{Text: string(text), Stop: deem.StopEnd}, nil
	}
	var said struct {
		Text  *string     `json:"text"`
		Stop  deem.Stop   `json:"stop"`
		Model string      `json:"model"`
		Usage *deem.Usage `json:"usage"`
		Error string      `json:"error"`
		Kind  deem.Kind   `json:"kind"`
	}
	switch err := json.Unmarshal(text, &said); {
	case err != nil:
		return deem.Reply{}, bad(deem.Provider, "the reply is not what a model answers: %v", err)
	case said.Error != "":
		if said.Kind != deem.Refused && said.Kind != deem.Timeout {
			said.Kind = deem.Provider
		}
		return deem.Reply{}, bad(said.Kind, "%s", clip([]byte(said.Error)))
	case said.Text == nil:
		return deem.Reply{}, bad(deem.Provider, `the reply has neither "text" nor "error": %s`, clip(text))
	}
	reply := deem.Reply{Text: *said.Text, Stop: cmp.Or(said.Stop, deem.StopEnd), Model: said.Model}
	if said.Usage != nil {
		reply.Usage = *said.Usage
	}
	return reply, nil
}

// bad returns an error of one request.
func bad(kind deem.Kind, format string, args ...any) error {
	return &deem.ModelError{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// clip returns the beginning of a line, for errors.
func clip(line []byte) string {
	const most = 200
	line = bytes.TrimSpace(line)
	if len(line) > most {
		return strings.ToValidUTF8(string(line[:most]), "") + "..."
	}
	return string(line)
}
