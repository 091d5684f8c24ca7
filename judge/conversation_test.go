package judge_test

import (
	"errors"
	"strings"
	"testing"

	"deem"
	"deem/judge"
)

// A judge shows a conversation, one turn of it, or a window.
func TestConversationSlots(t *testing.T) {
	t.Parallel()
	c := deem.Conversation{
		{Role: "user", Content: "one"},
		{Role: "assistant", Content: "two {response}"},
		{Role: "user", Content: "three"},
		{Role: "assistant", Content: "four"},
	}
	for _, tt := range []struct{ name, prompt, slots, want, failure string }{
		{"whole", "{conversation}", "", "[1] user\n    one\n[2] assistant\n    two {response}\n[3] user\n    three\n[4] assistant\n    four", ""},
		{"last", "{conversation.last}", "", "[4] assistant\n    four", ""},
		{"one turn", "{conversation.2}", "", "[2] assistant\n    two {response}", ""},
		{"named", "{chat}", "chat: {from: conversation, turns: 2}", "[earlier turns left out: 2 of 4]\n[3] user\n    three\n[4] assistant\n    four", ""},
		{"window of tokens", "{conversation}", "conversation: {tokens: 12}", "[earlier turns left out: 2 of 4]\n[3] user\n    three\n[4] assistant\n    four", ""},
		{"wide window", "{conversation}", "conversation: {tokens: 1000, turns: 1000}", "[1] user\n    one\n[2] assistant\n    two {response}\n[3] user\n    three\n[4] assistant\n    four", ""},
		{"too small", "{conversation}", "conversation: {tokens: 2}", "", "has about 6 tokens, and the window of the judge 2"},
		{"no such turn", "{conversation.9}", "", "", "the item has no conversation.9"},
		{"default", "{turn} {response}", "turn: {from: conversation.9, default: none}", "none r", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := judge.Parse("x.yaml", []byte("name: x\nprompt: '"+tt.prompt+"'\nlabels: {a: 1, b: 0}\nslots: {"+tt.slots+"}\n"), nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := d.Protocol("")
			if err != nil {
				t.Fatal(err)
			}
			req, err := p.Request(deem.Item{ID: "1", Response: "r", Messages: c})
			if tt.failure != "" {
				if f, ok := errors.AsType[*deem.Failure](err); !ok || f.Kind != deem.Input || !strings.Contains(f.Detail, tt.failure) {
					t.Errorf("error %v, want a failure with %q", err, tt.failure)
				}
				return
			}
			if err != nil || req.Messages[0].Content != tt.want {
				t.Errorf("prompt %q, error %v, want %q", req.Messages[0].Content, err, tt.want)
			}
		})
	}
	for _, slots := range []string{"response: {turns: 2}", "chat: {from: conversation.0}", "chat: {from: conversation.first}", "chat: {from: conversation, tokens: 0}"} {
		if _, err := judge.Parse("x.yaml", []byte("name: x\nprompt: '{response}{chat}'\nlabels: {a: 1, b: 0}\nslots: {"+slots+"}\n"), nil); err == nil {
			t.Errorf("%s: no error", slots)
		}
	}
}
