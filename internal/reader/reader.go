// Package reader answers questions from the contexts that a memory system retrieved.
//
// A reader is the twin of a judge: a prompt with parameters, declared in YAML, that becomes
// usable with a model. If all systems are answered by the same reader, their scores differ
// by what they retrieved and not by the model that read it. A reader sees a [Question],
// which has no references, so the answer key cannot leak into a prompt.
//
// [Open] returns a built-in or declared reader. Package judge/answer makes a judge of it:
//
//	d, err := reader.Open("deem")
//	j := answer.New(judge.New(d.Protocol(), model), grader)
//	for rec, err := range deem.Run(ctx, items, j, deem.Options{}) { ... }
//
// Built in are deem's own reader and published ones, with prompts equal to their sources to
// the byte; NOTICE says where they come from.
package reader

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"deem"
	"deem/internal/text"
	"deem/judge"
)

// A protocol is a reader in the form of a judge's protocol: it asks a model about an item,
// and its verdict has the answer as its reason. So requests of readers are planned, sent in
// batches, stored and verified like those of judges.
type protocol struct{ decl Declaration }

var _ judge.Readable = protocol{}

// Answered is the label of an answer. It says nothing about whether the answer is right.
const Answered = "answered"

// Protocol returns the protocol of a reader. Package judge/answer makes a judge of it that
// answers items before they are judged.
func (d *Declaration) Protocol() judge.Readable { return protocol{*d} }

// FromSpec returns a stored reader.
func FromSpec(s judge.Spec) (*Declaration, error) {
	var d Declaration
	err := json.Unmarshal(s.Reader, &d)
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return nil, fmt.Errorf("read the spec of reader %s: %w", s.Name, err)
	}
	return &d, nil
}

func (p protocol) Name() string           { return p.decl.Name }
func (p protocol) Reading() string        { return "" }
func (p protocol) Reread() judge.Readable { return nil }
func (p protocol) FailuresWrong() bool    { return false }

// Spec returns the declaration, including the bytes of the prompts.
func (p protocol) Spec() judge.Spec {
	text, err := deem.Canonical(p.decl)
	if err != nil {
		panic("reader: a declaration has no JSON: " + err.Error()) // It has texts and numbers only.
	}
	return judge.Spec{Kind: judge.KindModel, Name: p.decl.Name, Reader: text}
}

// Request returns the request for the question of an item.
func (p protocol) Request(it deem.Item) (deem.Request, error) {
	q, err := QuestionOf(it)
	if err != nil {
		return deem.Request{}, err
	}
	return p.decl.Request(q)
}

// Read returns the answer as the reason of a verdict.
func (p protocol) Read(_ deem.Item, reply deem.Reply) (deem.Verdict, error) {
	answer, err := p.decl.Read(reply)
	if err != nil {
		return deem.Verdict{}, err
	}
	return deem.Verdict{Label: Answered, Score: 1, Reason: answer}, nil
}

// Request returns the request for a question.
func (d *Declaration) Request(q Question) (deem.Request, error) {
	shown, err := d.fill(q)
	if err != nil {
		return deem.Request{}, err
	}
	req := deem.Request{Temperature: d.Params.Temperature, MaxTokens: d.Params.MaxTokens}
	if req.Temperature != nil {
		req.Optional = []string{"temperature"}
	}
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
			text, _, err := half.join(list, q.Cut)
			if err != nil {
				return nil, deem.Failf(deem.Input, "%v", err)
			}
			shown[fmt.Sprintf("speaker_%d_contexts", i+1)] = text
		}
	}
	text, _, err := d.Contexts.join(q.Contexts, q.Cut)
	if err != nil {
		return nil, deem.Failf(deem.Input, "%v", err)
	}
	if d.Contexts.Merge && joined {
		text = mergeHalves(text)
	}
	shown["contexts"] = text
	return shown, nil
}

func fillText(template string, values map[string]string) string {
	return Message{Text: template, Syntax: "format"}.replace(func(name string) string { return values[name] })
}

// Joined returns the text of the contexts as the reader shows them, and how many passages
// were left out to meet the budget.
func (d *Declaration) Joined(q Question) (joined string, left int, err error) {
	return d.Contexts.join(q.Contexts, q.Cut)
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
