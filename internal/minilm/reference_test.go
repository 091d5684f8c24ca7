package minilm_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deem/internal/minilm"
)

// A tiny is a model with random weights. It has all parts of the real one, and sizes that
// no unrolled loop divides evenly.
type tiny struct {
	dtype    string // "F32", "F16" or "BF16"
	seed     uint64
	heads    int    // 0 means 3
	prefix   string // before the name of each array
	vocabTxt bool   // the words are in a vocab.txt
}

// The sizes of a tiny model.
const (
	tinyHidden    = 12
	tinyInner     = 16
	tinyLayers    = 2
	tinyPositions = 300
)

// tinyWords is the vocabulary of a tiny model.
var tinyWords = []string{
	"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "c", "##a", "##b",
	"##c", "ab", "!", "-", "1", "##1", "的", "é", "e", "##é",
}

// open opens a model or fails the test.
func open(tb testing.TB, dir string) *minilm.Model {
	tb.Helper()
	m, err := minilm.Open(dir)
	if err != nil {
		tb.Fatalf("Open: %v", err)
	}
	return m
}

// numHeads returns the number of heads.
func (tm tiny) numHeads() int {
	if tm.heads == 0 {
		return 3
	}
	return tm.heads
}

// arrays returns the random numbers of the model. All of them are multiples of 1/16, so
// that every number type represents them exactly.
func (tm tiny) arrays() (names []string, shapes map[string][]int, numbers map[string][]float64) {
	shapes, numbers = map[string][]int{}, map[string][]float64{}
	r := rand.New(rand.NewPCG(tm.seed, 7))
	add := func(name string, shape ...int) {
		names, shapes[name] = append(names, name), shape
		n := 1
		for _, s := range shape {
			n *= s
		}
		list := make([]float64, n)
		for i := range list {
			list[i] = float64(r.IntN(33)-16) / 16
		}
		numbers[name] = list
	}
	linear := func(name string, out, in int) { add(name+".weight", out, in); add(name+".bias", out) }
	norm := func(name string) { add(name+".weight", tinyHidden); add(name+".bias", tinyHidden) }
	add("embeddings.word_embeddings.weight", len(tinyWords), tinyHidden)
	add("embeddings.position_embeddings.weight", tinyPositions, tinyHidden)
	add("embeddings.token_type_embeddings.weight", 2, tinyHidden)
	norm("embeddings.LayerNorm")
	for i := range tinyLayers {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		for _, name := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
			linear(at+name, tinyHidden, tinyHidden)
		}
		norm(at + "attention.output.LayerNorm")
		linear(at+"intermediate.dense", tinyInner, tinyHidden)
		linear(at+"output.dense", tinyHidden, tinyInner)
		norm(at + "output.LayerNorm")
	}
	return names, shapes, numbers
}

