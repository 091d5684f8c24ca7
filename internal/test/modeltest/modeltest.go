package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"deem"
)

// Key is the key that models must use, and that the suite looks for in all their texts.
const Key = "sk-modeltest-0123456789-never-to-be-seen"

// A Setup is the configuration of a model under test.
type Setup struct {
	URL     string // of the server, without a path
	Key     string
	Model   string
	Timeout time.Duration // of one call
}

// Test checks that the model returned by open keeps the contract of [deem.Model] with a
// server of the given wire format. A model with a Close method is closed after each test.
func Test(t *testing.T, open func(tb testing.TB, s Setup) deem.Model, wire Wire) {
	s := suite{open: open, wire: wire}
	t.Run("reply", s.testReply)
	t.Run("stops", s.testStops)
	t.Run("request", s.testRequest)
	t.Run("temperature zero", s.testTemperatureZero)
	t.Run("sent", s.testSent)
	t.Run("errors", s.testErrors)
	t.Run("rate limits", s.testRateLimits)
	t.Run("slow", s.testSlow)
	t.Run("hang", s.testHang)
	t.Run("interrupted", s.testInterrupted)
	t.Run("dead context", s.testDeadContext)
	t.Run("cut off", s.testCutOff)
	t.Run("refused connection", s.testRefusedConnection)
	t.Run("huge error", s.testHugeError)
	t.Run("large reply", s.testLargeReply)
	t.Run("oversized reply", s.testOversizedReply)
	t.Run("broken body", s.testBrokenBody)
	t.Run("content type", s.testContentType)
	t.Run("not UTF-8", s.testNotUTF8)
	t.Run("canary", s.testCanary)
	t.Run("echoed key", s.testEchoedKey)
	t.Run("many at once", s.testManyAtOnce)
	t.Run("leaks", s.testLeaks)
}

// A suite is a constructor of models with its wire format.
type suite struct {
	open func(tb testing.TB, s Setup) deem.Model
	wire Wire
}

// start starts a server that answers with a, and a model that calls it.
func (s suite) start(tb testing.TB, answer func(Asked) Answer) (deem.Model, *Server) {
	tb.Helper()
	server := Serve(s.wire, answer)
	tb.Cleanup(server.Close)
	return s.model(tb, server.URL, 10*time.Second), server
}

// model opens a model and closes it at the end.
func (s suite) model(tb testing.TB, url string, timeout time.Duration) deem.Model {
	tb.Helper()
	m := s.open(tb, Setup{URL: url, Key: Key, Model: "test-model", Timeout: timeout})
	if c, ok := m.(io.Closer); ok {
		tb.Cleanup(func() {
			if err := c.Close(); err != nil {
				tb.Errorf("Close: %v", err)
			}
		})
	}
	return m
}

// lacks reports whether the wire format does not have a field.
func (s suite) lacks(field string) bool { return slices.Contains(s.wire.Lacks, field) }

// always gives the same answer to every request.
func always(a Answer) func(Asked) Answer {
	return func(Asked) Answer { return a }
}

// fullReply sets all fields that a vendor can send.
func fullReply() deem.Reply {
	return deem.Reply{
		Text:        "yes <&> \"quoted\" \u00e4\u4e2d\U0001F600\nsecond line",
		Stop:        deem.StopEnd,
		Usage:       deem.Usage{Input: 120, Output: 30, CachedInput: 64, Reasoning: 12},
		Model:       "test-model-2024-08-06",
		Fingerprint: "fp_123",
		RequestID:   "req_123",
		Logprobs: []deem.TokenLogprob{
			{Token: "yes", Logprob: -0.25, Top: []deem.TokenLogprob{{Token: "yes", Logprob: -0.25}, {Token: "no", Logprob: -1.5}}},
			{Token: ".", Logprob: -0.01},
		},
	}
}

func (s suite) testReply(t *testing.T) {
	want := fullReply()
	m, _ := s.start(t, always(Answer{Reply: want}))
	req := deem.Prompt("Is it so?")
	req.TopLogprobs = 2
	got, err := m.Complete(t.Context(), req)
	if err != nil {
		t.Fatalf("Complete: %v", err)
	}
	if got.Attempts != 1 {
		t.Errorf("Attempts = %d, want 1", got.Attempts)
	}
	if s.lacks("Reasoning") {
		want.Usage.Reasoning = 0
	}
	if s.lacks("CachedInput") {
		want.Usage.CachedInput = 0
	}
	ignore := append([]string{"Attempts", "Latency", "Sent", "Dropped"}, s.lacking("Refusal", "Fingerprint", "RequestID", "Logprobs", "Model")...)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(deem.Reply{}, ignore...), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
}

// lacking returns those of the names that the wire format does not have.
func (s suite) lacking(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !s.lacks(name) })
}

