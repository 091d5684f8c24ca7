package minilm

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// A network is BERT as in Devlin et al. (2019), without the parts used only in training.
// Names follow the paper.
type network struct {
	geometry
	words, positions, types tensor
	norm                    layerNorm
	layers                  []layer
}

// A layer is attention and then a two-layer feed-forward network, each with a residual
// connection and normalized.
type layer struct {
	query, key, value, attended linear
	attendedNorm                layerNorm
	inner, outer                linear
	outerNorm                   layerNorm
}

// newNetwork finds the arrays of a network and checks their shapes.
func newNetwork(g geometry, tensors map[string]tensor) (*network, error) {
	b := &builder{tensors: tensors, epsilon: g.Epsilon}
	n := &network{
		geometry:  g,
		words:     b.raw("embeddings.word_embeddings.weight", g.Vocab, g.Hidden),
		positions: b.raw("embeddings.position_embeddings.weight", g.Positions, g.Hidden),
		types:     b.raw("embeddings.token_type_embeddings.weight", 2, g.Hidden),
		norm:      b.norm("embeddings.LayerNorm", g.Hidden),
	}
	for i := range g.Layers {
		if b.err != nil {
			break
		}
		at := fmt.Sprintf("encoder.layer.%d.", i)
		n.layers = append(n.layers, layer{
			query:        b.linear(at+"attention.self.query", g.Hidden, g.Hidden),
			key:          b.linear(at+"attention.self.key", g.Hidden, g.Hidden),
			value:        b.linear(at+"attention.self.value", g.Hidden, g.Hidden),
			attended:     b.linear(at+"attention.output.dense", g.Hidden, g.Hidden),
			attendedNorm: b.norm(at+"attention.output.LayerNorm", g.Hidden),
			inner:        b.linear(at+"intermediate.dense", g.Inner, g.Hidden),
			outer:        b.linear(at+"output.dense", g.Hidden, g.Inner),
			outerNorm:    b.norm(at+"output.LayerNorm", g.Hidden),
		})
	}
	return n, b.err
}

// A builder looks arrays up and keeps the first error.
type builder struct {
	tensors map[string]tensor
	epsilon float64
	err     error
}

// find returns an array of that shape. Some files have the prefix "bert." in each name.
func (b *builder) find(name string, shape ...int) tensor {
	if b.err != nil {
		return tensor{}
	}
	t, ok := b.tensors[name]
	if !ok {
		t, ok = b.tensors["bert."+name]
	}
	if !ok {
		b.err = fmt.Errorf("no array %s: the weights are of another model", name)
		return tensor{}
	}
	if err := t.check(shape...); err != nil {
		b.err = fmt.Errorf("array %s: %w", name, err)
		return tensor{}
	}
	return t
}

// raw returns a copy of an array as its bytes, so that the rest of the file can be freed.
func (b *builder) raw(name string, shape ...int) tensor {
	t := b.find(name, shape...)
	t.bytes = slices.Clone(t.bytes)
	return t
}

// floats returns the numbers of an array, all of which must be finite.
func (b *builder) floats(name string, shape ...int) []float32 {
	t := b.find(name, shape...)
	if b.err != nil {
		return nil
	}
	list := t.floats()
	if slices.ContainsFunc(list, func(x float32) bool { return x-x != 0 }) {
		b.err = fmt.Errorf("array %s: it holds what is not a number", name)
	}
	return list
}

func (b *builder) linear(name string, out, in int) linear {
	return newLinear(b.floats(name+".weight", out, in), b.floats(name+".bias", out), in, out)
}

func (b *builder) norm(name string, size int) layerNorm {
	return layerNorm{weight: b.floats(name+".weight", size), bias: b.floats(name+".bias", size), epsilon: b.epsilon}
}

// A layerNorm brings each row to mean 0 and variance 1, then scales and shifts it.
type layerNorm struct {
	weight, bias []float32
	epsilon      float64
}

// apply normalizes each row of x in place. Mean and variance are summed in float64: they
// are a small part of the work and affect every number.
func (l layerNorm) apply(x []float32) {
	size := len(l.weight)
	for row := range slices.Chunk(x, size) {
		var sum, squares float64
		for _, v := range row {
			sum += float64(v)
		}
		mean := sum / float64(size)
		for _, v := range row {
			d := float64(v) - mean
			squares += d * d
		}
		scale := float32(1 / math.Sqrt(squares/float64(size)+l.epsilon))
		shift := float32(mean)
		for i, v := range row {
			row[i] = (v-shift)*scale*l.weight[i] + l.bias[i]
		}
	}
}

