package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deem/model"
)

// A vendor serves so many calls a second, as a bucket of tokens does, and refuses some
// for reasons of its own.
type vendor struct {
	after time.Duration // what a refusal says

	mu      sync.Mutex
	rate    float64 // calls a second that it bears
	stray   float64 // share of calls that it refuses whatever their rate
	down    bool    // refuses all
	level   float64 // of the bucket
	filled  time.Time
	began   time.Time
	random  *rand.Rand
	served  []int // by second
	refused []int
}

// newVendor returns a vendor, to be asked for so many seconds.
func newVendor(rate, stray float64, after time.Duration, length int) *vendor {
	now := time.Now()
	return &vendor{
		after: after, rate: rate, stray: stray, level: rate / 2, filled: now, began: now,
		random: rand.New(rand.NewPCG(7, 11)), served: make([]int, length+1), refused: make([]int, length+1),
	}
}

// call reports whether a call is served, and how long the answer takes.
func (v *vendor) call() (bool, time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	v.level = min(v.rate/2, v.level+v.rate*now.Sub(v.filled).Seconds())
	v.filled = now
	second := int(now.Sub(v.began) / time.Second)
	if v.down || v.random.Float64() < v.stray || v.level < 1 {
		v.refused[second]++
		return false, time.Duration(10+v.random.IntN(20)) * time.Millisecond
	}
	v.level--
	v.served[second]++
	return true, time.Duration(150+v.random.IntN(100)) * time.Millisecond
}

// change changes the vendor.
func (v *vendor) change(how func(*vendor)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	how(v)
}

// between returns how many calls a second were served from one second to another, and
// which share of all was refused.
func (v *vendor) between(from, to int) (served, share float64) {
	yes, no := 0, 0
	for s := from; s < to; s++ {
		yes, no = yes+v.served[s], no+v.refused[s]
	}
	return float64(yes) / float64(to-from), float64(no) / float64(max(1, yes+no))
}

// reached returns the first second from which on three seconds had so many served calls each.
func (v *vendor) reached(from int, rate float64) int {
	for s := from; s+3 < len(v.served); s++ {
		if n, _ := v.between(s, s+3); n >= rate {
			return s
		}
	}
	return len(v.served)
}

// askFor lets three workers with so many calls at once each ask a vendor for so many
// seconds of simulated time, of which the pace is the same as in the database. The call
// that is refused waits as long as it was told, as a retry does.
func askFor(t *testing.T, v *vendor, length, slots int) {
	t.Helper()
	var mu sync.Mutex
	var p pace
	reserve := func(_ context.Context, w wish) (grant, time.Time, error) {
		time.Sleep(2 * time.Millisecond) // The way to the database.
		mu.Lock()
		defer mu.Unlock()
		return p.take(time.Now(), w), time.Now(), nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(length)*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for range 3 {
		l := &limit{reserve: reserve, size: 1, lock: make(chan struct{}, 1)}
		for range slots {
			all.Go(func() { l.askOn(ctx, v) })
		}
	}
	all.Wait()
}

// askOn makes call after call.
func (l *limit) askOn(ctx context.Context, v *vendor) {
	tries := 0
	for l.Begin(ctx, 1) == nil {
		ok, took := v.call()
		_ = wait(ctx, took)
		if ok {
			tries = 0
			l.End(model.FleetCall{})
			continue
		}
		l.End(model.FleetCall{Refused: true, RetryAfter: v.after})
		_ = wait(ctx, max(v.after, 250*time.Millisecond<<min(tries, 6)))
		tries++
	}
}

// A vendor that counts calls is asked for as many as it bears, soon and with few
// refusals, also when it bears fewer or more from one moment to the next.
func TestPaceFindsTheLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate, then float64
		after      time.Duration
		settle     int     // seconds that it takes to find the limit
		refused    float64 // share, at most
	}{
		{rate: 100, then: 50, settle: 10, refused: 0.12},
		{rate: 100, then: 50, after: time.Second, settle: 10, refused: 0.12},
		{rate: 100, then: 200, settle: 25, refused: 0.12},
		{rate: 100, then: 200, after: time.Second, settle: 25, refused: 0.12},
		{rate: 10, then: 5, settle: 25, refused: 0.15},
		{rate: 10, then: 20, after: time.Second, settle: 25, refused: 0.15},
	} {
		t.Run(fmt.Sprintf("%v then %v after %v", c.rate, c.then, c.after), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v := newVendor(c.rate, 0, c.after, 120)
				time.AfterFunc(time.Minute, func() { v.change(func(v *vendor) { v.rate = c.then }) })
				askFor(t, v, 120, 40)
				for _, part := range []struct {
					from, to int
					rate     float64
				}{{c.settle, 60, c.rate}, {60 + c.settle, 120, c.then}} {
					served, share := v.between(part.from, part.to)
					t.Logf("of %v a second %.1f were served, and %.1f%% refused", part.rate, served, 100*share)
					if served < 0.85*part.rate {
						t.Errorf("from second %d to %d %.1f calls a second were served, want %.1f", part.from, part.to, served, 0.85*part.rate)
					}
					if share > c.refused {
						t.Errorf("from second %d to %d %.1f%% were refused, want at most %.0f%%", part.from, part.to, 100*share, 100*c.refused)
					}
				}
			})
		})
	}
}

