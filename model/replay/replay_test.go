package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/model/fake"
	"deem/model/replay"
)

// write writes lines to a file and returns its path.
func write(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// open opens a file with these lines or fails the test.
func open(t *testing.T, lines ...string) deem.Model {
	t.Helper()
	m, err := replay.Open(write(t, lines...))
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return m
}

func TestMatches(t *testing.T) {
	hash := deem.Prompt("What is the capital of France?").Hash()
	m := open(t,
		`{"contains": "capital", "text": "by capital"}`,
		`{"contains": "France", "text": "by France"}`,
		``,
		`{"prompt": "What is the capital of Italy?", "text": "by prompt"}`,
		`{"request": "`+hash+`", "reply": {"text": "by request", "stop": "length", "attempts": 4, "cost_micros": 9, "unpriced": true, "cached": true, "key": "k", "usage": {"input": 3, "output": 1}}}`,
		`{"prompt": "", "text": "to nothing"}`,
		`{"prompt": "empty", "text": ""}`,
		`{"prompt": "refused", "reply": {"refusal": "no"}}`,
	)
	late := deem.Prompt("What is the capital of France?")
	late.Trial = 1
	tests := []struct {
		req  deem.Request
		want deem.Reply
	}{
		{deem.Prompt("What is the capital of France?"), deem.Reply{Text: "by request", Stop: deem.StopLength, Usage: deem.Usage{Input: 3, Output: 1}}},
		{late, deem.Reply{Text: "by capital", Stop: deem.StopEnd}},
		{deem.Prompt("What is the capital of Italy?"), deem.Reply{Text: "by prompt", Stop: deem.StopEnd}},
		{deem.Prompt("Where is France?"), deem.Reply{Text: "by France", Stop: deem.StopEnd}},
		{deem.Prompt(""), deem.Reply{Text: "to nothing", Stop: deem.StopEnd}},
		{deem.Prompt("empty"), deem.Reply{Stop: deem.StopEnd}},
		{deem.Prompt("refused"), deem.Reply{Refusal: "no", Stop: deem.StopEnd}},
		{
			deem.Request{Messages: []deem.Message{{Role: "user", Content: "France"}, {Role: "assistant", Content: "?"}, {Role: "user", Content: "the capital"}}},
			deem.Reply{Text: "by capital", Stop: deem.StopEnd},
		},
	}
	for _, tt := range tests {
		tt.want.Attempts = 1
		got, err := m.Complete(t.Context(), tt.req)
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%+v: error %v, reply (-want +got):\n%s", tt.req, err, diff)
		}
	}
}

func TestUnknownRequest(t *testing.T) {
	_, err := open(t, `{"prompt": "a", "text": "b"}`).Complete(t.Context(), deem.Prompt("c"))
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || me.Passing || me.Fatal || me.Kind != deem.Provider {
		t.Fatalf("error %#v, want a ModelError of the item's own", err)
	}
	if err.Error() != "no reply recorded for this request" || !strings.Contains(deem.HintOf(err), deem.Prompt("c").Hash()) {
		t.Errorf("error %q with hint %q, want the hash in the hint", err, deem.HintOf(err))
	}
}

func TestOpenNamesTheLine(t *testing.T) {
	const hash = "00000000000000000000000000000000000000000000000000000000000000ab"
	tests := []struct{ name, line, want string }{
		{"no JSON", `{"prompt"`, "unexpected EOF"},
		{"unknown field", `{"promt": "a", "text": "b"}`, `unknown field "promt"`},
		{"no key", `{"text": "b"}`, "exactly one of"},
		{"two keys", `{"prompt": "a", "contains": "a", "text": "b"}`, "exactly one of"},
		{"no reply", `{"prompt": "a"}`, `either "reply" or "text"`},
		{"two replies", `{"prompt": "a", "text": "b", "reply": {}}`, `either "reply" or "text"`},
		{"no hash", `{"request": "abc", "text": "b"}`, `request "abc" is not a SHA-256`},
		{"upper-case hash", `{"request": "` + strings.ToUpper(hash) + `", "text": "b"}`, "is not a SHA-256"},
		{"twice", `{"prompt": "first", "text": "b"}`, "answered on an earlier line"},
		{"rest", `{"prompt": "a", "text": "b"} {}`, "text after the end"},
		{"array", `[]`, "cannot unmarshal array"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, `{"prompt": "first", "text": "b"}`, "", tt.line)
			_, err := replay.Open(path)
			if err == nil || !strings.HasPrefix(err.Error(), path+":3: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %s:3: ...%s...", err, path, tt.want)
			}
		})
	}
	if _, err := replay.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want that there is no such file", err)
	}
}

