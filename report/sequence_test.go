package report

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// The ends are those of the paper's formula, computed by brute force on the same grid of
// means by scripts/sequence_vectors.py, which shares no code with this package. The two
// round differently, by one step of the grid at most.
func TestSequenceVectors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/sequence.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name  string
		Level float64
		Aims  []float64
		Units [][3]float64
		Looks []struct {
			N      int
			Lo, Hi float64
		}
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 7 {
		t.Fatalf("%d cases, want 7", len(cases))
	}
	const step = 1.0/10_000 + 1e-9
	for _, c := range cases {
		s := newSequence(c.Level, c.Aims...)
		next := 0
		for i, u := range c.Units {
			s.Add(u[0], u[1], u[2])
			want := c.Looks[next]
			if i+1 != want.N {
				continue
			}
			next++
			if got := s.Estimate(); math.Abs(got.Lo-want.Lo) > step || math.Abs(got.Hi-want.Hi) > step {
				t.Errorf("%s, after %d units: [%.4f, %.4f], want [%.4f, %.4f]", c.Name, want.N, got.Lo, got.Hi, want.Lo, want.Hi)
			}
		}
		if next != len(c.Looks) {
			t.Errorf("%s: %d of %d looks were compared", c.Name, next, len(c.Looks))
		}
	}
}

// Whatever goes in, every interval is a part of the one before, lies from 0 to 1 and
// holds its value.
func TestSequenceNests(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newSequence(rapid.Float64Range(0.01, 0.999).Draw(t, "level"), rapid.SliceOfN(rapid.Float64(), 0, 3).Draw(t, "aims")...)
		before := s.Estimate()
		for range rapid.IntRange(0, 60).Draw(t, "n") {
			s.Add(rapid.Float64().Draw(t, "low"), rapid.Float64().Draw(t, "high"), rapid.Float64Range(-0.1, 1.2).Draw(t, "weight"))
			e := s.Estimate()
			if !(0 <= e.Lo && e.Lo <= e.Value && e.Value <= e.Hi && e.Hi <= 1) {
				t.Fatalf("not an estimate: %+v", e)
			}
			if e.Hi-e.Lo > before.Hi-before.Lo+1e-12 && before.Lo < before.Hi {
				t.Fatalf("[%v, %v] after [%v, %v]", e.Lo, e.Hi, before.Lo, before.Hi)
			}
			before = e
		}
	})
}

// Values that are not known are as wide as they may be: the interval holds those of all
// values at 0 and of all values at 1.
func TestSequenceUnknown(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	low, high, both := newSequence(0.95, 0.05), newSequence(0.95, 0.05), newSequence(0.95, 0.05)
	for range 400 {
		x, y := 0.0, 0.0
		if rng.Float64() < 0.8 {
			x, y = 1, 1
		}
		if rng.Float64() < 0.05 {
			x, y = 0, 1
		}
		low.Add(x, x, 1)
		high.Add(y, y, 1)
		both.Add(x, y, 1)
	}
	l, h, b := low.Estimate(), high.Estimate(), both.Estimate()
	if b.Lo != l.Lo || b.Hi != h.Hi || !(b.Lo < h.Lo && b.Hi > l.Hi) {
		t.Errorf("[%v, %v], want the lower end of [%v, %v] and the upper end of [%v, %v]", b.Lo, b.Hi, l.Lo, l.Hi, h.Lo, h.Hi)
	}
}
