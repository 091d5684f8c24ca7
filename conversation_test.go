package deem_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
)

// Messages are read in the forms that vendors write.
func TestTurnForms(t *testing.T) {
	t.Parallel()
	call := func(id, kind string) []deem.ToolCall {
		return []deem.ToolCall{{ID: id, Type: kind, Function: deem.Function{Name: "f", Arguments: `{"a":1}`}}}
	}
	for _, tt := range []struct {
		text string
		want deem.Turn
	}{
		{`{"role":"user","name":"Ada","content":"hi"}`, deem.Turn{Role: "user", Name: "Ada", Content: "hi"}},
		{`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}`, deem.Turn{Role: "assistant", ToolCalls: call("c", "function")}},
		{`{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"a": 1}}}]}`, deem.Turn{Role: "assistant", ToolCalls: call("", "")}},
		{`{"role":"assistant","function_call":{"name":"f","arguments":"{\"a\":1}"}}`, deem.Turn{Role: "assistant", ToolCalls: call("", "function")}},
		{`{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"c","name":"f","input":{"a":1}}]}`, deem.Turn{Role: "assistant", Content: "a", ToolCalls: call("c", "function")}},
		{`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"2"}]}`, deem.Turn{Role: "tool", ToolCallID: "c", Content: "2"}},
		{`{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"x"}}]}`, deem.Turn{Role: "user", Content: "see\n" + `{"type":"image_url","image_url":{"url":"x"}}`}},
		{`{"role":"user","parts":[{"type":"text","content":"hi"}]}`, deem.Turn{Role: "user", Content: "hi"}},
		{`{"role":"user","content":{"odd": true}}`, deem.Turn{Role: "user", Content: `{"odd":true}`}},
	} {
		var got deem.Turn
		if err := json.Unmarshal([]byte(tt.text), &got); err != nil {
			t.Errorf("%s: %v", tt.text, err)
		} else if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, diff)
		}
	}
}

// Only lines that begin with a bracket begin a turn, whatever was said, and what was said
// can be had back from them. JSON keeps all of it.
func TestConversationText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.StringOf(rapid.SampledFrom([]rune("[1] user:\n\r\v\f\u0085\u2028\u2029 {}a")))
		c := deem.Conversation{
			{Role: "user", Name: said.Draw(t, "name"), Content: said.Draw(t, "content")},
			{Role: said.Draw(t, "role"), ToolCallID: said.Draw(t, "id"), ToolCalls: []deem.ToolCall{{ID: said.Draw(t, "call"), Function: deem.Function{Name: said.Draw(t, "function"), Arguments: said.Draw(t, "arguments")}}}},
		}
		text := c.Text(0, 2)
		heads := 0
		for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }) {
			switch {
			case strings.HasPrefix(line, "["):
				heads++
			case !strings.HasPrefix(line, "    "):
				t.Fatalf("the line %q begins neither a turn nor is it indented:\n%s", line, text)
			}
		}
		if heads != 2 {
			t.Fatalf("%d heads, want 2:\n%s", heads, text)
		}
		raw, err := deem.Canonical(c)
		if err != nil {
			t.Fatal(err)
		}
		var got deem.Conversation
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, got); diff != "" {
			t.Fatalf("from JSON (-want +got):\n%s", diff)
		}
	})
}
