package openai

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"deem"
	"deem/model/internal/wire"
)

// The bounds of one call for embeddings. Servers bound the texts of a call and
// their tokens, OpenAI 2048 and 300,000; smaller servers bear less.
const (
	batchTexts = 128
	batchBytes = 256 << 10
)

// Embed returns a vector for each text, in their order, as the server's embeddings
// endpoint gives them. It makes a call for each batch of texts, one after the
// other, and returns nothing unless all of them succeed. Its errors are those of
// [Model.Complete]. A text that the server does not take, as OpenAI does not take
// the empty one, is an error of the call that it is in.
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
	a, err := m.post(ctx, m.embed, map[string]any{"model": m.name, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	return m.decodeVectors(a, len(texts))
}

// wireVectors is the answer to a call for embeddings.
type wireVectors struct {
	Data []struct {
		Index     *int   `json:"index"` // nil where a server leaves it out
		Embedding vector `json:"embedding"`
	} `json:"data"`
	Error json.RawMessage `json:"error"`
}

// decodeVectors reads n vectors. They come with their place, in any order.
func (m *client) decodeVectors(a wire.Answer, n int) ([][]float32, error) {
	var w wireVectors
	if err := json.Unmarshal(a.Text, &w); err != nil {
		return nil, m.Client.Garbled(a, err)
	}
	if wire.Present(w.Error) {
		return nil, m.Client.StatusError(a)
	}
	if len(w.Data) != n {
		return nil, m.Client.Garbled(a, fmt.Errorf("%d embeddings for %d texts", len(w.Data), n))
	}
	vectors := make([][]float32, n)
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
	for _, v := range vectors[1:] {
		if len(v) != len(vectors[0]) {
			return nil, unlike(len(v), len(vectors[0]))
		}
	}
	return vectors, nil
}

// unlike says that vectors cannot be compared.
func unlike(a, b int) error {
	return &deem.ModelError{Kind: deem.Provider, Passing: true, Err: fmt.Errorf("embeddings of length %d and %d", a, b)}
}

// A vector is an embedding, which comes as numbers or as the bytes of floats in
// base64: some servers send those whatever they were asked for.
type vector []float32

// UnmarshalJSON reads either form.
func (v *vector) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return json.Unmarshal(data, (*[]float32)(v))
	}
	var packed []byte // JSON has bytes in base64
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
