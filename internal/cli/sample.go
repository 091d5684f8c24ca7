package cli

import (
	"math/rand/v2"

	"github.com/spf13/pflag"

	"deem"
	"deem/internal/reports"
	"deem/internal/usage"
)

// sampleFlags declares the flags for drawing items. Other commands that judge have their
// own seeds.
func (o *runOptions) sampleFlags(f *pflag.FlagSet) {
	f.Var(countFlag(&o.sample), "sample", "judge only `n` items, drawn at random with --seed")
	f.Uint64Var(&o.seed, "seed", 1, "random seed (a `number`) for --sample and the order of --until")
}

// sample draws n items with a seed, in their original order. All items are equally likely
// to be drawn. The same sample has the same hash, so it is the same run.
func sample(data items, n int, seed uint64) (items, *reports.Sample, error) {
	of := data.Len()
	if n > of {
		return nil, nil, usage.Errorf("--sample %d: there are only %d items", n, of)
	}
	drawn := make([]bool, of)
	for _, at := range rand.New(rand.NewPCG(seed, 0)).Perm(of)[:n] {
		drawn[at] = true
	}
	s, err := derive(data, changed(data, func(at int, it deem.Item) (deem.Item, bool) { return it, drawn[at] }))
	return s, &reports.Sample{N: n, Of: of, Seed: seed}, err
}