// write writes the files of the model into a new folder and returns its name.
func (tm tiny) write(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	config := fmt.Sprintf(`{"hidden_act":"gelu","hidden_size":%d,"num_hidden_layers":%d,"num_attention_heads":%d,"intermediate_size":%d,"max_position_embeddings":%d,"vocab_size":%d}`,
		tinyHidden, tinyLayers, tm.numHeads(), tinyInner, tinyPositions, len(tinyWords))
	all := map[string][]byte{"config.json": []byte(config), "model.safetensors": tm.safetensors(tb)}
	if tm.vocabTxt {
		all["vocab.txt"] = []byte(strings.Join(tinyWords, "\n") + "\n")
	} else {
		all["tokenizer.json"] = tinyTokenizer(tb)
	}
	for name, data := range all {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// tinyTokenizer returns a tokenizer.json.
func tinyTokenizer(tb testing.TB) []byte {
	tb.Helper()
	vocab := map[string]int{}
	var added []map[string]any
	for id, word := range tinyWords {
		vocab[word] = id
		if strings.HasPrefix(word, "[") {
			added = append(added, map[string]any{"id": id, "content": word, "special": true})
		}
	}
	data, err := json.Marshal(map[string]any{
		"added_tokens":  added,
		"normalizer":    map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"truncation":    map[string]any{"max_length": 128},
		"model":         map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "vocab": vocab},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// safetensors returns the weights file, with an additional array of another type.
func (tm tiny) safetensors(tb testing.TB) []byte {
	tb.Helper()
	names, shapes, numbers := tm.arrays()
	var body bytes.Buffer
	entry := func(dtype string, shape []int, data []byte) map[string]any {
		first := body.Len()
		body.Write(data)
		return map[string]any{"dtype": dtype, "shape": shape, "data_offsets": []int{first, body.Len()}}
	}
	header := map[string]any{
		"__metadata__":            map[string]string{"format": "pt"},
		"embeddings.position_ids": entry("I64", []int{1, 2}, make([]byte, 16)),
	}
	for _, name := range names {
		var data []byte
		for _, x := range numbers[name] {
			data = appendNumber(data, tm.dtype, x)
		}
		header[tm.prefix+name] = entry(tm.dtype, shapes[name], data)
	}
	text, err := json.Marshal(header)
	if err != nil {
		tb.Fatal(err)
	}
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	return slices.Concat(file, text, body.Bytes())
}

// appendNumber appends a number that its type represents exactly.
func appendNumber(data []byte, dtype string, x float64) []byte {
	switch dtype {
	case "F32":
		return binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(x)))
	case "BF16":
		return binary.LittleEndian.AppendUint16(data, uint16(math.Float32bits(float32(x))>>16))
	}
	var bits uint16
	if math.Signbit(x) {
		bits = 1 << 15
	}
	if x != 0 {
		fraction, exponent := math.Frexp(math.Abs(x)) // from 0.5 up to 1
		bits |= uint16(exponent+14)<<10 | uint16((fraction*2-1)*1024)
	}
	return binary.LittleEndian.AppendUint16(data, bits)
}

// A matrix is rows of numbers. The reference below follows the formulas directly, in
// float64, and shares nothing with the code under test.
type matrix [][]float64

type reference struct {
	numbers map[string][]float64
	heads   int
}

// rowsOf returns an array as a matrix.
func (r reference) rowsOf(name string, width int) matrix {
	return slices.Collect(slices.Chunk(r.numbers[name], width))
}

// affine returns x*weight' + bias.
func (r reference) affine(name string, x matrix) matrix {
	weight, bias := r.rowsOf(name+".weight", len(x[0])), r.numbers[name+".bias"]
	y := make(matrix, len(x))
	for i := range x {
		for j := range weight {
			y[i] = append(y[i], inner(x[i], weight[j])+bias[j])
		}
	}
	return y
}

func inner(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// normed returns the layer norm of x + y.
func (r reference) normed(name string, x, y matrix) matrix {
	weight, bias := r.numbers[name+".weight"], r.numbers[name+".bias"]
	z := make(matrix, len(x))
	for i := range x {
		var sum, squares float64
		for j := range x[i] {
			sum += x[i][j] + y[i][j]
			squares += (x[i][j] + y[i][j]) * (x[i][j] + y[i][j])
		}
		n := float64(len(x[i]))
		mean := sum / n
		deviation := math.Sqrt(squares/n - mean*mean + 1e-12)
		for j := range x[i] {
			z[i] = append(z[i], (x[i][j]+y[i][j]-mean)/deviation*weight[j]+bias[j])
		}
	}
	return z
}

// attention returns the values that each token attends to.
func (r reference) attention(q, k, v matrix) matrix {
	size := len(q[0]) / r.heads
	out := make(matrix, len(q))
	for h := range r.heads {
		part := func(row []float64) []float64 { return row[h*size : (h+1)*size] }
		for i := range q {
			weights, total := make([]float64, len(k)), 0.0
			for j := range k {
				weights[j] = math.Exp(inner(part(q[i]), part(k[j])) / math.Sqrt(float64(size)))
				total += weights[j]
			}
			mixed := make([]float64, size)
			for j := range v {
				for n, x := range part(v[j]) {
					mixed[n] += weights[j] / total * x
				}
			}
			out[i] = append(out[i], mixed...)
		}
	}
	return out
}

// embed returns the vector of a text of these tokens.
func (r reference) embed(tokens []int) []float64 {
	words := r.rowsOf("embeddings.word_embeddings.weight", tinyHidden)
	positions := r.rowsOf("embeddings.position_embeddings.weight", tinyHidden)
	var x, rest matrix
	for place, token := range tokens {
		x = append(x, words[token])
		rest = append(rest, sum(positions[place], r.numbers["embeddings.token_type_embeddings.weight"][:tinyHidden]))
	}
	x = r.normed("embeddings.LayerNorm", x, rest)
	for i := range tinyLayers {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		attended := r.attention(r.affine(at+"attention.self.query", x), r.affine(at+"attention.self.key", x), r.affine(at+"attention.self.value", x))
		x = r.normed(at+"attention.output.LayerNorm", x, r.affine(at+"attention.output.dense", attended))
		hidden := r.affine(at+"intermediate.dense", x)
		for _, row := range hidden {
			for j, v := range row {
				row[j] = v * (1 + math.Erf(v/math.Sqrt2)) / 2
			}
		}
		x = r.normed(at+"output.LayerNorm", x, r.affine(at+"output.dense", hidden))
	}
	mean := make([]float64, tinyHidden)
	for _, row := range x {
		mean = sum(mean, row)
	}
	length := math.Sqrt(inner(mean, mean))
	for i := range mean {
		mean[i] /= length
	}
	return mean
}

func sum(a, b []float64) []float64 {
	c := make([]float64, len(a))
	for i := range a {
		c[i] = a[i] + b[i]
	}
	return c
}

// TestReference compares models of random weights with the reference.
func TestReference(t *testing.T) {
	const unk, cls, sep, a, b, c = 1, 2, 3, 5, 6, 7
	texts := []struct {
		text   string
		tokens []int
	}{
		{"", []int{cls, sep}},
		{"a", []int{cls, a, sep}},
		{"A b, c!", []int{cls, a, b, unk, c, 12, sep}},
		{"abc cab", []int{cls, 11, 10, c, 8, 9, sep}},
		{"a [MASK] b", []int{cls, a, 4, b, sep}},
		{strings.Repeat("c a ", 127), slices.Concat([]int{cls}, slices.Repeat([]int{c, a}, 127), []int{sep})},
		{strings.Repeat("c a ", 200), slices.Concat([]int{cls}, slices.Repeat([]int{c, a}, 127), []int{sep})},
	}
	for _, tm := range []tiny{
		{dtype: "F32"},
		{dtype: "F16"},
		{dtype: "BF16"},
		{dtype: "F32", seed: 1, heads: 1},
		{dtype: "F16", seed: 2, heads: 12},
		{dtype: "F32", seed: 3, prefix: "bert.", vocabTxt: true},
	} {
		m := open(t, tm.write(t))
		_, _, numbers := tm.arrays()
		ref := reference{numbers, tm.numHeads()}
		for _, tt := range texts {
			want, got := ref.embed(tt.tokens), embed(t, m, tt.text)[0]
			for i := range want {
				if math.Abs(want[i]-float64(got[i])) > 2e-5 {
					t.Errorf("%+v: part %d of the vector of %.20q = %v, want %v", tm, i, tt.text, got[i], want[i])
					break
				}
			}
		}
		if m.Dim() != tinyHidden {
			t.Errorf("Dim() = %d, want %d", m.Dim(), tinyHidden)
		}
	}
}
