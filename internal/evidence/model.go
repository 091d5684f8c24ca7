package evidence

import (
	"crypto/sha256"
	_ "embed" // for the fitted numbers
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
)

// Depth is how many questions a tree asks.
const Depth = 3

const (
	inner  = 1<<Depth - 1
	leaves = 1 << Depth
)

// A Tree asks Depth questions about the evidence and answers with log-odds. It is
// complete, so it needs no pointers: the questions after question i are 2i+1 for
// at most the mark and 2i+2 for more.
type Tree struct {
	Feature [inner]int      `json:"f"` // -1 asks nothing and goes on as if at most
	Mark    [inner]float64  `json:"m"`
	Leaf    [leaves]float64 `json:"v"`
}

// Value returns the answer of the tree to x.
func (t *Tree) Value(x []float64) float64 {
	i := 0
	for range Depth {
		f := t.Feature[i]
		i = 2*i + 1
		if f >= 0 && x[f] > t.Mark[i/2] {
			i++
		}
	}
	return t.Leaf[i-inner]
}

// A Knot is one point of the line from log-odds to probability.
type Knot struct {
	Odds        float64 `json:"x"`
	Probability float64 `json:"p"`
}

// Slopes say by how much log-odds are multiplied: where values decide, above and below one half,
// and for references of three words and more that are weighed as words, above and below. A
// slope of 0 leaves the log-odds as they are.
type Slopes [4]float64

// A Model turns evidence into the probability that a person would call a response right:
// how common words are, a few hundred shallow trees, and a table from their sum to a
// probability. It is numbers only. It was fitted to what people said about answers, and
// holds none of those texts: words are kept as hashes. [Default] is the one that is part of
// the program; its [Model.Hash] is part of the identity of the judge.
type Model struct {
	// About says what the model was fitted to, for readers of the file.
	About string `json:"about"`

	// Evidence names the features, in order. The program refuses a model that was
	// fitted to others.
	Evidence []string `json:"evidence"`

	Words Words   `json:"words"`
	Base  float64 `json:"base"` // log-odds before any tree
	Trees []Tree  `json:"trees"`

	// Line is the calibration: straight between knots, level beyond them.
	Line []Knot `json:"line"`

	// Slopes make the probabilities hold on sets of other kinds than the trees were fitted to.
	Slopes Slopes `json:"slopes"`

	// Accept and Reject are the probabilities from which, and up to which, the
	// model's word is taken. Between them the judge is unsure.
	Accept float64 `json:"accept"`
	Reject float64 `json:"reject"`

	// Error is how far the mean probability of undecided items is from the share of them
	// that is right: the root mean square over sets of labelled items.
	Error float64 `json:"error"`

	hash string
}

// Odds returns the log-odds of x before calibration.
func (m *Model) Odds(x []float64) float64 {
	sum := m.Base
	for i := range m.Trees {
		sum += m.Trees[i].Value(x)
	}
	return sum
}

// Probability returns the calibrated probability that the response is right.
func (m *Model) Probability(x []float64) float64 { return m.Calibrated(m.Odds(x)) }

// Calibrated returns the probability that belongs to log-odds.
func (m *Model) Calibrated(odds float64) float64 {
	n := len(m.Line)
	if n == 0 {
		return 1 / (1 + math.Exp(-odds))
	}
	k := sort.Search(n, func(i int) bool { return m.Line[i].Odds >= odds })
	switch k {
	case 0:
		return m.Line[0].Probability
	case n:
		return m.Line[n-1].Probability
	}
	a, b := m.Line[k-1], m.Line[k]
	if b.Odds == a.Odds {
		return b.Probability
	}
	return a.Probability + (b.Probability-a.Probability)*(odds-a.Odds)/(b.Odds-a.Odds)
}

// Parts returns by how much each feature of x moved the log-odds, summed over the
// trees: at each question, the mean of the side taken less the mean of both. The
// means count leaves, not items, which is near enough to say what mattered most.
func (m *Model) Parts(x []float64) []float64 {
	parts := make([]float64, len(m.Evidence))
	for k := range m.Trees {
		t := &m.Trees[k]
		before := t.mean(0)
		for i := 0; i < inner; {
			f := t.Feature[i]
			i = 2*i + 1
			if f < 0 {
				continue
			}
			if x[f] > t.Mark[i/2] {
				i++
			}
			after := t.mean(i)
			parts[f] += after - before
			before = after
		}
	}
	return parts
}