// scratch contains the buffers of the layers. Rows are the tokens of all texts, one after
// the other.
type scratch struct {
	x, y, query, key, value, inner []float32
	scores                         []float32 // of one token with those of its text
}

// forward returns the vector of each text, or nil if ctx is done.
func (n *network) forward(ctx context.Context, texts [][]int) [][]float32 {
	rows, long := 0, 0
	for _, tokens := range texts {
		rows += len(tokens)
		long = max(long, len(tokens))
	}
	room := func(width int) []float32 { return make([]float32, rows*width) }
	s := &scratch{
		x: room(n.Hidden), y: room(n.Hidden), inner: room(n.Inner),
		query: room(n.Hidden), key: room(n.Hidden), value: room(n.Hidden),
		scores: make([]float32, long),
	}
	// The input for each token are its word and position embeddings.
	row := 0
	for _, tokens := range texts {
		for place, token := range tokens {
			at := s.x[row*n.Hidden : (row+1)*n.Hidden]
			n.words.add(at, token*n.Hidden)
			n.types.add(at, 0)
			n.positions.add(at, place*n.Hidden)
			row++
		}
	}
	n.norm.apply(s.x)
	for _, l := range n.layers {
		if ctx.Err() != nil {
			return nil
		}
		l.apply(s, n, texts)
	}
	return n.pool(s.x, texts)
}

func (l *layer) apply(s *scratch, n *network, texts [][]int) {
	l.query.apply(s.query, s.x)
	l.key.apply(s.key, s.x)
	l.value.apply(s.value, s.x)
	first := 0
	for _, tokens := range texts {
		// Texts are stored next to each other and must not attend to each other.
		end := first + len(tokens)*n.Hidden
		attend(s.y[first:end], s.query[first:end], s.key[first:end], s.value[first:end], s.scores[:len(tokens)], n.Hidden, n.Heads)
		first = end
	}
	l.attended.apply(s.query, s.y)
	addTo(s.x, s.query)
	l.attendedNorm.apply(s.x)

	l.inner.apply(s.inner, s.x)
	gelu(s.inner)
	l.outer.apply(s.y, s.inner)
	addTo(s.x, s.y)
	l.outerNorm.apply(s.x)
}

func addTo(x, y []float32) {
	for i, v := range y {
		x[i] += v
	}
}

// attend writes for each token and each head the mean of the values of all tokens of the
// text, weighted by the match of its query with their keys.
func attend(out, query, key, value, scores []float32, hidden, heads int) {
	size := hidden / heads
	scale := float32(1 / math.Sqrt(float64(size)))
	clear(out)
	for at := 0; at < len(query); at += hidden {
		for h := 0; h < hidden; h += size {
			q := query[at+h:][:size]
			for j := range scores {
				scores[j] = dot(q, key[j*hidden+h:][:size]) * scale
			}
			softmax(scores)
			o := out[at+h:][:size]
			for j, weight := range scores {
				for i, v := range value[j*hidden+h:][:size] {
					o[i] += weight * v
				}
			}
		}
	}
}

// softmax converts scores to weights with sum 1.
func softmax(scores []float32) {
	top := slices.Max(scores)
	var sum float64
	for i, v := range scores {
		e := math.Exp(float64(v - top))
		scores[i] = float32(e)
		sum += e
	}
	scale := float32(1 / sum)
	for i := range scores {
		scores[i] *= scale
	}
}

// pool returns the mean of the rows of each text, scaled to length 1.
func (n *network) pool(x []float32, texts [][]int) [][]float32 {
	vectors := make([][]float32, len(texts))
	for t, tokens := range texts {
		sum := make([]float64, n.Hidden)
		for range tokens {
			for i, v := range x[:n.Hidden] {
				sum[i] += float64(v)
			}
			x = x[n.Hidden:]
		}
		var squares float64
		for _, v := range sum {
			squares += v * v
		}
		// Scaling the sum gives the same as scaling the mean. The length is bounded from
		// below as in the original, to avoid NaN.
		length := max(math.Sqrt(squares), 1e-12)
		vectors[t] = make([]float32, n.Hidden)
		for i, v := range sum {
			vectors[t][i] = float32(v / length)
		}
	}
	return vectors
}