func (s suite) testStops(t *testing.T) {
	replies := []deem.Reply{
		{Text: "yes", Stop: deem.StopEnd},
		{Text: "ye", Stop: deem.StopLength},
		{Text: "", Stop: deem.StopLength},
		{Text: "", Stop: deem.StopEnd},
		{Text: "", Stop: deem.StopOther},
	}
	if !s.lacks("StopFilter") {
		replies = append(replies, deem.Reply{Text: "", Stop: deem.StopFilter})
	}
	if !s.lacks("Refusal") {
		replies = append(replies, deem.Reply{Refusal: "I cannot help with that.", Stop: deem.StopEnd})
	}
	for _, want := range replies {
		m, _ := s.start(t, always(Answer{Reply: want}))
		got, err := m.Complete(t.Context(), deem.Prompt("Is it so?"))
		if err != nil {
			t.Errorf("%+v: %v", want, err)
			continue
		}
		if s.lacks("Refusal") {
			got.Refusal = want.Refusal
		}
		if got.Text != want.Text || got.Stop != want.Stop || got.Refusal != want.Refusal {
			t.Errorf("reply %q %q %q, want %q %q %q", got.Text, got.Refusal, got.Stop, want.Text, want.Refusal, want.Stop)
		}
	}
}

// testRequest checks that the complete request arrives.
func (s suite) testRequest(t *testing.T) {
	half, seed := 0.5, int64(42)
	want := deem.Request{
		Messages: []deem.Message{
			{Role: "system", Content: "You judge."},
			{Role: "user", Content: "Is <it> & \"so\"? \u00e4\u4e2d\U0001F600"},
			{Role: "assistant", Content: "Yes."},
			{Role: "user", Content: "Are you sure?\n"},
		},
		MaxTokens:   77,
		Temperature: &half,
		TopP:        &half,
		Seed:        &seed,
		Stop:        []string{"END", "\n\n"},
		TopLogprobs: 5,
		Schema:      json.RawMessage(`{"type":"object","properties":{"label":{"type":"string"}},"required":["label"],"additionalProperties":false}`),
	}
	asked, _, _ := s.ask(t, want)
	if asked.Model != "test-model" {
		t.Errorf("model %q was asked for, want test-model", asked.Model)
	}
	compact := cmp.Transformer("compact", func(raw json.RawMessage) string {
		var buf bytes.Buffer
		if json.Compact(&buf, raw) != nil {
			return string(raw)
		}
		return buf.String()
	})
	ignore := append([]string{"Trial"}, s.lacking("Seed", "Stop", "TopP", "TopLogprobs", "Schema", "JSON")...) // Trial is never sent.
	if diff := cmp.Diff(want, asked.Request, cmpopts.IgnoreFields(deem.Request{}, ignore...), compact); diff != "" {
		t.Errorf("request as it arrived (-want +got):\n%s", diff)
	}
	if s.lacks("JSON") {
		return
	}
	plain := deem.Prompt("Answer in JSON.")
	plain.JSON = true
	if asked, _, _ := s.ask(t, plain); !asked.Request.JSON {
		t.Error("JSON was not asked for")
	}
}