// mean returns the mean of the leaves that can be reached from question i.
func (t *Tree) mean(i int) float64 {
	switch {
	case i >= inner:
		return t.Leaf[i-inner]
	case t.Feature[i] < 0:
		return t.mean(2*i + 1)
	}
	return (t.mean(2*i+1) + t.mean(2*i+2)) / 2
}

// Hash returns the first twelve digits of the SHA-256 of the file that the model
// was read from, or of its JSON if it was not read from one.
func (m *Model) Hash() string {
	if m.hash != "" {
		return m.hash
	}
	raw, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("match: %v", err)) // a fitted number that is none
	}
	return digits(raw)
}

func digits(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])[:12]
}

// Decode reads a model from its file.
func Decode(raw []byte) (*Model, error) {
	m := &Model{hash: digits(raw)}
	if err := json.Unmarshal(raw, m); err != nil {
		return nil, fmt.Errorf("read match model: %w", err)
	}
	if !slices.Equal(m.Evidence, Names()) {
		return m, fmt.Errorf("read match model: it was fitted to other evidence: %s", strings.Join(m.Evidence, " "))
	}
	for i := range m.Trees {
		for _, f := range m.Trees[i].Feature {
			if f < -1 || f >= len(m.Evidence) {
				return m, fmt.Errorf("read match model: tree %d asks for evidence %d of %d", i, f, len(m.Evidence))
			}
		}
	}
	for i, k := range m.Line {
		if k.Probability < 0 || k.Probability > 1 || i > 0 && (k.Odds < m.Line[i-1].Odds || k.Probability < m.Line[i-1].Probability) {
			return m, fmt.Errorf("read match model: the calibration falls at knot %d", i)
		}
	}
	if !(0 <= m.Reject && m.Reject <= .5 && .5 <= m.Accept && m.Accept <= 1) {
		return m, fmt.Errorf("read match model: it accepts from %v and rejects up to %v", m.Accept, m.Reject)
	}
	for _, slope := range m.Slopes {
		if !(slope >= 0 && slope <= 4) {
			return m, fmt.Errorf("read match model: a slope is %v; want a number from 0 to 4", slope)
		}
	}
	if !(m.Error > 0 && m.Error < .5) {
		return m, fmt.Errorf("read match model: the error of its probabilities is %v; want a number above 0 and below 0.5", m.Error)
	}
	return m, nil
}

//go:embed model.json
var fitted []byte

// Default returns the model that is part of the program. It is read once, when
// first asked for.
var Default = sync.OnceValue(func() *Model {
	m, err := Decode(fitted)
	if err != nil {
		panic(err) // our own file
	}
	return m
})

// Words says how much a word tells: little if it is in every answer, much if it
// is in few. The common ones are listed, by hash; all others weigh the most.
type Words struct {
	hashes  []uint32 // sorted
	weights []uint8  // in sixteenths
	rare    uint8
}

// grain is how finely weights are kept.
const grain = 16

// Weight returns the weight of a word, a logarithm: 1 for one in every e-th text.
// The zero Words weighs all words alike.
func (w *Words) Weight(word string) float64 {
	if len(w.hashes) == 0 {
		return 1
	}
	h := hash(word)
	if i, ok := slices.BinarySearch(w.hashes, h); ok {
		return float64(w.weights[i]) / grain
	}
	return float64(w.rare) / grain
}

// hash is FNV-1a.
func hash(word string) uint32 {
	h := uint32(2166136261)
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * 16777619
	}
	return h
}

// wordsFile is the form of Words in a file: per word four bytes of hash and one of
// weight, in base64.
type wordsFile struct {
	Rare   uint8  `json:"rare"`
	Common string `json:"common"`
}

// MarshalJSON writes the words as one string.
func (w Words) MarshalJSON() ([]byte, error) {
	var raw []byte
	for i, h := range w.hashes {
		raw = append(binary.BigEndian.AppendUint32(raw, h), w.weights[i])
	}
	return json.Marshal(wordsFile{w.rare, base64.StdEncoding.EncodeToString(raw)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (w *Words) UnmarshalJSON(text []byte) error {
	var f wordsFile
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(f.Common)
	if err != nil {
		return err
	}
	if len(raw)%5 != 0 {
		return fmt.Errorf("the list of words has %d bytes, not five for each", len(raw))
	}
	*w = Words{rare: f.Rare}
	for ; len(raw) > 0; raw = raw[5:] {
		w.hashes = append(w.hashes, binary.BigEndian.Uint32(raw))
		w.weights = append(w.weights, raw[4])
	}
	if !slices.IsSorted(w.hashes) {
		return fmt.Errorf("the list of words is not sorted")
	}
	return nil
}
