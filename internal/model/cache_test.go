package model_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/model"
	"deem/model/fake"
)

// A shelf is a ReplyCache for tests.
type shelf map[string]deem.Reply

func (s shelf) Reply(_ context.Context, key string) (deem.Reply, bool, error) {
	reply, ok := s[key]
	return reply, ok, nil
}

// counting returns a model that answers with the number of the call, with a cost.
func counting() (deem.Model, *atomic.Int64) {
	var n atomic.Int64
	return fake.Func("fake:counting", func(context.Context, deem.Request) (deem.Reply, error) {
		return deem.Reply{Text: fmt.Sprint(n.Add(1)), Stop: deem.StopEnd, Attempts: 2, CostMicros: 7, Latency: time.Second}, nil
	}), &n
}

func TestCacheRemembers(t *testing.T) {
	m, calls := counting()
	c := model.Cache(m, nil, model.CacheOptions{})
	first, err := c.Complete(t.Context(), deem.Prompt("q"))
	if err != nil {
		t.Fatalf("Complete: %v", err)
	}
	if first.Key == "" || first.Cached || first.Attempts != 2 || first.CostMicros != 7 {
		t.Errorf("first reply %+v, want one that was paid for, with a key", first)
	}
	second, err := c.Complete(t.Context(), deem.Prompt("q"))
	if err != nil {
		t.Fatalf("Complete: %v", err)
	}
	want := first
	want.Cached, want.Attempts, want.CostMicros = true, 0, 0
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("second reply (-want +got):\n%s", diff)
	}
	if calls.Load() != 1 {
		t.Errorf("%d calls, want 1", calls.Load())
	}
}

func TestCacheReadsTheStore(t *testing.T) {
	m, calls := counting()
	key := model.Key(m, deem.Prompt("q"))
	stored := shelf{key: {Text: "kept", Attempts: 3, CostMicros: 9, Unpriced: true}}

	got, err := model.Cache(m, stored, model.CacheOptions{}).Complete(t.Context(), deem.Prompt("q"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(deem.Reply{Text: "kept", Cached: true, Key: key}, got); diff != "" {
		t.Errorf("reply from the store (-want +got):\n%s", diff)
	}

	fresh, err := model.Cache(m, stored, model.CacheOptions{Fresh: true}).Complete(t.Context(), deem.Prompt("q"))
	if err != nil {
		t.Fatal(err)
	}
	if fresh.Text != "1" || fresh.Cached || fresh.Key != key || calls.Load() != 1 {
		t.Errorf("fresh reply %+v, want a new one under the same key", fresh)
	}
}

func TestFreshReadsNoMemory(t *testing.T) {
	m, calls := counting()
	c := model.Cache(m, nil, model.CacheOptions{Fresh: true})
	for range 3 {
		if _, err := c.Complete(t.Context(), deem.Prompt("q")); err != nil {
			t.Fatal(err)
		}
	}
	if calls.Load() != 3 {
		t.Errorf("%d calls, want 3", calls.Load())
	}
}

// A brokenStore cannot be read.
type brokenStore struct{}

var errDisk = errors.New("disk on fire")

func (brokenStore) Reply(context.Context, string) (deem.Reply, bool, error) {
	return deem.Reply{}, false, errDisk
}

func TestCacheDoesNotPayWhenTheStoreIsBroken(t *testing.T) {
	m, calls := counting()
	_, err := model.Cache(m, brokenStore{}, model.CacheOptions{}).Complete(t.Context(), deem.Prompt("q"))
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || !me.Fatal || !errors.Is(err, errDisk) || calls.Load() != 0 {
		t.Errorf("error %v after %d calls, want a fatal one that wraps the store's and none", err, calls.Load())
	}
}

func TestCacheKeepsWhatIsEvidence(t *testing.T) {
	tests := []struct {
		spec string
		kept bool
	}{
		{"say=yes", true}, {"refuse", true}, {"truncate", true}, {"empty", false}, {"filter", false},
	}
	for _, tt := range tests {
		m, err := fake.New(tt.spec)
		if err != nil {
			t.Fatal(err)
		}
		c := model.Cache(m, nil, model.CacheOptions{})
		first, _ := c.Complete(t.Context(), deem.Prompt("q"))
		second, _ := c.Complete(t.Context(), deem.Prompt("q"))
		if second.Cached != tt.kept || (first.Key != "") != tt.kept {
			t.Errorf("fake:%s: key %q, then Cached = %v, want kept = %v", tt.spec, first.Key, second.Cached, tt.kept)
		}
	}
}

func TestCacheDoesNotKeepErrors(t *testing.T) {
	m, calls := failing(1, passing(0))
	c := model.Cache(m, nil, model.CacheOptions{})
	if _, err := c.Complete(t.Context(), deem.Prompt("q")); err == nil {
		t.Fatal("no error, want that of the wire")
	}
	reply, err := c.Complete(t.Context(), deem.Prompt("q"))
	if err != nil || reply.Cached || calls() != 2 {
		t.Errorf("reply %+v, error %v after %d calls, want a new reply", reply, err, calls())
	}
}

// named is a model with an endpoint.
type named struct {
	deem.Model
	name, endpoint string
}

func (n named) Name() string     { return n.name }
func (n named) Endpoint() string { return n.endpoint }

// TestKeysAreApart draws pairs of calls. Their keys are equal exactly if model, endpoint
// and request are equal.
func TestKeysAreApart(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "a", "b", "ab", "ba", "a\x00b", "<&>", "{}"})
	type call struct {
		Name, Endpoint string
		Request        deem.Request
	}
	drawCall := rapid.Custom(func(t *rapid.T) call {
		req := deem.Request{
			MaxTokens: rapid.IntRange(0, 1).Draw(t, "max"),
			Trial:     rapid.IntRange(0, 1).Draw(t, "trial"),
			Stop:      rapid.SliceOfN(text, 0, 2).Draw(t, "stop"),
		}
		for range rapid.IntRange(1, 2).Draw(t, "messages") {
			req.Messages = append(req.Messages, deem.Message{Role: text.Draw(t, "role"), Content: text.Draw(t, "content")})
		}
		if rapid.Bool().Draw(t, "temperate") {
			zero := 0.0
			req.Temperature = &zero
		}
		return call{text.Draw(t, "name"), text.Draw(t, "endpoint"), req}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawCall.Draw(t, "a"), drawCall.Draw(t, "b")
		same := a.Name == b.Name && a.Endpoint == b.Endpoint && a.Request.Hash() == b.Request.Hash()
		if ka, kb := key(a.Name, a.Endpoint, a.Request), key(b.Name, b.Endpoint, b.Request); (ka == kb) != same {
			t.Errorf("keys %s and %s of %+v and %+v, want equal = %v", ka, kb, a, b, same)
		}
	})
}

