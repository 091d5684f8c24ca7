package ollama

import (
	"context"
	"encoding/json"
	"fmt"

	"deem/internal/wire"
)

// Embed returns a vector for each text, in their order, from the server's embedding model.
// It makes one call per batch of texts, sequentially, and returns nothing unless all of
// them succeed. Errors are those of Complete. A text that is too long for the model is not
// truncated, but fails the call that contains it.
func (m *client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return wire.Embed(ctx, texts, func(ctx context.Context, texts []string) ([][]float32, error) {
		// The vector of a truncated text would be that of another text.
		call := map[string]any{"model": m.name, "input": texts, "truncate": false}
		if m.contextLength > 0 {
			call["options"] = map[string]int{"num_ctx": m.contextLength}
		}
		a, err := m.Client.Post(ctx, m.embedTarget, call)
		if err != nil {
			return nil, err
		}
		return m.decodeVectors(a, len(texts))
	})
}

// decodeVectors reads n vectors of one length.
func (m *client) decodeVectors(a wire.Answer, n int) ([][]float32, error) {
	if !a.OK() {
		return nil, m.statusError(a, false)
	}
	var w struct {
		Embeddings [][]float32     `json:"embeddings"`
		Error      json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(a.Text, &w); err != nil {
		return nil, m.Client.Garbled(a, err)
	}
	if wire.Present(w.Error) {
		return nil, m.statusError(a, false)
	}
	if len(w.Embeddings) != n {
		return nil, m.Client.Garbled(a, fmt.Errorf("%d embeddings for %d texts", len(w.Embeddings), n))
	}
	for i, v := range w.Embeddings {
		if len(v) == 0 || len(v) != len(w.Embeddings[0]) {
			return nil, m.Client.Garbled(a, fmt.Errorf("the embedding of text %d has length %d", i, len(v)))
		}
	}
	return w.Embeddings, nil
}
