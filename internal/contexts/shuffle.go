package contexts

import (
	"errors"
	"iter"
	"math/rand/v2"

	"deem"
	"deem/internal/reader"
)

// Shuffle gives each item the contexts of another one, drawn at random: of another
// conversation if there are several, and never equal to its own. It returns the field of
// contexts of each item in their order. Items whose retrieval failed give none.
func Shuffle(data iter.Seq2[deem.Item, error], seed uint64) ([]string, error) {
	var list []deem.Item
	var donors []int
	for it, err := range data {
		if err != nil {
			return nil, err
		}
		if it.Fields[reader.FieldStatus] == "" {
			donors = append(donors, len(list))
		}
		list = append(list, deem.Item{Cluster: it.Cluster, Fields: map[string]string{reader.FieldContexts: it.Fields[reader.FieldContexts]}})
	}
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // Nobody has to be unable to guess the order.
	shuffled := make([]string, len(list))
	for i, it := range list {
		found := false
		at := random.IntN(max(len(donors), 1))
		for k := range donors {
			other := list[donors[(at+k)%len(donors)]]
			text := other.Fields[reader.FieldContexts]
			if text == it.Fields[reader.FieldContexts] {
				continue
			}
			elsewhere := other.Cluster == "" || other.Cluster != it.Cluster
			if !found || elsewhere {
				shuffled[i], found = text, true
			}
			if elsewhere {
				break
			}
		}
		if !found {
			return nil, errors.New("the contexts of all questions are equal, so there is nothing to shuffle")
		}
	}
	return shuffled, nil
}
