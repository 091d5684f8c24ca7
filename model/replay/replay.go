// Package replay provides a model that answers from a file, and a model that writes such a
// file, so that a run can be repeated without a key.
//
// The file contains a JSON object on each line, in one of these forms:
//
//	{"request": "9f86...", "reply": {"text": "yes", "stop": "end", ...}}
//	{"prompt": "Is it so?", "text": "yes"}
//	{"contains": "capital of France", "text": "no"}
//
// A line answers the request with that hash, every request whose last user message is that
// prompt, or every request whose last user message contains that text. [Recorder] writes
// the first form; the others are for people. If several lines match, a request goes before
// a prompt and a prompt before a part of it; among parts, the first line wins.
package replay

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"deem"
)

// A tape answers from recorded replies. It is safe for concurrent use.
type tape struct {
	name     string
	requests map[string]deem.Reply
	prompts  map[string]deem.Reply
	parts    []part
}

var _ deem.Model = (*tape)(nil)

// A part is a text that prompts may contain, with its reply.
type part struct {
	text  string
	reply deem.Reply
}

// Open reads the recorded replies of a file into memory. Errors name the lines.
func Open(path string) (deem.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open replay: %w", err)
	}
	defer f.Close() //nolint:errcheck // the file was only read
	return Read("replay:"+path, path, f)
}

// Read reads recorded replies from r. The model gets the given name, and errors
// name the given file.
func Read(name, file string, r io.Reader) (deem.Model, error) {
	m := &tape{name: name, requests: make(map[string]deem.Reply), prompts: make(map[string]deem.Reply)}
	var problems deem.Problems
	br := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		text, err := br.ReadBytes('\n')
		if len(bytes.TrimSpace(text)) > 0 {
			if err := m.add(text); err != nil {
				problems.Add(deem.Problem{File: file, Line: n, Message: err.Error()})
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read %s:%d: %w", file, n, err)
		}
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return m, nil
}

type line struct {
	Request  string      `json:"request,omitempty"`
	Prompt   *string     `json:"prompt,omitempty"`
	Contains string      `json:"contains,omitempty"`
	Reply    *deem.Reply `json:"reply,omitempty"`
	Text     *string     `json:"text,omitempty"`
}

func (m *tape) add(text []byte) error {
	var l line
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("text after the end of the object")
	}
	keys := 0
	for _, given := range []bool{l.Request != "", l.Prompt != nil, l.Contains != ""} {
		if given {
			keys++
		}
	}
	switch {
	case keys != 1:
		return errors.New(`a line needs exactly one of "request", "prompt" and "contains"`)
	case (l.Reply == nil) == (l.Text == nil):
		return errors.New(`a line needs either "reply" or "text"`)
	case l.Request != "" && (len(l.Request) != 64 || strings.Trim(l.Request, "0123456789abcdef") != ""):
		return fmt.Errorf("request %q is not a SHA-256 in hexadecimal", l.Request)
	}
	reply := deem.Reply{}
	if l.Reply != nil {
		reply = *l.Reply
	} else {
		reply.Text = *l.Text
	}
	reply.Stop = cmp.Or(reply.Stop, deem.StopEnd)
	// It has one attempt and no cost, and nothing is sent now.
	reply.Attempts, reply.CostMicros, reply.Unpriced = 1, 0, false
	reply.Cached, reply.Key, reply.Sent, reply.Dropped = false, "", "", ""
	switch {
	case l.Request != "":
		m.requests[l.Request] = reply // a later recording replaces an earlier one
	case l.Prompt != nil:
		if _, ok := m.prompts[*l.Prompt]; ok {
			return errors.New("this prompt was answered on an earlier line")
		}
		m.prompts[*l.Prompt] = reply
	default:
		m.parts = append(m.parts, part{text: l.Contains, reply: reply})
	}
	return nil
}

// Name returns "replay:" and the path.
func (m *tape) Name() string { return m.name }

// Complete returns the recorded reply to req. A request that was not recorded fails only
// its item.
func (m *tape) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if err := ctx.Err(); err != nil {
		return deem.Reply{}, err
	}
	if len(m.requests) > 0 {
		if reply, ok := m.requests[req.Hash()]; ok {
			return reply, nil
		}
	}
	prompt := "" // the last user message
	for _, msg := range req.Messages {
		if msg.Role == "user" {
			prompt = msg.Content
		}
	}
	if reply, ok := m.prompts[prompt]; ok {
		return reply, nil
	}
	for _, p := range m.parts {
		if strings.Contains(prompt, p.text) {
			return p.reply, nil
		}
	}
	err := deem.WithHint(errors.New("no reply recorded for this request"),
		"its hash is %s; a changed prompt, parameter or trial is another request", req.Hash())
	return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Err: err}
}
