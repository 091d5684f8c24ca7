package main

import (
	"errors"
	"testing"
)

func TestReadTicks(t *testing.T) {
	for text, want := range map[string]ticks{
		"cpu  6336933 710293 990939 3211179 40412 0 50008 145491 0 0\ncpu0 1 2 3\n": {all: 6336933 + 710293 + 990939 + 3211179 + 40412 + 50008 + 145491, stolen: 145491},
		"cpu 1 2 3 4 5 6 7 8 9 10": {all: 36, stolen: 8},
		"cpu 1 2 3 4":              {},
		"cpu 1 2 3 x 5 6 7 8 9 10": {},
		"intr 1 2 3 4 5 6 7 8 9":   {},
		"":                         {},
	} {
		if got := readTicks([]byte(text)); got != want {
			t.Errorf("readTicks(%q) = %+v, want %+v", text, got, want)
		}
	}
	if got := (ticks{all: 300, stolen: 30}).stolenSince(ticks{all: 100, stolen: 10}); got != 0.1 {
		t.Errorf("20 of 200 ticks are %v, want 0.1", got)
	}
	if got := (ticks{}).stolenSince(ticks{}); got != 0 {
		t.Errorf("where nobody knows %v are stolen, want 0", got)
	}
}

// TestUndisturbed holds that the measurement counts from which the least was taken,
// whatever it gave, and that no time is lost where nothing was taken.
func TestUndisturbed(t *testing.T) {
	for _, tt := range []struct {
		name     string
		timed    bool
		stolen   []float64
		want     float64 // which of them counts
		measured int
		repeated int
	}{
		{"quiet", true, []float64{0.001}, 0, 1, 0},
		{"not on the clock", false, []float64{0.5}, 0, 1, 0},
		{"once disturbed", true, []float64{0.3, 0.002}, 1, 2, 1},
		{"always disturbed", true, []float64{0.3, 0.2, 0.1, 0.2, 0.3, 0}, 2, 5, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var th theft
			n := 0
			values, err := th.undisturbed(workload{timed: tt.timed}, func() ([]value, float64, error) {
				n++
				return []value{{number: float64(n - 1)}}, tt.stolen[n-1], nil
			})
			if err != nil || values[0].number != tt.want || n != tt.measured || th.Repeated != tt.repeated {
				t.Errorf("measurement %v of %d counts, %d repeated, error %v, want %v of %d and %d",
					values, n, th.Repeated, err, tt.want, tt.measured, tt.repeated)
			}
		})
	}
	broken := errors.New("broken")
	var th theft
	calls := 0
	_, err := th.undisturbed(workload{timed: true}, func() ([]value, float64, error) {
		if calls++; calls == 2 {
			return nil, 0, broken
		}
		return nil, 0.5, nil
	})
	if !errors.Is(err, broken) {
		t.Errorf("error = %v, want %v", err, broken)
	}
}
