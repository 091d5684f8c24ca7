package openai

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"deem/internal/wire"
)

// Embed returns a vector for each text, in their order, from the server's embeddings
// endpoint. It makes one call per batch of texts, sequentially, and returns nothing unless
// all of them succeed. Errors are those of Complete. A text that the server rejects, such
// as an empty text at OpenAI, fails the call that contains it.
func (m *client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return wire.Embed(ctx, texts, func(ctx context.Context, texts []string) ([][]float32, error) {
		var w struct {
			Data []struct {
				Index     *int   `json:"index"` // nil if the server omits it
				Embedding vector `json:"embedding"`
			} `json:"data"`
			Error json.RawMessage `json:"error"`
		}
		a, err := m.Client.Post(ctx, m.embed, map[string]any{"model": m.name, "input": texts, "encoding_format": "float"})
		if err := m.Client.Read(a, err, &w); err != nil {
			return nil, err
		}
		if wire.Present(w.Error) {
			return nil, m.Client.StatusError(a)
		}
		n := len(texts)
		if len(w.Data) != n {
			return nil, m.Client.Garbled(a, fmt.Errorf("%d embeddings for %d texts", len(w.Data), n))
		}
		vectors := make([][]float32, n) // They have an index and come in any order.
		for i, d := range w.Data {
			if d.Index != nil {
				i = *d.Index
			}
			if i < 0 || i >= n || vectors[i] != nil {
				return nil, m.Client.Garbled(a, fmt.Errorf("the embedding of text %d of %d comes twice or is of no text", i, n))
			}
			if len(d.Embedding) == 0 {
				return nil, m.Client.Garbled(a, fmt.Errorf("the embedding of text %d is empty", i))
			}
			vectors[i] = d.Embedding
		}
		return vectors, nil
	})
}

// A vector is an embedding, encoded as numbers or as base64 of the bytes of floats: some
// servers send base64 even if it was not requested.
type vector []float32

// UnmarshalJSON parses either encoding.
func (v *vector) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return json.Unmarshal(data, (*[]float32)(v))
	}
	var packed []byte // JSON encodes bytes as base64
	if err := json.Unmarshal(data, &packed); err != nil {
		return err
	}
	if len(packed)%4 != 0 {
		return fmt.Errorf("an embedding of %d bytes", len(packed))
	}
	list := make([]float32, len(packed)/4)
	for i := range list {
		list[i] = math.Float32frombits(binary.LittleEndian.Uint32(packed[4*i:]))
		if list[i]-list[i] != 0 {
			return errors.New("an embedding that holds what is not a number")
		}
	}
	*v = list
	return nil
}
