package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"deem"
	"deem/model/internal/wire"
)

// The bounds of one call for embeddings. Ollama takes any number of texts, and holds
// all their vectors until the last is done.
const (
	batchTexts = 128
	batchBytes = 256 << 10
)

// wireEmbed is the body of a call for embeddings. Truncate is sent as false: the
// vector of half a text is that of another text.
type wireEmbed struct {
	Model    string        `json:"model"`
	Input    []string      `json:"input"`
	Truncate bool          `json:"truncate"`
	Options  *wireEmbedCtx `json:"options,omitempty"`
}

type wireEmbedCtx struct {
	NumCtx int `json:"num_ctx"`
}

// Embed returns a vector for each text, in their order, as the server's embedding
// model gives them. It makes a call for each batch of texts, one after the other, and
// returns nothing unless all of them succeed. Its errors are those of
// [Model.Complete]. A text that is longer than the model takes is an error of the
// call that it is in, and not cut.
func (m *client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := batchLen(texts)
		batch, err := m.embedBatch(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		if len(vectors) > 0 && len(batch[0]) != len(vectors[0]) {
			return nil, unlike(len(batch[0]), len(vectors[0]))
		}
		vectors, texts = append(vectors, batch...), texts[n:]
	}
	return vectors, nil
}

// batchLen returns how many of the texts go into the next call, at least one.
func batchLen(texts []string) int {
	size := 0
	for i, text := range texts {
		if size += len(text); i == batchTexts || i > 0 && size > batchBytes {
			return i
		}
	}
	return len(texts)
}

// embedBatch makes one call.
func (m *client) embedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	call := wireEmbed{Model: m.name, Input: texts}
	if m.contextLength > 0 {
		call.Options = &wireEmbedCtx{NumCtx: m.contextLength}
	}
	body, err := wire.Encode(call)
	if err != nil {
		return nil, wire.Unencodable(err)
	}
	a, err := m.Client.Post(ctx, m.embedTarget, body)
	if err != nil {
		return nil, err
	}
	if !a.OK() {
		return nil, m.statusError(a, false)
	}
	vectors, err := decodeVectors(a.Text, len(texts))
	if errors.Is(err, errWithin) {
		return nil, m.statusError(a, false)
	}
	if err != nil {
		return nil, m.Client.Garbled(a, err)
	}
	return vectors, nil
}

// decodeVectors reads n vectors of one length.
func decodeVectors(text []byte, n int) ([][]float32, error) {
	var w struct {
		Embeddings [][]float32     `json:"embeddings"`
		Error      json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(text, &w); err != nil {
		return nil, err
	}
	if wire.Present(w.Error) {
		return nil, errWithin
	}
	if len(w.Embeddings) != n {
		return nil, fmt.Errorf("%d embeddings for %d texts", len(w.Embeddings), n)
	}
	for i, v := range w.Embeddings {
		if len(v) == 0 || len(v) != len(w.Embeddings[0]) {
			return nil, fmt.Errorf("the embedding of text %d has length %d", i, len(v))
		}
	}
	return w.Embeddings, nil
}

// unlike says that vectors cannot be compared.
func unlike(a, b int) error {
	return &deem.ModelError{Kind: deem.Provider, Passing: true, Err: fmt.Errorf("embeddings of length %d and %d", a, b)}
}
