package ollama_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/model/ollama"
)

// words returns a prompt of n words of six letters, about two tokens each by our estimate
// and one by the machine's count.
func words(n int) deem.Request { return deem.Prompt(strings.Repeat("memory ", n)) }

// lean returns a prompt of n words of one letter, for which our estimate is too low.
func lean(n int) deem.Request { return deem.Prompt(strings.Repeat("a ", n)) }

// itemError checks that err concerns only its item.
func itemError(t *testing.T, what string, err error) {
	t.Helper()
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || me.Passing || me.Fatal || me.Kind != deem.Provider {
		t.Errorf("%s: error %#v, want one that belongs to the item", what, err)
	}
}

func TestWindowFitsThePrompt(t *testing.T) {
	tests := []struct {
		name string
		s    *machine
		o    ollama.Options
		req  deem.Request
		want []int
	}{
		{"short", &machine{trained: 131072}, ollama.Options{}, words(10), []int{4096}},
		{"long", &machine{trained: 131072}, ollama.Options{}, words(10_000), []int{32768}},
		{"at most what the model was made for", &machine{trained: 20_000}, ollama.Options{}, words(10_000), []int{20_000}},
		{"a small model", &machine{trained: 2048}, ollama.Options{}, words(10), []int{2048}},
		{"nothing known of the model", &machine{}, ollama.Options{}, words(10_000), []int{32768}},
		{"the model's own window", &machine{trained: 131072, params: "stop  \"<|end|>\"\nnum_ctx    16384\n"}, ollama.Options{}, words(10), []int{16384}},
		{"more than the model's own window", &machine{trained: 131072, params: "num_ctx 8192"}, ollama.Options{}, words(10_000), []int{32768}},
		{"room for thoughts", &machine{trained: 131072, thinking: true}, ollama.Options{}, words(10), []int{16384}},
		{"no room for thoughts that are turned off", &machine{trained: 131072, thinking: true}, ollama.Options{Think: "off"}, words(10), []int{4096}},
		{"a window that is given", &machine{trained: 131072}, ollama.Options{ContextLength: 6000}, words(10), []int{6000}},
		{"a model that runs elsewhere", &machine{trained: 131072, remote: true}, ollama.Options{}, words(10_000), []int{0}},
		{"an estimate below the count, with room to spare", &machine{trained: 131072}, ollama.Options{}, lean(12_000), []int{16384}},
	}
	for _, tt := range tests {
		m := tt.s.open(t, tt.o)
		if _, err := m.Complete(t.Context(), tt.req); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		windows, _ := tt.s.asked()
		if diff := cmp.Diff(tt.want, windows); diff != "" {
			t.Errorf("%s: windows (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestRoomForTheReply(t *testing.T) {
	s := machine{trained: 131072}
	req := words(10)
	req.MaxTokens = 10_000
	if _, err := s.open(t, ollama.Options{}).Complete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if windows, _ := s.asked(); windows[0] != 16384 {
		t.Errorf("a reply of 10000 tokens got a window of %d, want 16384", windows[0])
	}
}

// TestEstimateTooLow makes the server count more tokens than estimated: the call is
// repeated with room for that count.
func TestEstimateTooLow(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    *machine
		want []int
	}{
		{"counted", &machine{trained: 131072}, []int{16384, 32768}},
		{"not counted", &machine{trained: 131072, bare: true}, []int{16384, 131072}},
		{"counted, and nothing known of the model", &machine{}, []int{16384, 32768}},
	} {
		reply, err := tt.s.open(t, ollama.Options{}).Complete(t.Context(), lean(16_500))
		if err != nil || reply.Text != "yes" || reply.Usage.Input != 16_500 || reply.Attempts != 1 {
			t.Errorf("%s: reply %+v, error %v, want a yes to all 16500 tokens", tt.name, reply, err)
		}
		windows, _ := tt.s.asked()
		if diff := cmp.Diff(tt.want, windows); diff != "" {
			t.Errorf("%s: windows (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestPromptThatCannotFit must fail only its item, and not affect the next one.
func TestPromptThatCannotFit(t *testing.T) {
	for _, tt := range []struct {
		name  string
		s     *machine
		o     ollama.Options
		calls int
		hint  string
	}{
		{"longer than the model takes", &machine{trained: 8192}, ollama.Options{}, 1, ""},
		{"not counted", &machine{trained: 8192, bare: true}, ollama.Options{}, 1, ""},
		{"not counted, and nothing known of the model", &machine{bare: true}, ollama.Options{}, 1, ""},
		{"longer than the window that is given", &machine{trained: 131072}, ollama.Options{ContextLength: 4096}, 1, "give a larger context length, or none"},
	} {
		m := tt.s.open(t, tt.o)
		req := lean(17_000)
		_, err := m.Complete(t.Context(), req)
		itemError(t, tt.name, err)
		if hint := deem.HintOf(err); hint != tt.hint {
			t.Errorf("%s: hint %q, want %q", tt.name, hint, tt.hint)
		}
		if windows, _ := tt.s.asked(); len(windows) != tt.calls {
			t.Errorf("%s: windows %v, want %d calls", tt.name, windows, tt.calls)
		}
		if _, err := m.Complete(t.Context(), words(10)); err != nil {
			t.Errorf("%s: the next item: %v", tt.name, err)
		}
	}
}

// TestOldServerCuts makes a server truncate the prompt although it was told not to.
func TestOldServerCuts(t *testing.T) {
	cutting := machine{trained: 8192, old: true}
	_, err := cutting.open(t, ollama.Options{}).Complete(t.Context(), words(9000))
	itemError(t, "a prompt that was cut", err)
	if !strings.Contains(deem.HintOf(err), "0.12.6") {
		t.Errorf("hint %q, want the version to update to", deem.HintOf(err))
	}

	shifting := machine{trained: 8192, old: true, writes: 7000}
	_, err = shifting.open(t, ollama.Options{}).Complete(t.Context(), words(2500))
	itemError(t, "a prompt that was pushed out", err)

	fine := machine{trained: 8192, old: true}
	if _, err := fine.open(t, ollama.Options{}).Complete(t.Context(), words(2500)); err != nil {
		t.Errorf("a prompt that fits: %v", err)
	}
}

// TestReplyFillsTheWindow has a truncated reply, which is not a truncated prompt.
func TestReplyFillsTheWindow(t *testing.T) {
	s := machine{trained: 4096, writes: 10_000}
	reply, err := s.open(t, ollama.Options{}).Complete(t.Context(), words(100))
	if err != nil || reply.Stop != deem.StopLength {
		t.Errorf("reply %+v, error %v, want one cut off by its length", reply, err)
	}
}

// TestWindowNeverShrinks: Ollama reloads the model for each change.
func TestWindowNeverShrinks(t *testing.T) {
	s := machine{trained: 131072}
	m := s.open(t, ollama.Options{})
	for _, n := range []int{10, 10_000, 10, 3000, 10} {
		if _, err := m.Complete(t.Context(), words(n)); err != nil {
			t.Fatal(err)
		}
	}
	windows, shows := s.asked()
	if diff := cmp.Diff([]int{4096, 32768, 32768, 32768, 32768}, windows); diff != "" || shows != 1 {
		t.Errorf("asked %d times about the model, windows (-want +got):\n%s", shows, diff)
	}
}

// TestMemory: a long prompt that needs too much memory fails its item, and a model that
// does not fit at all ends the run.
func TestMemory(t *testing.T) {
	s := machine{trained: 131072, memory: 8192}
	m := s.open(t, ollama.Options{})
	_, err := m.Complete(t.Context(), words(10_000))
	itemError(t, "a long prompt", err)
	if deem.HintOf(err) == "" {
		t.Error("want of memory has no hint")
	}
	if _, err := m.Complete(t.Context(), words(10)); err != nil {
		t.Errorf("the next item: %v", err)
	}
	if windows, _ := s.asked(); windows[1] != 4096 {
		t.Errorf("windows %v, want the second at 4096", windows)
	}

	small := machine{trained: 131072, memory: 2048}
	_, err = small.open(t, ollama.Options{}).Complete(t.Context(), words(10))
	if me, ok := errors.AsType[*deem.ModelError](err); !ok || !me.Fatal || deem.HintOf(err) == "" {
		t.Errorf("a model that does not fit: %v, want a fatal error with a hint", err)
	}
}

// TestAboutTheModel covers what the server may report about the model.
func TestAboutTheModel(t *testing.T) {
	tests := []struct {
		name           string
		status         int
		body           string
		chats          int
		passing, fatal bool
		hint           string
	}{
		{"not there", 404, `{"error":"model 'llama3.2' not found"}`, 0, false, true, "run `ollama pull llama3.2`"},
		{"busy", 503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, 0, true, false, ""},
		{"not said", 403, "forbidden", 1, false, false, ""},
		{"no such call", 404, "404 page not found", 1, false, false, ""},
		{"garbled", 200, "hello", 1, false, false, ""},
		{"of another form", 200, `{"model_info":{"llama.context_length":"long"},"parameters":"num_ctx many"}`, 1, false, false, ""},
	}
	for _, tt := range tests {
		s := machine{showStatus: tt.status, showBody: tt.body}
		m := s.open(t, ollama.Options{})
		_, err := m.Complete(t.Context(), words(10))
		me, _ := errors.AsType[*deem.ModelError](err)
		switch {
		case tt.chats > 0:
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		case me == nil || me.Passing != tt.passing || me.Fatal != tt.fatal || deem.HintOf(err) != tt.hint:
			t.Errorf("%s: error %+v with hint %q", tt.name, me, deem.HintOf(err))
		}
		if windows, _ := s.asked(); len(windows) != tt.chats {
			t.Errorf("%s: %d chats, want %d", tt.name, len(windows), tt.chats)
		}
	}
}

// TestAsksAgainAboutTheModel asks again after a transient error, and not after an answer.
func TestAsksAgainAboutTheModel(t *testing.T) {
	s := machine{trained: 8192, showStatus: http.StatusServiceUnavailable}
	m := s.open(t, ollama.Options{})
	if _, err := m.Complete(t.Context(), words(10)); err == nil {
		t.Error("a busy server gave a reply")
	}
	s.mu.Lock()
	s.showStatus = 0
	s.mu.Unlock()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if reply, err := m.Complete(t.Context(), words(10)); err != nil || reply.Fingerprint != "3.2B Q4_K_M" {
				t.Errorf("reply %+v, error %v, want the fingerprint 3.2B Q4_K_M", reply, err)
			}
		})
	}
	wg.Wait()
	if windows, shows := s.asked(); shows != 2 || len(windows) != 16 {
		t.Errorf("asked %d times about the model in %d chats, want 2 in 16", shows, len(windows))
	}
}

// TestWaitingForTheModelEnds stops waiting when the waiting caller's context is done.
func TestWaitingForTheModelEnds(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	m := open(t, ollama.Options{Model: "m", HTTPClient: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
		close(arrived)
		<-release
		return nil, r.Context().Err()
	})}})
	first, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = m.Complete(first, words(1)) })
	<-arrived
	second, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := m.Complete(second, words(1))
	if _, isModel := errors.AsType[*deem.ModelError](err); isModel || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
	stop()
	close(release)
	wg.Wait()
}