// ask sends req, and returns it as the server sees it, the model, and its reply.
func (s suite) ask(t *testing.T, req deem.Request) (asked Asked, m deem.Model, reply deem.Reply) {
	t.Helper()
	var mu sync.Mutex
	m, _ = s.start(t, func(a Asked) Answer {
		mu.Lock()
		defer mu.Unlock()
		asked = a
		return Say("yes")
	})
	reply, err := m.Complete(t.Context(), req)
	if err != nil {
		t.Fatalf("Complete: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	return asked, m, reply
}

// testSent checks that a reply reports the parameters of its request: each parameter
// arrived at the server with the value in Sent, or is in Dropped.
func (s suite) testSent(t *testing.T) {
	half, seed := 0.5, int64(42)
	req := deem.Request{
		Messages: deem.Prompt("Is it so?").Messages, MaxTokens: 77, Temperature: &half, TopP: &half, Seed: &seed, Stop: []string{"END"}, TopLogprobs: 5,
		Schema: json.RawMessage(`{"type":"object","properties":{"label":{"type":"string"}},"required":["label"],"additionalProperties":false}`),
	}
	schema, err := deem.Hash(req.Schema)
	if err != nil {
		t.Fatal(err)
	}
	asked, m, reply := s.ask(t, req)
	arrived := asked.Request
	if sent, dropped := deem.WireOf(m, req); sent != reply.Sent || dropped != reply.Dropped {
		t.Errorf("Wire says that %q is sent and %q dropped, and the reply %q and %q", sent, dropped, reply.Sent, reply.Dropped)
	}
	sent, err := url.ParseQuery(reply.Sent)
	if err != nil {
		t.Fatal(err)
	}
	dropped, err := url.ParseQuery(reply.Dropped)
	if err != nil {
		t.Fatal(err)
	}
	values := slices.Concat(slices.Collect(maps.Values(sent))...)
	has := func(value string) bool { return slices.Contains(values, value) }
	for param, there := range map[string]bool{
		"max_tokens":   arrived.MaxTokens > 0 && has(strconv.Itoa(arrived.MaxTokens)),
		"temperature":  arrived.Temperature != nil && has("0.5"),
		"top_p":        arrived.TopP != nil && has("0.5"),
		"seed":         arrived.Seed != nil && has("42"),
		"stop":         len(arrived.Stop) > 0 && has("END"),
		"top_logprobs": arrived.TopLogprobs > 0 && has("5"),
		"schema":       len(arrived.Schema) > 0 && has("sha256:"+deem.ShortHash(schema)),
	} {
		if there == (dropped.Get(param) != "") {
			t.Errorf("%s arrived as the reply says: %t, and is dropped for %q; sent %q", param, there, dropped.Get(param), reply.Sent)
		}
	}
}

// testTemperatureZero guards against a classic mistake: a zero that is dropped as if it
// were unset, so that the judge runs at the vendor's default.
func (s suite) testTemperatureZero(t *testing.T) {
	zero := 0.0
	req := deem.Prompt("Is it so?")
	req.Temperature = &zero
	if asked, _, _ := s.ask(t, req); asked.Request.Temperature == nil || *asked.Request.Temperature != 0 {
		t.Errorf("temperature %v arrived, want 0", asked.Request.Temperature)
	}
	if asked, _, _ := s.ask(t, deem.Prompt("Is it so?")); asked.Request.Temperature != nil {
		t.Errorf("temperature %v arrived, want none", *asked.Request.Temperature)
	}
}

func (s suite) testErrors(t *testing.T) {
	for trouble, raws := range s.wire.Errors {
		want, ok := expectations[trouble]
		if !ok {
			t.Errorf("trouble %q is not known", trouble)
		}
		for i, raw := range raws {
			t.Run(fmt.Sprintf("%s/%d", trouble, i), func(t *testing.T) {
				m, server := s.start(t, always(Answer{Raw: &raw}))
				_, err := m.Complete(t.Context(), deem.Prompt("Is it so?"))
				checkError(t, err, want)
				if n := server.Requests(); n != 1 {
					t.Errorf("%d requests, want 1: retries are not the wire's business", n)
				}
			})
		}
	}
}

// checkError checks an error against what is expected.
func checkError(t *testing.T, err error, want expectation) *deem.ModelError {
	t.Helper()
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok {
		t.Fatalf("error %v is not a *deem.ModelError", err)
	}
	if me.Kind != want.kind || me.Passing != want.passing || me.Fatal != want.fatal {
		t.Errorf("%v: kind %s, passing %v, fatal %v, want %s, %v, %v",
			err, me.Kind, me.Passing, me.Fatal, want.kind, want.passing, want.fatal)
	}
	if me.Billed != want.billed {
		t.Errorf("%v: billed %v, want %v", err, me.Billed, want.billed)
	}
	if want.fatal && deem.HintOf(err) == "" {
		t.Errorf("%v stops the run but has no hint", err)
	}
	checkText(t, err.Error())
	checkText(t, deem.HintOf(err))
	return me
}

// checkText checks that a text is one short line without the key.
func checkText(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(text, Key) || strings.Contains(text, Key[:len(Key)/2]) {
		t.Errorf("the key is in %q", text)
	}
	if len(text) > 500 || strings.ContainsAny(text, "\r\n") {
		t.Errorf("%q is not one short line", text)
	}
}

func (s suite) testRateLimits(t *testing.T) {
	for i, limit := range s.wire.RateLimits {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			want, err := time.ParseDuration(limit.Wait)
			if err != nil {
				t.Fatal(err)
			}
			m, _ := s.start(t, always(Answer{Raw: &limit.Raw}))
			_, err = m.Complete(t.Context(), deem.Prompt("Is it so?"))
			me := checkError(t, err, expectations[RateLimited])
			if me.RetryAfter > want || me.RetryAfter < want-want/10 {
				t.Errorf("RetryAfter = %v with %v, want %v", me.RetryAfter, limit.Raw.Header, want)
			}
		})
	}
}

func (s suite) testSlow(t *testing.T) {
	a := Say("yes")
	a.Delay = 50 * time.Millisecond
	m, _ := s.start(t, always(a))
	if reply, err := m.Complete(t.Context(), deem.Prompt("Is it so?")); err != nil || reply.Text != "yes" {
		t.Errorf("reply %+v, error %v, want yes", reply, err)
	}
}

