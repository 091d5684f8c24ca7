package reports

import (
	"context"

	"deem/internal/store"
	"deem/probe"
)

// ProbeHead returns the head of the card of a run over probes.
func ProbeHead(run store.Run, maxUnjudged float64) probe.Head {
	source, seed, _ := run.ProbesOf()
	return probe.Head{
		Judge: run.Judge.Name, JudgeHash: run.Judge.Hash, Model: run.Model, Run: run.ID,
		Data: source, Dataset: run.Dataset.Hash, Seed: seed,
		Deem: SettingsOf(run.Spec).Deem, Trials: run.Trials, MaxUnjudged: maxUnjudged,
	}
}

// ProbeCard computes the card of a run over probes.
func ProbeCard(ctx context.Context, st store.Store, run store.Run, h probe.Head) (probe.Card, error) {
	return probe.NewCard(h, store.Ahead(st.Records(ctx, run.ID, store.Query{})))
}
