package wire

import (
	"context"
	"fmt"

	"deem"
)

// The limits of one call for embeddings. Servers limit texts and tokens per call, OpenAI to
// 2048 and 300,000; smaller servers allow less. Ollama keeps all vectors of a call in
// memory until the last is done.
const (
	embedTexts = 128
	embedBytes = 256 << 10
)

// Embed returns a vector for each text, in their order. It makes one call per batch of
// texts, sequentially, and returns nothing unless all of them succeed.
func Embed(ctx context.Context, texts []string, call func(ctx context.Context, texts []string) ([][]float32, error)) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n, size := 1, len(texts[0])
		for n < len(texts) && n < embedTexts && size+len(texts[n]) <= embedBytes {
			size += len(texts[n])
			n++
		}
		batch, err := call(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		vectors, texts = append(vectors, batch...), texts[n:]
		for _, v := range vectors[len(vectors)-n:] {
			if len(v) != len(vectors[0]) {
				return nil, &deem.ModelError{Kind: deem.Provider, Passing: true, Err: fmt.Errorf("embeddings of length %d and %d", len(v), len(vectors[0]))}
			}
		}
	}
	return vectors, nil
}