func TestAllProblemsAreListed(t *testing.T) {
	path := write(t, "x", `{"prompt": "a", "text": "b"}`, "y")
	_, err := replay.Open(path)
	if err == nil || !strings.Contains(err.Error(), path+":1: ") || !strings.Contains(err.Error(), path+":3: ") {
		t.Errorf("error %v, want lines 1 and 3", err)
	}
}

// TestRecorderRoundTrips records the replies to many concurrent callers, and sends the same
// requests to the recording.
func TestRecorderRoundTrips(t *testing.T) {
	mixed, err := fake.New("mixed")
	if err != nil {
		t.Fatal(err)
	}
	wire := fake.Func(mixed.Name(), func(ctx context.Context, req deem.Request) (deem.Reply, error) {
		reply, err := mixed.Complete(ctx, req)
		reply.Latency = time.Millisecond
		reply.Logprobs = []deem.TokenLogprob{{Token: "<y>", Logprob: -0.125}}
		return reply, err
	})
	var tape bytes.Buffer
	rec := replay.Recorder(wire, &tape)
	want := make([]deem.Reply, 500)
	errs := make([]error, len(want))
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := w; i < len(want); i += 8 {
				want[i], errs[i] = rec.Complete(t.Context(), request(i))
			}
		})
	}
	wg.Wait()

	m, err := replay.Read("replay:tape", "tape", &tape)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	for i := range want {
		got, err := m.Complete(t.Context(), request(i))
		if (err != nil) != (errs[i] != nil) {
			t.Errorf("request %d: error %v, recorded %v", i, err, errs[i])
			continue
		}
		if errs[i] != nil {
			continue
		}
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("request %d (-recorded +replayed):\n%s", i, diff)
		}
	}
}

// request returns a numbered request; half of them have parameters.
func request(i int) deem.Request {
	req := deem.Prompt(fmt.Sprintf("Question %d <&>\u2028", i/2))
	req.Trial = i % 2
	return req
}

// A fullDisk fails every write.
type fullDisk struct{}

var errFull = errors.New("disk full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestRecorderThatCannotWrite(t *testing.T) {
	m, err := fake.New("say=yes")
	if err != nil {
		t.Fatal(err)
	}
	_, err = replay.Recorder(m, fullDisk{}).Complete(t.Context(), deem.Prompt("q"))
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || !me.Fatal || !errors.Is(err, errFull) {
		t.Errorf("error %v, want a fatal one that wraps the disk's", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"prompt": "a", "text": "b"}`)
	f.Add(`{"contains": "a", "reply": {"text": "b"}}` + "\n\n{")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := replay.Read("replay:fuzz", "fuzz", strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz:") {
				t.Errorf("error %q does not name the line", err)
			}
			return
		}
		_, _ = m.Complete(t.Context(), deem.Prompt("a")) // must not panic
	})
}

// FuzzRecorder records arbitrary replies and replays them: each request gets its own reply.
func FuzzRecorder(f *testing.F) {
	f.Add("q", "yes", "", 3)
	f.Add("\xff", "a\nb\u2028", "no", -1)
	f.Add("", "<think>", "\x00", 0)
	f.Fuzz(func(t *testing.T, prompt, text, refusal string, tokens int) {
		want := deem.Reply{Text: text, Refusal: refusal, Stop: deem.StopEnd, Usage: deem.Usage{Input: tokens}, Model: prompt}
		m := fake.Func("m", func(context.Context, deem.Request) (deem.Reply, error) { return want, nil })
		var file strings.Builder
		if _, err := replay.Recorder(m, &file).Complete(t.Context(), deem.Prompt(prompt)); err != nil {
			t.Fatal(err)
		}
		played, err := replay.Read("replay:fuzz", "fuzz", strings.NewReader(file.String()))
		if err != nil {
			t.Fatalf("%q cannot be read: %v", file.String(), err)
		}
		got, err := played.Complete(t.Context(), deem.Prompt(prompt))
		if err != nil || got.Text != strings.ToValidUTF8(text, "\ufffd") && utf8.ValidString(text) || got.Usage != want.Usage {
			t.Errorf("%q is played back as %+v, %v, want %+v", file.String(), got, err, want)
		}
		if other, err := played.Complete(t.Context(), deem.Prompt(prompt+"?")); err == nil {
			t.Errorf("another request gets %+v", other)
		}
	})
}