// testHang checks that a timeout of the call is a transient error.
func (s suite) testHang(t *testing.T) {
	server := Serve(s.wire, always(Answer{Hang: true}))
	defer server.Close()
	m := s.model(t, server.URL, 100*time.Millisecond)
	_, err := m.Complete(t.Context(), deem.Prompt("Is it so?"))
	checkError(t, err, expectation{kind: deem.Timeout, passing: true, billed: true})
	if errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v looks like the end of the caller's context", err)
	}
}

// testInterrupted checks that the end of the caller's context is not an error of the model,
// and that the key is nowhere in it.
func (s suite) testInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m, _ := s.start(t, func(Asked) Answer {
		cancel()
		return Answer{Hang: true}
	})
	_, err := m.Complete(ctx, deem.Prompt("Is it so?"))
	checkInterrupted(t, err, context.Canceled)
	lookForKey(t, m, err)

	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	m, _ = s.start(t, always(Answer{Hang: true}))
	_, err = m.Complete(ctx, deem.Prompt("Is it so?"))
	checkInterrupted(t, err, context.DeadlineExceeded)
}

func checkInterrupted(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want one that wraps %v", err, want)
	}
	if me, ok := errors.AsType[*deem.ModelError](err); ok {
		t.Errorf("an interruption became the model error %v", me)
	}
}

func (s suite) testDeadContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m, server := s.start(t, nil)
	_, err := m.Complete(ctx, deem.Prompt("Is it so?"))
	checkInterrupted(t, err, context.Canceled)
	if n := server.Requests(); n != 0 {
		t.Errorf("%d requests on a dead context, want none", n)
	}
}

func (s suite) testCutOff(t *testing.T) {
	a := Say(strings.Repeat("yes ", 10_000))
	a.Cut = true
	m, _ := s.start(t, always(a))
	_, err := m.Complete(t.Context(), deem.Prompt("Is it so?"))
	checkError(t, err, expectation{kind: deem.Provider, passing: true, billed: true})
}

// testRefusedConnection calls a port without a listener. The server may be restarting, so
// the error is transient; the hint is for when it is not. The key is in the URL and must
// not be in the error.
func (s suite) testRefusedConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"", "user:" + Key + "@"} {
		m := s.model(t, "http://"+user+l.Addr().String(), time.Second)
		_, err = m.Complete(t.Context(), deem.Prompt("Is it so?"))
		checkError(t, err, expectation{kind: deem.Provider, passing: true})
		if deem.HintOf(err) == "" {
			t.Errorf("%v has no hint", err)
		}
		lookForKey(t, m, err)
	}
}

// testHugeError checks that a long error body does not become a long error text, and that a
// key across the cut is not shown.
func (s suite) testHugeError(t *testing.T) {
	for pad := 240; pad < 320; pad += 7 {
		body := strings.Repeat("x", pad) + Key + strings.Repeat(" word", 10_000)
		m, _ := s.start(t, always(Fail(500, body)))
		_, err := m.Complete(t.Context(), deem.Prompt("Is it so?"))
		checkError(t, err, expectations[ServerError])
	}
}

// testManyAtOnce checks that concurrent calls do not mix, and that connections are reused.
func (s suite) testManyAtOnce(t *testing.T) {
	const workers, rounds = 32, 6
	m, server := s.start(t, func(a Asked) Answer {
		answer := Say("echo " + a.Prompt())
		answer.Delay = 10 * time.Millisecond // so that all calls are in flight at once
		return answer
	})
	for r := range rounds {
		// Between the rounds all connections are idle, and few are kept by default.
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				prompt := fmt.Sprintf("%d-%d", w, r)
				reply, err := m.Complete(t.Context(), deem.Prompt(prompt))
				if err != nil || reply.Text != "echo "+prompt {
					t.Errorf("prompt %s: reply %q, error %v", prompt, reply.Text, err)
				}
			})
		}
		wg.Wait()
	}
	if n := server.Dials(); n > 2*workers {
		t.Errorf("%d connections for %d workers, want them used again", n, workers)
	}
	if n := server.HighWater(); n > workers {
		t.Errorf("%d calls at once by %d workers", n, workers)
	}
}

// testLeaks checks that nothing keeps running after Close.
func (s suite) testLeaks(t *testing.T) {
	others := goleak.IgnoreCurrent()
	t.Run("calls", func(t *testing.T) {
		m, _ := s.start(t, func(a Asked) Answer { return Answer{Hang: a.Prompt() == "hang", Reply: deem.Reply{Text: "yes"}} })
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, _ = m.Complete(t.Context(), deem.Prompt("fine"))
		_, _ = m.Complete(ctx, deem.Prompt("hang"))
	})
	goleak.VerifyNone(t, others)
}
