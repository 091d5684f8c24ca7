package modeltest

import (
	"fmt"
	"strings"
	"testing"

	"deem"
)

func (s suite) testLargeReply(t *testing.T) {
	want := strings.Repeat("yes\u4e2d ", 1<<18)
	m, _ := s.start(t, always(Say(want)))
	reply, err := m.Complete(t.Context(), deem.Prompt("Is it so?"))
	if err != nil || reply.Text != want {
		t.Errorf("%d bytes of text, error %v, want %d bytes", len(reply.Text), err, len(want))
	}
}

// testOversizedReply checks that a reply is not read to its end if it has far more bytes
// than the requested tokens can have.
func (s suite) testOversizedReply(t *testing.T) {
	m, _ := s.start(t, always(Say(strings.Repeat("yes ", 3<<18))))
	req := deem.Prompt("Is it so?")
	req.MaxTokens = 5
	reply, err := m.Complete(t.Context(), req)
	if err == nil {
		t.Fatalf("%d bytes came in reply to a request for 5 tokens", len(reply.Text))
	}
	checkError(t, err, expectation{kind: deem.Provider, billed: true})
	if !strings.Contains(err.Error(), "too long") {
		t.Errorf("%v does not say that the answer is too long", err)
	}
}

// testBrokenBody breaks a reply in the ways that servers and proxies do. All of these
// errors are transient.
func (s suite) testBrokenBody(t *testing.T) {
	whole := s.wire.Reply(fullReply()).Body
	page := "<!DOCTYPE html><html><head><title>Sign in</title></head><body>" + Key + "</body></html>"
	for i, body := range []string{"", " ", "null", "[]", "0", `"yes"`, "{}", whole[:len(whole)/2], whole + whole, "data: " + whole, page, "\x1f\x8b\x08"} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			m, _ := s.start(t, always(Answer{Raw: &Raw{Body: body}}))
			reply, err := m.Complete(t.Context(), deem.Prompt("Is it so?"))
			if err == nil {
				t.Fatalf("the body %.40q became the reply %+v", body, reply)
			}
			checkError(t, err, expectations[Garbled])
		})
	}
}

// testContentType sends a reply with another content type, as small servers do. JSON is
// parsed nevertheless.
func (s suite) testContentType(t *testing.T) {
	for _, name := range []string{"text/plain", "application/octet-stream", "text/html; charset=utf-8"} {
		raw := s.wire.Reply(Say("yes").Reply)
		raw.Header = map[string]string{"Content-Type": name}
		m, _ := s.start(t, always(Answer{Raw: &raw}))
		if reply, err := m.Complete(t.Context(), deem.Prompt("Is it so?")); err != nil || reply.Text != "yes" {
			t.Errorf("content type %s: reply %q, error %v, want yes", name, reply.Text, err)
		}
	}
}

// testNotUTF8 makes the server send invalid UTF-8, like models whose tokens are cut in the
// middle of a character.
func (s suite) testNotUTF8(t *testing.T) {
	raw := s.wire.Reply(Say("yesXno").Reply)
	raw.Body = strings.Replace(raw.Body, "yesX", "yes\xff\xc3", 1)
	m, _ := s.start(t, always(Answer{Raw: &raw}))
	reply, err := m.Complete(t.Context(), deem.Prompt("Is it so?"))
	if err != nil || reply.Text != "yes\uFFFD\uFFFDno" {
		t.Errorf("reply %q, error %v, want the bytes replaced", reply.Text, err)
	}
}
