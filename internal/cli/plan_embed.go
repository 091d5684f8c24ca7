package cli

import (
	"context"

	"deem"
	"deem/internal/catalog"
	"deem/internal/run"
	"deem/internal/store"
	"deem/judge/rule"
)

// embeds reports whether a rule uses embeddings of a server, which may cost money.
func embeds(g catalog.Choice, o runOptions) bool {
	return !g.Spec.Asks() && embeddingModel(o) != nil && rule.NeedsEmbedder(g.Name())
}

// A listener is an embedder that records the texts and does not embed them.
type listener struct{ texts []string }

var _ rule.Embedder = (*listener)(nil)

func (*listener) Name() string { return "listener" }

// Embed returns the same vector for every text, so that a rule runs to its end.
func (l *listener) Embed(_ context.Context, texts []string) ([][]float32, error) {
	l.texts = append([]string{}, texts...)
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = []float32{1}
	}
	return vectors, nil
}

// planEmbeddings plans the run of a rule that uses embeddings of a server. It runs the
// rule, so that the plan has the same texts as the run.
func (a *app) planEmbeddings(ctx context.Context, st store.Store, g catalog.Choice, data items, o runOptions, most int) (run.Plan, error) {
	checkReply := &listener{}
	asked := rule.Semantic(checkReply)
	opts := run.PlanOptions{
		Model: embeddingModel(o).Name(), Prices: o.Prices, Concurrency: o.Concurrency, RPM: o.RPM, TPM: o.TPM, Trials: o.Trials, Estimate: true,
	}
	return a.planWith(ctx, st, g, data, o, most, opts, func(it deem.Item) ([]deem.Request, error) {
		checkReply.texts = nil
		if _, err := asked.Judge(ctx, it); err != nil && checkReply.texts == nil {
			return nil, err
		}
		return []deem.Request{catalog.EmbedRequest(checkReply.texts)}, nil
	})
}
