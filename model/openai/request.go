package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"deem"
	"deem/internal/wire"
)

// A wireRequest is the body of a call. Pointers distinguish 0 from unset: a temperature of
// 0 must be sent as 0.
type wireRequest struct {
	Model    string         `json:"model"`
	Messages []deem.Message `json:"messages"`
	settings
	rename map[string]string
}

// body returns the value to send, with the server's parameter names.
func (w *wireRequest) body() any {
	if len(w.rename) == 0 {
		return w
	}
	text, err := wire.Encode(w)
	var fields map[string]json.RawMessage
	if err != nil || json.Unmarshal(text, &fields) != nil {
		return w // It cannot be encoded, which the caller will see.
	}
	for ours, theirs := range w.rename {
		if value, ok := fields[ours]; ok {
			fields[theirs] = value
			delete(fields, ours)
		}
	}
	return fields
}

// The settings are the fields that most calls of a run share.
type settings struct {
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	Temperature         *float64        `json:"temperature,omitempty"`
	TopP                *float64        `json:"top_p,omitempty"`
	Seed                *int64          `json:"seed,omitempty"`
	Stop                []string        `json:"stop,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Logprobs            bool            `json:"logprobs,omitempty"`
	TopLogprobs         int             `json:"top_logprobs,omitempty"`
	ReasoningEffort     string          `json:"reasoning_effort,omitempty"`
	ServiceTier         string          `json:"service_tier,omitempty"`
	N                   int             `json:"n"`
	Stream              bool            `json:"stream"`
}

type responseFormat struct {
	Type       string      `json:"type"`
	JSONSchema *jsonSchema `json:"json_schema,omitempty"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

// maxTopLogprobs is the API's maximum number of alternatives per token.
const maxTopLogprobs = 20

// encode returns the body of the call for req.
func (m *client) encode(req deem.Request) *wireRequest {
	req = m.accepted(req)
	w := &wireRequest{Model: m.name, Messages: req.Messages, rename: m.rename, settings: settings{
		Seed:            req.Seed,
		Stop:            req.Stop,
		ReasoningEffort: m.effort,
		ServiceTier:     m.serviceTier,
		N:               1,
	}}
	switch {
	case len(req.Schema) > 0:
		var tree any
		w.ResponseFormat = &responseFormat{Type: "json_schema", JSONSchema: &jsonSchema{
			Name:   "reply",
			Strict: json.Unmarshal(req.Schema, &tree) == nil && strict(tree),
			Schema: req.Schema,
		}}
	case req.JSON:
		w.ResponseFormat = &responseFormat{Type: "json_object"}
	}
	limit := req.MaxTokens
	if limit > 0 {
		limit += m.room // Thinking counts against the limit, and the judge's limit is for its answer.
	}
	if m.reasoning {
		w.MaxCompletionTokens = limit
	} else {
		w.MaxTokens = limit
		w.Temperature = req.Temperature
		w.TopP = req.TopP
		w.Logprobs = req.TopLogprobs > 0
		w.TopLogprobs = min(req.TopLogprobs, maxTopLogprobs)
	}
	return w
}

// accepted returns a request without the parameters that the server rejects.
func (m *client) accepted(req deem.Request) deem.Request {
	for _, param := range m.rejects {
		switch param {
		case "temperature":
			req.Temperature = nil
		case "top_p":
			req.TopP = nil
		case "seed":
			req.Seed = nil
		case "stop":
			req.Stop = nil
		case "top_logprobs":
			req.TopLogprobs = 0
		case "schema":
			req.JSON = req.JSON || len(req.Schema) > 0
			req.Schema = nil
		}
	}
	return req
}

// Wire returns the parameters of the call for req, and those that the model does not
// accept.
func (m *client) Wire(req deem.Request) (sent, dropped string) {
	return m.encode(req).sent(), m.dropped(req)
}

// sent returns the parameters of the call, without those that are the same in every call
// and the service tier.
func (w *wireRequest) sent() string {
	params := &wireRequest{settings: w.settings, rename: w.rename}
	return wire.Sent(params.body(), "model", "messages", "n", "stream", "service_tier")
}

// dropped returns the parameters of req that are not sent.
func (m *client) dropped(req deem.Request) string {
	has := map[string]bool{
		"temperature": req.Temperature != nil, "top_p": req.TopP != nil, "top_logprobs": req.TopLogprobs > 0,
		"seed": req.Seed != nil, "stop": len(req.Stop) > 0, "schema": len(req.Schema) > 0,
	}
	var drops []wire.Drop
	for _, param := range []string{"temperature", "top_p", "top_logprobs", "seed", "stop", "schema"} {
		switch {
		case slices.Contains(m.rejects, param):
			drops = append(drops, wire.Drop{Param: param, Has: has[param], Why: m.vendor + " rejects it"})
		case m.reasoning && slices.Contains([]string{"temperature", "top_p", "top_logprobs"}, param):
			drops = append(drops, wire.Drop{Param: param, Has: has[param], Why: m.name + " is a reasoning model, which rejects it"})
		}
	}
	return wire.Dropped(drops...)
}

// strict reports whether a schema meets the conditions under which the server enforces
// it: each object lists all of its properties as required and allows no others. Any other
// schema is still sent, as advice to the model.
func strict(tree any) bool {
	switch t := tree.(type) {
	case map[string]any:
		properties, ok := t["properties"].(map[string]any)
		if ok && t["additionalProperties"] != false {
			return false
		}
		required, _ := t["required"].([]any)
		for name := range properties {
			if !slices.Contains(required, any(name)) {
				return false
			}
		}
		for _, sub := range t {
			if !strict(sub) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(t, func(sub any) bool { return !strict(sub) })
	}
	return true
}

// think decides how much the model thinks and its room for that.
func (m *client) think(o Options) error {
	t, err := wire.ParseThinking(o.Thinking)
	switch {
	case err != nil:
		return err
	case t.Off && m.reasoning && !quietable(o.Model):
		return wire.AlwaysThinking("openai", o.Model)
	case t.Off && m.reasoning:
		m.effort = "none"
	case t.Set() && !t.Off && !m.reasoning && plain(o.Model):
		return wire.NotThinking("openai", o.Model)
	case t.Set():
		m.effort, m.room = t.Level, t.Tokens
	case m.reasoning, o.Thinks:
		m.room = wire.DefaultRoom
	}
	return nil
}

// plain reports whether the named model is known not to reason.
func plain(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
	for _, family := range []string{"gpt-3.5", "gpt-4", "chatgpt-4o", "gpt-5-chat"} {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	return false
}

// quietable reports whether reasoning can be disabled for a model: from gpt-5.1 on it can.
func quietable(name string) bool {
	return strings.HasPrefix(name[strings.LastIndexByte(name, '/')+1:], "gpt-5.")
}

// reasons reports whether the named model reasons before it answers. The name may contain
// the vendor's, as in OpenRouter's "openai/o3-mini". The gpt-5-chat models do not reason
// and accept a temperature.
func reasons(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
	if strings.HasPrefix(name, "gpt-5") && strings.Contains(name, "chat") {
		return false
	}
	for _, family := range []string{"o1", "o3", "o4", "gpt-5"} {
		rest, ok := strings.CutPrefix(name, family)
		if ok && (rest == "" || rest[0] == '-' || rest[0] == '.') {
			return true
		}
	}
	return false
}
