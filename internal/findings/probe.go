package findings

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"deem/internal/store"
	"deem/probe"
)

// probesNamed is how the dataset of a run over probes ends: what they were made of is
// named first, and then how.
const probesNamed = "probes, seed "

// ProbeNames returns the names of a dataset of probes that were made from the given
// files with the given seed.
func ProbeNames(source []string, seed uint64) []string {
	return append(slices.Clone(source), fmt.Sprint(probesNamed, seed))
}

// Probed reports whether a run is over probes, and what they were made of.
func Probed(run store.Run) (source []string, seed uint64, ok bool) {
	names := run.Dataset.Names
	if len(names) == 0 {
		return nil, 0, false
	}
	last := len(names) - 1
	text, ok := strings.CutPrefix(names[last], probesNamed)
	if !ok {
		return nil, 0, false
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	return names[:last], seed, err == nil
}

// ProbeHead returns what the card of a run over probes says before any number. How many
// items the probes could be made from is known to the caller that made them.
func ProbeHead(run store.Run, maxUnjudged float64) probe.Head {
	source, seed, _ := Probed(run)
	return probe.Head{
		Judge: run.Judge.Name, JudgeHash: run.Judge.Hash, Model: run.Model, Run: run.ID,
		Data: source, Dataset: run.Dataset.Hash, Seed: seed,
		Deem: SettingsOf(run.Spec).Deem, Trials: run.Trials, MaxUnjudged: maxUnjudged,
	}
}

// Card counts what the judge of a run did with probes.
func Card(ctx context.Context, st store.Store, run store.Run, h probe.Head) (probe.Card, error) {
	b := probe.NewBuilder(h)
	for rec, err := range store.Ahead(st.Records(ctx, run.ID, store.Query{})) {
		if err != nil {
			return probe.Card{}, err
		}
		b.Add(rec)
	}
	return b.Card(), nil
}
