package evidence

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
)

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
