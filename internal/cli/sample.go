package cli

import (
	"iter"
	"math/rand/v2"

	"github.com/spf13/pflag"

	"deem"
	"deem/internal/dataset"
	"deem/internal/findings"
	"deem/internal/usage"
)

// sampleFlags declares which items are drawn. Other commands that judge have seeds of
// their own.
func (o *runOptions) sampleFlags(f *pflag.FlagSet) {
	f.Var(countFlag{&o.sample}, "sample", "judge only `n` items, drawn at random with --seed")
	f.Uint64Var(&o.seed, "seed", 1, "the `number` from which --sample and the order of --until are drawn")
}

// A sampled set is a simple random sample of items, in their own order. It has a hash of
// its own, so the same sample is the same run.
type sampled struct {
	items
	drawn []bool // by position
	n     int
	hash  string
}

// sample draws n items with a seed. All items are equally likely to be drawn.
func sample(data items, n int, seed uint64) (items, *findings.Sample, error) {
	of := data.Len()
	if n > of {
		return nil, nil, usage.Errorf("--sample %d: there are only %d items", n, of)
	}
	s := sampled{items: data, drawn: make([]bool, of), n: n}
	for _, at := range rand.New(rand.NewPCG(seed, 0)).Perm(of)[:n] {
		s.drawn[at] = true
	}
	var err error
	s.hash, err = dataset.HashItems(s.Items())
	return s, &findings.Sample{N: n, Of: of, Seed: seed}, err
}

func (s sampled) Items() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		at := 0
		for it, err := range s.items.Items() {
			if err == nil && at < len(s.drawn) && !s.drawn[at] {
				at++
				continue
			}
			at++
			if !yield(it, err) {
				return
			}
		}
	}
}

func (s sampled) Len() int     { return s.n }
func (s sampled) Hash() string { return s.hash }