// key returns the key of a request to the named model at an endpoint.
func key(name, endpoint string, req deem.Request) string {
	// A wrapper in between must not hide the endpoint.
	m := model.Retry(named{name: name, endpoint: endpoint}, model.RetryOptions{})
	return model.Key(m, req)
}

// TestKeyIsStable pins a key, computed by another program: stored replies must be found
// after an update.
func TestKeyIsStable(t *testing.T) {
	zero := 0.0
	req := deem.Prompt("Is it so?")
	req.Temperature, req.MaxTokens, req.Trial = &zero, 10, 1
	const want = "beaa00b054b7bf4d464fa6fc7331646718b0402e6b49e52bbe5d049cbd581619"
	if got := key("openai:gpt-4o", "https://api.openai.com/v1", req); got != want {
		t.Errorf("key %s, want %s; a change of keys needs a new version in them", got, want)
	}
}

func TestIdenticalRequestsInFlightAreOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &vendor{}
		c := model.Cache(model.Meter(v, model.Prices{}), nil, model.CacheOptions{Fresh: true})
		var wg sync.WaitGroup
		var paid atomic.Int64
		for range 100 {
			wg.Go(func() {
				reply, err := c.Complete(t.Context(), deem.Prompt("q"))
				if err != nil {
					t.Errorf("Complete: %v", err)
				}
				if !reply.Cached {
					paid.Add(1)
				}
			})
		}
		wg.Wait()
		if v.calls != 1 || paid.Load() != 1 {
			t.Errorf("%d calls, %d replies paid for, want one of each", v.calls, paid.Load())
		}
	})
}

func TestErrorIsSharedOnlyInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		m := fake.Func("fake:slow", func(context.Context, deem.Request) (deem.Reply, error) {
			calls++
			time.Sleep(time.Second)
			return deem.Reply{}, passing(0)
		})
		c := model.Cache(m, nil, model.CacheOptions{})
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := c.Complete(t.Context(), deem.Prompt("q")); err == nil {
					t.Error("no error, want that of the wire")
				}
			})
		}
		wg.Wait()
		_, _ = c.Complete(t.Context(), deem.Prompt("q"))
		if calls != 2 {
			t.Errorf("%d calls, want one for the ten in flight and one after", calls)
		}
	})
}

// TestInterruptedLeaderFailsNobodyElse interrupts the caller whose call the others
// wait for.
func TestInterruptedLeaderFailsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &vendor{}
		c := model.Cache(v, nil, model.CacheOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.Complete(ctx, deem.Prompt("q")); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("leader: error %v, want that of its context", err)
			}
		})
		synctest.Wait()
		for range 10 {
			wg.Go(func() {
				if reply, err := c.Complete(t.Context(), deem.Prompt("q")); err != nil || reply.Text != "yes" {
					t.Errorf("follower: reply %+v, error %v, want yes", reply, err)
				}
			})
		}
		wg.Wait()
		if v.calls != 2 {
			t.Errorf("%d calls, want the leader's and one for all others", v.calls)
		}
	})
}

func TestInterruptedFollowerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := model.Cache(&vendor{}, nil, model.CacheOptions{})
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.Complete(t.Context(), deem.Prompt("q")); err != nil {
				t.Errorf("leader: %v", err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		if _, err := c.Complete(ctx, deem.Prompt("q")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("follower: error %v, want that of its context", err)
		}
		if took := time.Since(start); took != 100*time.Millisecond {
			t.Errorf("follower left after %v, want 100ms", took)
		}
		wg.Wait()
	})
}

func TestPanickingLeaderLeavesNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		m := fake.Func("fake:panic", func(context.Context, deem.Request) (deem.Reply, error) {
			calls++
			time.Sleep(time.Second)
			if calls == 1 {
				panic("bug")
			}
			return deem.Reply{Text: "yes"}, nil
		})
		c := model.Cache(m, nil, model.CacheOptions{})
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() { _ = recover() }()
			_, _ = c.Complete(t.Context(), deem.Prompt("q"))
		})
		synctest.Wait()
		reply, err := c.Complete(t.Context(), deem.Prompt("q"))
		if err != nil || reply.Text != "yes" {
			t.Errorf("reply %+v, error %v, want yes", reply, err)
		}
		wg.Wait()
	})
}

// TestCacheForgetsWhatIsLeastUsed uses one reply repeatedly while others come and go.
func TestCacheForgetsWhatIsLeastUsed(t *testing.T) {
	m, _ := counting()
	c := model.Cache(m, nil, model.CacheOptions{Entries: 3})
	for i := range 20 {
		if _, err := c.Complete(t.Context(), deem.Prompt(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		reply, err := c.Complete(t.Context(), deem.Prompt("popular"))
		if err != nil || reply.Cached != (i > 0) {
			t.Errorf("round %d: Cached = %v, error %v, want %v", i, reply.Cached, err, i > 0)
		}
	}
}

// TestCacheIsBounded fills the memory beyond its bounds.
func TestCacheIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1000)
	tests := []struct {
		name string
		o    model.CacheOptions
		keep int // how many of the last prompts are kept
	}{
		{"entries", model.CacheOptions{Entries: 10}, 10},
		{"bytes", model.CacheOptions{Bytes: 20_000}, 12}, // 1,000 bytes and about 640 for the rest of a reply
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := fake.Func("fake:long", func(context.Context, deem.Request) (deem.Reply, error) {
				return deem.Reply{Text: long}, nil
			})
			c := model.Cache(m, nil, tt.o)
			ask := func(i int) bool {
				reply, err := c.Complete(t.Context(), deem.Prompt(fmt.Sprint(i)))
				if err != nil {
					t.Fatal(err)
				}
				return reply.Cached
			}
			for i := range 100 {
				ask(i)
			}
			kept := 0
			for i := 99; i >= 0 && ask(i); i-- {
				kept++
			}
			if kept != tt.keep {
				t.Errorf("the last %d replies are remembered, want %d", kept, tt.keep)
			}
		})
	}
}
