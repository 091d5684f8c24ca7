package deem

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Conversation is the messages between a user and the system under test, in order.
type Conversation []Turn

// A Turn is one message of a conversation. Its JSON is that of OpenAI's Chat Completions.
type Turn struct {
	Content    string     `json:"content"`
	Name       string     `json:"name,omitempty"`
	Role       string     `json:"role"`                   // system, user, assistant, tool
	ToolCallID string     `json:"tool_call_id,omitempty"` // the call whose result this is
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
}

// A ToolCall is a call of a tool by the system.
type ToolCall struct {
	Function Function `json:"function"`
	ID       string   `json:"id,omitempty"`
	Type     string   `json:"type,omitempty"` // "function", as OpenAI has it
}

// A Function is the name and arguments of a tool call. The arguments should be JSON, but come
// from the system under test and may be malformed.
type Function struct {
	Arguments string `json:"arguments"`
	Name      string `json:"name"`
}

// UnmarshalJSON reads a message in OpenAI's format. Content in other formats is kept as JSON,
// so that nothing is lost.
func (t *Turn) UnmarshalJSON(data []byte) error {
	type function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	var in struct {
		Role       string          `json:"role"`
		Name       string          `json:"name"`
		Content    json.RawMessage `json:"content"`
		Parts      json.RawMessage `json:"parts"` // as OpenTelemetry has it
		ToolCallID string          `json:"tool_call_id"`
		ToolCalls  []struct {
			ID       string   `json:"id"`
			Type     string   `json:"type"`
			Function function `json:"function"`
		} `json:"tool_calls"`
		FunctionCall *function `json:"function_call"` // as OpenAI had it before tools
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*t = Turn{Role: in.Role, Name: in.Name, ToolCallID: in.ToolCallID}
	for _, c := range in.ToolCalls {
		t.call(c.ID, c.Type, c.Function.Name, c.Function.Arguments)
	}
	if c := in.FunctionCall; c != nil {
		t.call("", "function", c.Name, c.Arguments)
	}
	if len(in.Parts) > 0 {
		in.Content = in.Parts
	}
	var parts []json.RawMessage
	if t.Content = plain(in.Content); json.Unmarshal(in.Content, &parts) == nil {
		var texts []string
		for _, p := range parts {
			if text, ok := t.part(p); ok {
				texts = append(texts, text)
			}
		}
		t.Content = strings.Join(texts, "\n")
	}
	return nil
}

func (t *Turn) call(id, kind, name string, arguments json.RawMessage) {
	t.ToolCalls = append(t.ToolCalls, ToolCall{ID: id, Type: kind, Function: Function{Name: name, Arguments: plain(arguments)}})
}

// part returns the text of one content part. Tool calls and tool results, which some vendors
// put there, are moved to their own fields.
func (t *Turn) part(data json.RawMessage) (text string, ok bool) {
	var p struct {
		Type      string          `json:"type"`
		Text      *string         `json:"text"`
		Content   json.RawMessage `json:"content"`
		ID        string          `json:"id"`
		UseID     string          `json:"tool_use_id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		Arguments json.RawMessage `json:"arguments"`
		Response  json.RawMessage `json:"response"`
	}
	switch err := json.Unmarshal(data, &p); {
	case err != nil:
		return plain(data), true
	case p.Text != nil:
		return *p.Text, true
	case p.Type == "text":
		return plain(p.Content), true
	case p.Type == "tool_use" || p.Type == "tool_call":
		t.call(p.ID, "function", p.Name, slices.Concat(p.Input, p.Arguments))
		return "", false
	case (p.Type == "tool_result" || p.Type == "tool_call_response") && t.ToolCallID == "":
		t.Role, t.ToolCallID = "tool", p.UseID+p.ID
		return plain(slices.Concat(p.Content, p.Response)), true
	}
	return plain(data), true
}

// plain returns a JSON string as text, null as "", and any other value as JSON.
func plain(data json.RawMessage) string {
	var text *string
	if len(data) == 0 || json.Unmarshal(data, &text) == nil {
		if text == nil {
			return ""
		}
		return *text
	}
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		return string(data)
	}
	return b.String()
}

// Said returns the content of the last non-empty turn of a role.
func (c Conversation) Said(role string) string {
	for _, t := range slices.Backward(c) {
		if t.Role == role && t.Content != "" {
			return t.Content
		}
	}
	return ""
}

// Size returns the number of bytes of text in the conversation.
func (c Conversation) Size() int {
	n := 0
	for _, t := range c {
		n += len(t.Content)
		for _, call := range t.ToolCalls {
			n += len(call.Function.Arguments)
		}
	}
	return n
}

// Text renders the turns with indices from (inclusive) to (exclusive), numbered from 1:
//
//	[3] assistant
//	    Let me look.
//	[3] assistant calls find_order, call_1
//	    {"id":"4711"}
//	[4] tool, result of call_1
//	    on its way
//
// Only headings begin with a bracket. Every line of content is indented by four spaces, so
// that content cannot imitate a heading; without the indent it is unchanged, byte for byte.
// Names that are not plain words are quoted.
func (c Conversation) Text(from, to int) string {
	var b strings.Builder
	for i, t := range c[from:to] {
		head := fmt.Sprintf("[%d] %s", from+i+1, word(t.Role))
		if t.Content != "" || len(t.ToolCalls) == 0 {
			b.WriteString(head)
			if t.Name != "" {
				fmt.Fprintf(&b, " (%s)", word(t.Name))
			}
			if t.ToolCallID != "" {
				b.WriteString(", result of " + word(t.ToolCallID))
			}
			indent(&b, t.Content)
		}
		for _, call := range t.ToolCalls {
			b.WriteString(head + " calls " + word(call.Function.Name))
			if call.ID != "" {
				b.WriteString(", " + word(call.ID))
			}
			indent(&b, call.Function.Arguments)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_.:/-]+$`)

// word returns a name, in quotes unless it is a plain word.
func word(name string) string {
	if plainWord.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

// lineEnds matches everything that a reader may treat as the end of a line.
var lineEnds = regexp.MustCompile("\r\n|[\n\r\v\f\u0085\u2028\u2029]")

// indent writes text below its heading.
func indent(b *strings.Builder, text string) {
	const margin = "    "
	b.WriteByte('\n')
	if text != "" {
		b.WriteString(margin + lineEnds.ReplaceAllString(text, "${0}"+margin) + "\n")
	}
}
