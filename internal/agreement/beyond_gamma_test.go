package agreement

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestDrawGamma compares draws with those of gonum from the same source.
func TestDrawGamma(t *testing.T) {
	for _, shape := range []float64{0.25, 0.5, 0.9, 1.5, 7, 300} {
		rnd := rand.New(rand.NewPCG(1, 2))
		want := distuv.Gamma{Alpha: shape, Beta: 1, Src: rand.NewPCG(1, 2)}
		for i := range 2000 {
			if got, want := drawGamma(rnd, shape), want.Rand(); got != want {
				t.Fatalf("draw %d of shape %v is %v, want %v", i, shape, got, want)
			}
		}
	}
}
