package minilm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A tokenizerFile is the relevant part of tokenizer.json.
type tokenizerFile struct {
	Added []struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
	} `json:"added_tokens"`
	Normalizer struct {
		Type         string `json:"type"`
		Clean        *bool  `json:"clean_text"`
		Chinese      *bool  `json:"handle_chinese_chars"`
		StripAccents *bool  `json:"strip_accents"` // null means the same as lowercase
		Lower        *bool  `json:"lowercase"`
	} `json:"normalizer"`
	PreTokenizer struct {
		Type string `json:"type"`
	} `json:"pre_tokenizer"`
	Model struct {
		Type   string         `json:"type"`
		Prefix *string        `json:"continuing_subword_prefix"`
		Max    *int           `json:"max_input_chars_per_word"`
		Vocab  map[string]int `json:"vocab"`
	} `json:"model"`
}

// readTokenizer parses a tokenizer.json. Settings that the code ignores must be what it
// does anyway; another tokenizer would give wrong vectors without an error.
func readTokenizer(data []byte) (*tokenizer, error) {
	var f tokenizerFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	// Only the tokenizer of the uncased BERT models is accepted.
	yes := func(b *bool) bool { return b == nil || *b }
	switch {
	case f.Model.Type != "WordPiece":
		return nil, fmt.Errorf("the tokenizer is of type %q, want WordPiece", f.Model.Type)
	case f.Normalizer.Type != "BertNormalizer" || f.PreTokenizer.Type != "BertPreTokenizer":
		return nil, fmt.Errorf("words are found by %q and %q, want BertNormalizer and BertPreTokenizer", f.Normalizer.Type, f.PreTokenizer.Type)
	case !yes(f.Normalizer.Lower) || !yes(f.Normalizer.StripAccents) || !yes(f.Normalizer.Clean) || !yes(f.Normalizer.Chinese):
		return nil, errors.New("the tokenizer keeps case, accents or control characters, want that of an uncased model")
	case f.Model.Prefix != nil && *f.Model.Prefix != "##":
		return nil, fmt.Errorf("pieces inside a word begin with %q, want ##", *f.Model.Prefix)
	case f.Model.Max != nil && *f.Model.Max != maxWord:
		return nil, fmt.Errorf("words may have %d characters, want %d", *f.Model.Max, maxWord)
	}
	special := make(map[string]int)
	for _, a := range f.Added {
		inside := strings.HasPrefix(a.Content, "[") && strings.IndexByte(a.Content, ']') == len(a.Content)-1
		if !inside || len(a.Content) > maxSpecial {
			return nil, fmt.Errorf("the special token %q is not a word in square brackets", a.Content)
		}
		special[a.Content] = a.ID
	}
	return newTokenizer(f.Model.Vocab, special)
}

// readVocab parses a vocab.txt, which has one piece per line.
func readVocab(data []byte) (*tokenizer, error) {
	vocab := make(map[string]int)
	id := 0
	for line := range strings.Lines(string(data)) {
		vocab[strings.TrimRight(line, "\r\n")] = id
		id++
	}
	special := make(map[string]int)
	for _, name := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"} {
		if id, ok := vocab[name]; ok {
			special[name] = id
		}
	}
	return newTokenizer(vocab, special)
}

// newTokenizer builds a tokenizer from a vocabulary.
func newTokenizer(vocab, special map[string]int) (*tokenizer, error) {
	t := &tokenizer{heads: make(map[string]int, len(vocab)), tails: make(map[string]int), special: special}
	for name, id := range special {
		if id < 0 {
			return nil, fmt.Errorf("token %q has the id %d", name, id)
		}
	}
	for piece, id := range vocab {
		if id < 0 {
			return nil, fmt.Errorf("piece %q has the id %d", piece, id)
		}
		// A text can contain "##ing" as well: each "#" is a separate word, so no other
		// piece begins with one.
		if tail, ok := strings.CutPrefix(piece, "##"); ok && tail != "" {
			t.tails[tail] = id
			continue
		}
		t.heads[piece] = id
	}
	for name, to := range map[string]*int{"[UNK]": &t.unknown, "[CLS]": &t.begin, "[SEP]": &t.end} {
		id, ok := vocab[name]
		if !ok {
			return nil, fmt.Errorf("no token %s", name)
		}
		*to = id
	}
	return t, nil
}

// size returns one more than the highest id.
func (t *tokenizer) size() int {
	n := 0
	for _, m := range []map[string]int{t.heads, t.tails, t.special} {
		for _, id := range m {
			n = max(n, id+1)
		}
	}
	return n
}
