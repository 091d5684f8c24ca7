package judge_test

import (
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"deem"
	"deem/judge"
)

// TestReadingMemory checks that reading a long reply takes at most 8 bytes of memory per
// byte of reply and response.
func TestReadingMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const size, most = 1 << 20, 8
	response := "The harbour of Lisbon was opened in 1887, and that is CORRECT. "
	var protocols []judge.Readable
	for _, name := range []string{"universal", "rubric"} {
		d, _ := judge.Builtin(name)
		p, err := d.Protocol(judge.Strict)
		if err != nil {
			t.Fatal(err)
		}
		protocols = append(protocols, p)
	}
	for name, c := range map[string]struct{ unit, response string }{
		"prose":      {"The response names the harbour of the reference, as it should. ", response},
		"objects":    {`{"a": 1} `, response},
		"one object": {`{"a": [` + strings.Repeat("1,", size/2), response},
		"labels":     {"CORRECT or ", response},
		"digits":     {"1 ", response},
		"quotes":     {`"opened in 1887" `, response},
		"tags":       {"<think></think>", response},
		"copied":     {"The response names the harbour of the reference, as it should. ", strings.Repeat(response, size/len(response))},
	} {
		text := strings.Repeat(c.unit, size/len(c.unit)+1)
		for _, p := range protocols {
			it := deem.Item{ID: "q", Response: c.response}
			start := time.Now()
			// Garbage that waits for the collector counts too, and on a busy machine it waits
			// long: the smallest of three peaks is what reading needs at most.
			per := math.Inf(1)
			for i := 0; i < 3 && per > most; i++ {
				peak := peakMemory(func() { _, _ = p.Read(it, deem.Reply{Text: text, Stop: deem.StopEnd}) })
				per = min(per, float64(peak)/float64(len(text)+len(c.response)))
			}
			t.Logf("%s, %s, %s: %.1f bytes per byte, %v", name, p.Name(), p.Reading(), per, time.Since(start).Round(time.Millisecond))
			if per > most {
				t.Errorf("%s: %s takes %.1f bytes of memory for each byte under the reading %s, want at most %d", name, p.Name(), per, p.Reading(), most)
			}
		}
	}
}

// peakMemory returns the peak memory use of f. It sets a low GC percentage, so that garbage
// hardly counts.
func peakMemory(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, peak := m.HeapAlloc, m.HeapAlloc
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for ticks := time.NewTicker(2 * time.Millisecond); ; {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
			select {
			case <-over:
				ticks.Stop()
				return
			case <-ticks.C:
			}
		}
	})
	f()
	close(over)
	wg.Wait()
	return peak - before
}
