// Package minilm embeds sentences with all-MiniLM-L6-v2, locally and without a server.
//
// [Open] reads the model's own files: its weights (safetensors, in float16, bfloat16 or
// float32) and its vocabulary. A text is split into word pieces like in BERT, passes
// through the layers of the network, and becomes the mean of the outputs, scaled to length
// 1. The vectors are those of sentence-transformers except for rounding: the tests check
// cosines to four decimals.
//
// It is the embedder of the judge "semantic" in package deem/judge/rule. Weights are not
// part of deem; they are available under Apache-2.0 from
// https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2.
package minilm

import (
	"context"
	"sync"
)

// batchTokens is how many tokens go through the network together. The weights are read from
// memory once for all of them; with more there is no gain, and the intermediate results no
// longer fit the caches.
const batchTokens = 96

// maxRecent is how many vectors are cached, about 7 MB.
const maxRecent = 4096

// A Model embeds texts. It is safe for concurrent use.
type Model struct {
	name    string
	words   *tokenizer
	network *network
	slots   chan struct{} // one for each concurrent batch

	mu     sync.Mutex
	recent *recent
}

// Name returns "minilm:" and a prefix of a SHA-256 of the weights, the vocabulary and
// everything else that affects a vector, so that two models with the same name give the
// same vectors.
func (m *Model) Name() string { return m.name }

// Dim returns the length of the vectors.
func (m *Model) Dim() int { return m.network.Hidden }

// Embed returns a vector of length 1 for each text. A text of more than 256 tokens is
// truncated, as in sentence-transformers; the empty text has a vector too. A vector does
// not depend on the other texts. The only error is that of ctx.
//
// There are as many goroutines as processors, over all calls together, and none of them
// outlives its call.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	missing := m.recall(texts, vectors)
	var wg sync.WaitGroup
	for _, batch := range m.batches(texts, missing) {
		if !m.acquire(ctx) {
			break
		}
		wg.Go(func() {
			defer func() { <-m.slots }()
			for i, v := range m.network.forward(ctx, batch.tokens) {
				vectors[batch.places[i]] = v
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.remember(texts, vectors, missing)
	return vectors, nil
}

// acquire waits for a slot, and returns false if ctx is done first.
func (m *Model) acquire(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case m.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// recall fills in the cached vectors and returns the indices of the first occurrence of
// each other text.
func (m *Model) recall(texts []string, vectors [][]float32) []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	var missing []int
	asked := make(map[string]bool)
	for i, text := range texts {
		if v, ok := m.recent.get(text); ok {
			vectors[i] = v
		} else if !asked[text] {
			asked[text] = true
			missing = append(missing, i)
		}
	}
	return missing
}

// remember caches the new vectors, and fills in those of repeated texts.
func (m *Model) remember(texts []string, vectors [][]float32, missing []int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fresh := make(map[string][]float32, len(missing))
	for _, i := range missing {
		fresh[texts[i]] = vectors[i]
		m.recent.put(texts[i], vectors[i])
	}
	for i, text := range texts {
		if vectors[i] == nil {
			vectors[i] = append([]float32(nil), fresh[text]...)
		}
	}
}

// A batch is texts that go through the network together.
type batch struct {
	places []int   // of the texts in the call
	tokens [][]int // of each text
}

// batches splits the missing texts into batches of about batchTokens tokens. A longer text
// is a separate batch.
func (m *Model) batches(texts []string, missing []int) []batch {
	var list []batch
	var b batch
	n := 0
	for _, i := range missing {
		tokens := m.words.encode(texts[i], min(maxTokens, m.network.Positions))
		if n > 0 && n+len(tokens) > batchTokens {
			list, b, n = append(list, b), batch{}, 0
		}
		b.places = append(b.places, i)
		b.tokens = append(b.tokens, tokens)
		n += len(tokens)
	}
	if n > 0 {
		list = append(list, b)
	}
	return list
}
