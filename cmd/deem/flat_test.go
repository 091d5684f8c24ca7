package main_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A series is a number measured repeatedly.
type series []point

type point struct {
	at time.Duration // since the start
	v  float64
}

// settled omits the first fifth of the time: caches fill, pools open connections, and the
// garbage collector adapts.
func (s series) settled(whole time.Duration) series {
	i := slices.IndexFunc(s, func(p point) bool { return p.at >= whole/5 })
	if i < 0 {
		return nil
	}
	return s[i:]
}

// growth returns how much the number grew from the first point to the last, by the median
// of the slopes between all pairs of points (Theil-Sen): it is robust even if a third of
// the points are outliers, such as peaks of a garbage collection cycle.
func (s series) growth() float64 {
	var slopes []float64
	for i, p := range s {
		for _, q := range s[i+1:] {
			if dt := (q.at - p.at).Seconds(); dt > 0 {
				slopes = append(slopes, (q.v-p.v)/dt)
			}
		}
	}
	if len(slopes) == 0 {
		return 0
	}
	return median(slopes) * (s[len(s)-1].at - s[0].at).Seconds()
}

// thirds returns the medians of the first and of the last third.
func (s series) thirds() (first, last float64) {
	n := max(1, len(s)/3)
	if len(s) == 0 {
		return 0, 0
	}
	return median(s[:n].values()), median(s[len(s)-n:].values())
}

func (s series) values() []float64 {
	list := make([]float64, len(s))
	for i, p := range s {
		list[i] = p.v
	}
	return list
}

// most returns the largest number.
func (s series) most() float64 {
	if len(s) == 0 {
		return 0
	}
	return slices.Max(s.values())
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

// A bound is the allowed growth of a number: an absolute amount, or a share of its value,
// whichever is more.
type bound struct{ by, share float64 }

// The limits between noise and growth, over the whole time.
var (
	memoryBound = bound{by: 8 << 20, share: 0.10}
	countBound  = bound{by: 4, share: 0.05} // goroutines and descriptors of an idle process
	logBound    = bound{by: 16 << 20, share: 0.10}
)

// allows returns the growth that the bound allows a series.
func (b bound) allows(s series) float64 {
	first, _ := s.thirds()
	return math.Max(b.by, b.share*first)
}

// A process of constant size is flat, however much the size fluctuates; one that grows by a
// fifth is not, nor is one that grows in steps.
func TestGrowth(t *testing.T) {
	const mb = 1 << 20
	rng := rand.New(rand.NewPCG(1, 2))
	measured := func(size func(share float64) float64) series {
		var s series
		for at := time.Duration(0); at < time.Hour; at += 5 * time.Second {
			saw := float64(at%(40*time.Second)) / float64(40*time.Second) // A garbage collection cycle.
			noise := 10*mb*saw + 2*mb*rng.NormFloat64()
			if rng.IntN(20) == 0 {
				noise += 60 * mb // A large page.
			}
			s = append(s, point{at, size(float64(at)/float64(time.Hour)) + noise})
		}
		return s.settled(time.Hour)
	}
	for _, c := range []struct {
		name string
		size func(share float64) float64
		flat bool
	}{
		{"flat", func(float64) float64 { return 80 * mb }, true},
		{"shrinks", func(x float64) float64 { return (80 - 30*x) * mb }, true},
		{"warms up", func(x float64) float64 { return (50 + 30*math.Min(1, x*6)) * mb }, true},
		{"leaks", func(x float64) float64 { return (80 + 16*x) * mb }, false},
		{"leaks fast", func(x float64) float64 { return (80 + 400*x) * mb }, false},
		{"steps", func(x float64) float64 { return (80 + 8*math.Floor(x*4)) * mb }, false},
	} {
		s := measured(c.size)
		if got, allowed := s.growth(), memoryBound.allows(s); (got <= allowed) != c.flat {
			t.Errorf("%s: grew by %.1f MB where %.1f are allowed, want flat %v", c.name, got/mb, allowed/mb, c.flat)
		}
	}
	if got := (series{{0, 1}, {time.Hour, 3}}).growth(); got != 2 {
		t.Errorf("from 1 to 3 the growth is %v, want 2", got)
	}
	if got := (series{}).growth(); got != 0 {
		t.Errorf("of nothing the growth is %v, want 0", got)
	}
	if first, last := (series{{1, 5}, {2, 1}, {3, 9}}).thirds(); first != 5 || last != 9 {
		t.Errorf("thirds = %v and %v, want 5 and 9", first, last)
	}
}