// A vendor that refuses now and then, whatever the rate, is asked for nearly all it bears.
func TestPaceBearsStrayRefusals(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, time.Second} {
		for stray, want := range map[float64]float64{0.01: 150, 0.02: 150, 0.05: 130, 0.1: 15} {
			t.Run(fmt.Sprintf("%v after %v", stray, after), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					v := newVendor(200, stray, after, 120)
					askFor(t, v, 120, 40)
					early, _ := v.between(0, 20)
					served, share := v.between(20, 120)
					t.Logf("%.1f calls a second were served, %.1f in the first seconds, and %.1f%% refused", served, early, 100*share)
					if served < want {
						t.Errorf("%.1f calls a second were served, want %.0f", served, want)
					}
				})
			})
		}
	}
}

// A vendor that refuses all is left in peace, and asked again when it is back.
func TestPaceOutlastsAnOutage(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, time.Second, 5 * time.Second} {
		t.Run(after.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v := newVendor(200, 0, after, 240)
				time.AfterFunc(30*time.Second, func() { v.change(func(v *vendor) { v.down = true }) })
				time.AfterFunc(90*time.Second, func() { v.change(func(v *vendor) { v.down = false }) })
				askFor(t, v, 240, 40)
				first, storm := 0, 0
				for s := 30; s < 90; s++ {
					if s < 36 {
						first += v.refused[s]
					} else {
						storm += v.refused[s]
					}
				}
				back := v.reached(90, 100) - 90
				t.Logf("%d calls were refused in the first 6 seconds, then %.2f a second; back after %d s", first, float64(storm)/54, back)
				if first > 1000 || storm > 4*54 {
					t.Errorf("%d calls and then %.1f a second were made in vain, want a thousand and 4", first, float64(storm)/54)
				}
				if back > 60 {
					t.Errorf("half of the rate was back after %d s, want 60", back)
				}
			})
		})
	}
}

// However many workers tell how late of refusals in the same second, the rate is cut once,
// by the share that was refused.
func TestPaceCutsOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		refused int           // of a hundred, by each of three workers
		late    time.Duration // from one worker to the next
		lo, hi  float64       // what is left of 300 a second
	}{
		{"few at once", 2, 10 * time.Millisecond, 270, 290},
		{"few, late", 2, 3 * time.Second, 270, 290},
		{"half at once", 50, 10 * time.Millisecond, 120, 240},
		{"half, late", 50, 3 * time.Second, 120, 240},
	} {
		var p pace
		now := origin
		for range 20 {
			now = now.Add(time.Second)
			p.take(now, wish{requests: 1, sent: 300})
		}
		bad := now.Add(time.Second)
		p.take(bad, wish{requests: 1, sent: 100, refused: c.refused})
		for i := range 2 {
			now = bad.Add(time.Duration(i+1) * c.late)
			before := p.Rate
			p.take(now, wish{requests: 1, sent: 100, refused: c.refused, ago: now.Sub(bad)})
			if c.late > sameTrouble && p.Rate < before {
				t.Errorf("%s: news %v later lower the rate from %.1f to %.1f", c.name, now.Sub(bad), before, p.Rate)
			}
			if c.late < sameTrouble && (p.Rate < c.lo || p.Rate > c.hi) {
				t.Errorf("%s: the rate is %.1f, want %.0f to %.0f", c.name, p.Rate, c.lo, c.hi)
			}
		}
		if !p.Cut.Equal(bad) {
			t.Errorf("%s: there was another cut %v later", c.name, p.Cut.Sub(bad))
		}
	}
}

// A row of an earlier version, which knows no share, is cut as it was then; and what is
// written is nothing that was not known.
func TestPaceReadsOldRows(t *testing.T) {
	const row = `{"next":"2000-01-01T00:00:00Z","rate":80,"peak":100,"cut":"1999-12-31T23:59:00Z","grown":"2000-01-01T00:00:00Z",` +
		`"since":"2000-01-01T00:00:00Z","sent":500,"speed":100}`
	var p pace
	if err := json.Unmarshal([]byte(row), &p); err != nil {
		t.Fatal(err)
	}
	if out, err := json.Marshal(p); err != nil || string(out) != row {
		t.Errorf("the row becomes %s, %v, want %s", out, err, row)
	}
	p.take(origin, wish{requests: 1, sent: 1, refused: 1, retryAfter: time.Second})
	if want := 80 * cutTo; p.Rate < want-1 || p.Rate > want+1 {
		t.Errorf("the rate is cut to %.1f, want %.1f", p.Rate, want)
	}
	if want := origin.Add(time.Second); !p.Paused.Equal(want) {
		t.Errorf("everybody pauses until %v, want %v", p.Paused, want)
	}
}

// A Retry-After stops all workers when many calls are refused, and not for a stray one.
func TestPacePausesForMany(t *testing.T) {
	for _, c := range []struct {
		refused int
		pause   bool
	}{{1, false}, {10, false}, {60, true}, {100, true}} {
		var p pace
		now := origin
		for range 20 {
			now = now.Add(time.Second)
			p.take(now, wish{requests: 1, sent: 100})
		}
		now = now.Add(time.Second)
		g := p.take(now, wish{requests: 1, sent: 100, refused: c.refused, retryAfter: 5 * time.Second})
		if got := g.paused.After(now); got != c.pause {
			t.Errorf("%d of a hundred refused: a pause until %v, want one: %v", c.refused, g.paused, c.pause)
		}
	}
}
