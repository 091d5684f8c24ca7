package main_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"deem/internal/test/faultserver"
)

// The soak tests run deem for an hour, or for half a minute: the real command serves
// pages and judges runs, by itself, for workers and over HTTP, against a vendor that
// misbehaves, while processes are killed and restarted.
//
// Time is divided into rounds. A round is several concurrent runs, each over different
// items, and ends when nothing is left to do. Then every item must have exactly one record,
// no request may have been repeated beyond the cost of kills, and the store must have
// recorded the cost that the vendor counted. The long-lived processes are measured
// meanwhile: at the end they must be as large as at the beginning.
//
// The events of a round are drawn from its seed, which is printed. SOAKSEED=N begins with
// that seed, so the first round repeats one that failed.

// soak runs for a time, at least two rounds, and returns the site with its counts. It ends
// early after a failed round: what follows would only hide the failure.
func soak(t *testing.T, whole time.Duration, sc scale, every time.Duration) *site {
	t.Helper()
	s := newSite(t, sc)
	ctx, stop := context.WithCancel(t.Context())
	sampled := make(chan error, 1)
	go func() { sampled <- s.sampling(ctx, every) }()
	seed := firstSeed(t)
	for n := 0; n < 2 || time.Since(s.began) < whole; n++ { // Every other seed kills a worker.
		if err := s.round(ctx, sc, n, seed+uint64(n)); err != nil {
			t.Errorf("round %d, to be repeated with SOAKSEED=%d: %v", n, seed+uint64(n), err)
			break
		}
	}
	stop()
	if err := <-sampled; err != nil {
		t.Error(err)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	s.tell(time.Since(s.began))
	return s
}

// firstSeed returns the seed of the first round; each later one is one higher.
func firstSeed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("SOAKSEED")
	if text == "" {
		return rand.Uint64() >> 16 // Short enough to type.
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("SOAKSEED: %v", err)
	}
	return seed
}

// tell prints the results, and writes them to the file SOAKOUT if it is set.
func (s *site) tell(whole time.Duration) {
	s.t.Helper()
	text := s.table(whole)
	s.t.Log("\n" + text)
	if name := os.Getenv("SOAKOUT"); name != "" {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			s.t.Error(err)
		}
	}
}

// table returns the results as text.
func (s *site) table(whole time.Duration) string {
	s.mu.Lock()
	c := s.sum
	s.mu.Unlock()
	var b strings.Builder
	for _, row := range []struct {
		name string
		n    int
	}{
		{"rounds", c.Rounds},
		{"runs", c.Runs},
		{"items", c.Items},
		{"records with a verdict", c.Verdicts},
		{"records with a failure", c.Failures},
		{"requests", c.Requests},
		{"answers charged for", c.Answered},
		{"asked again after an answer", c.Twice},
		{"processes killed", c.Kills},
		{"runs paused or cancelled", c.Cancels},
		{"pages read", c.Pages},
		{"events read", c.Events},
		{"labels given", c.Labels},
		{"labels undone", c.Undone},
		{"run files verified", c.Bundles},
		{"refused with 429, in bursts", c.Refused},
	} {
		fmt.Fprintf(&b, "%-30s %10d\n", row.name, row.n)
	}
	for _, f := range faultserver.Faults() {
		fmt.Fprintf(&b, "fault %-24s %10d\n", f, c.Faults[f])
	}
	fmt.Fprintf(&b, "%-30s %10v\n", "time", whole.Round(time.Second))
	fmt.Fprintf(&b, "%-30s %10.1f\n\n", "the file and its folder, MB", float64(sizeBelow(s.dir))/(1<<20))
	fmt.Fprintf(&b, "%-14s %-28s %8s %8s %8s %8s %6s\n", "process", "measured, but the first 5th", "1st 3rd", "last 3rd", "trend", "most", "points")
	for _, w := range s.watched {
		w.row(&b, whole)
	}
	return b.String()
}

// A few rounds, so that the hour test works when it is needed. Sizes are not checked here:
// half a minute is all warm-up.
func TestRounds(t *testing.T) {
	if testing.Short() {
		t.Skip("a short run does not soak")
	}
	s := soak(t, 15*time.Second, scale{share: 0.2}, time.Second)
	c := s.sum
	for what, n := range map[string]int{
		"killed": c.Kills, "cancelled": c.Cancels, "verified": c.Bundles, "labelled": c.Labels, "read": c.Pages, "watched": c.Events,
		"refused with 500": c.Faults[faultserver.Unavailable], "reset": c.Faults[faultserver.Reset], "cut short": c.Faults[faultserver.CutShort],
	} {
		if n == 0 {
			t.Errorf("in %d rounds nothing was %s: the test looks at too little", c.Rounds, what)
		}
	}
}
