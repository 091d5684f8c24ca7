// Package reader answers questions from the contexts that a memory system retrieved.
//
// A reader is the twin of a judge: a prompt with parameters, declared in YAML, that becomes
// usable with a model. If all systems are answered by the same reader, their scores differ
// by what they retrieved and not by the model that read it. A reader sees a [Question],
// which has no references, so the answer key cannot leak into a prompt.
//
// [Open] returns a built-in or declared reader, and [New] adds the model:
//
//	d, err := reader.Open("deem")
//	r := reader.New(d, model)
//	for rec, err := range deem.Run(ctx, items, judge, deem.Options{Reader: r}) { ... }
//
// Built in are deem's own reader and published ones, with prompts equal to their sources to
// the byte; NOTICE says where they come from.
package reader

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"deem"
	"deem/internal/text"
)

// A Spec is a reader as data: everything that determines an answer, and nothing else. Its
// hash is the hash of the reader, and the reader can be rebuilt from it.
type Spec struct {
	Declaration
	Model    string `json:"model"`
	Settings string `json:"settings,omitempty"` // of the model
}

// ParseSpec parses a stored spec.
func ParseSpec(text []byte) (Spec, error) {
	var s Spec
	if err := json.Unmarshal(text, &s); err != nil {
		return Spec{}, fmt.Errorf("read the spec of a reader: %w", err)
	}
	if err := s.check(); err != nil {
		return Spec{}, fmt.Errorf("read the spec of a reader: %w", err)
	}
	return s, nil
}

// A Reader is a declared reader with its model.
type Reader struct {
	decl  Declaration
	model deem.Model
}

// New returns a reader that asks the model m.
func New(d *Declaration, m deem.Model) *Reader { return &Reader{*d, m} }

// Name returns the name of the reader.
func (r *Reader) Name() string { return r.decl.Name }

// Identity returns the reader's [Spec].
func (r *Reader) Identity() any {
	return Spec{Declaration: r.decl, Model: r.model.Name(), Settings: deem.SettingsOf(r.model)}
}

// Answer asks the model the question of the item, and returns the item with the answer as
// its response. The response that the item had is not used.
func (r *Reader) Answer(ctx context.Context, it deem.Item) (deem.Item, error) {
	it.Response = ""
	q, err := QuestionOf(it)
	if err != nil {
		return it, err
	}
	req, err := r.decl.Request(q)
	if err != nil {
		return it, err
	}
	req.Trial = deem.TrialOf(ctx)
	reply, err := deem.Ask(ctx, r.model, req)
	if err != nil {
		return it, err
	}
	it.Response, err = r.decl.Read(reply)
	return it, err
}

// Request returns the request for a question.
func (d *Declaration) Request(q Question) (deem.Request, error) {
	shown, err := d.fill(q)
	if err != nil {
		return deem.Request{}, err
	}
	req := deem.Request{Temperature: d.Params.Temperature, MaxTokens: d.Params.MaxTokens, Optional: []string{"temperature"}}
	for _, m := range d.Messages {
		req.Messages = append(req.Messages, deem.Message{
			Role:    m.Role,
			Content: m.replace(func(name string) string { return shown[d.valueOf(name)] }),
		})
	}
	return req, nil
}

// fill returns the values that the prompt may show.
func (d *Declaration) fill(q Question) (map[string]string, error) {
	shown := map[string]string{"question": q.Text, "date": cmp.Or(q.Date, d.Undated)}
	if shown["date"] != "" {
		shown["dated"] = fillText(d.Dated, shown)
	}
	if d.Asked != "" {
		shown["question"] = fillText(d.Asked, shown)
	}
	for i, name := range q.Speakers {
		if i < 2 {
			shown[fmt.Sprintf("speaker_%d", i+1)] = name
		}
	}
	joined := len(q.Contexts) == 1 && q.Contexts[0].Joined
	if d.Contexts.Speakers {
		if joined || len(q.Speakers) < 2 {
			return nil, deem.Failf(deem.Input, "reader %s needs the memories of each of two speakers", d.Name)
		}
		half := d.Contexts
		half.Tokens /= 2
		first, second := bySpeaker(q)
		for i, list := range [][]Context{first, second} {
			text, _, err := half.join(list)
			if err != nil {
				return nil, deem.Failf(deem.Input, "%v", err)
			}
			shown[fmt.Sprintf("speaker_%d_contexts", i+1)] = text
		}
	}
	text, _, err := d.Contexts.join(q.Contexts)
	if err != nil {
		return nil, deem.Failf(deem.Input, "%v", err)
	}
	if d.Contexts.Merge && joined {
		text = mergeHalves(text)
	}
	shown["contexts"] = text
	return shown, nil
}

// fillText fills a short template.
func fillText(template string, values map[string]string) string {
	return Message{Text: template, Syntax: "format"}.replace(func(name string) string { return values[name] })
}

// Joined returns the text of the contexts as the reader shows them, and how many passages
// were left out to meet the budget.
func (d *Declaration) Joined(q Question) (joined string, left int, err error) {
	return d.Contexts.join(q.Contexts)
}

// Read returns the answer that the reply gives. If it gives none, the error is a
// *[deem.Failure]: a question without an answer is not judged.
func (d *Declaration) Read(reply deem.Reply) (string, error) {
	if f := reply.Failure(); f != nil {
		return "", f
	}
	if reply.Stop == deem.StopLength {
		return "", deem.Failf(deem.Truncated, "the answer was cut off at its limit of tokens")
	}
	answer := reply.Text
	for d.Answer.Drop != "" {
		begin, rest, found := strings.Cut(answer, "<"+d.Answer.Drop+">")
		if !found {
			break
		}
		_, end, _ := strings.Cut(rest, "</"+d.Answer.Drop+">")
		answer = begin + end
	}
	if mark := d.Answer.After; mark != "" {
		at := strings.LastIndex(answer, mark)
		if d.Answer.First {
			at = strings.Index(answer, mark)
		}
		if at >= 0 {
			answer = answer[at+len(mark):]
		}
	}
	answer = text.Strip(answer)
	if answer == "" {
		return "", deem.Failf(deem.Empty, "the reply has no answer")
	}
	return answer, nil
}
