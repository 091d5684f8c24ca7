package minilm

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"deem"
)

// version is increased whenever the vectors may change by more than rounding. It is part of
// the name.
const version = 1

// Open reads a model from the files of its repository in dir: model.safetensors (or the
// only safetensors file), tokenizer.json or else vocab.txt, and config.json if it exists.
// Without a config.json the shape is that of all-MiniLM-L6-v2.
func Open(dir string) (*Model, error) {
	m, err := read(dir)
	if err != nil {
		return nil, fmt.Errorf("minilm: %w", err)
	}
	return m, nil
}

type file struct {
	name string
	data []byte
}

// where is a hint that says where to get the files.
const where = "fetch model.safetensors, tokenizer.json and config.json from https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2"

// read reads the files and assembles the model.
func read(dir string) (*Model, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, deem.WithHint(err, where)
	} else if !info.IsDir() {
		return nil, deem.WithHint(fmt.Errorf("%s is not a folder", dir), "name the folder that has model.safetensors and tokenizer.json")
	}
	name, err := findWeights(dir)
	if err != nil {
		return nil, err
	}
	weights, err := readFirst(dir, name)
	if err != nil {
		return nil, deem.WithHint(err, where)
	}
	vocabulary, err := readFirst(dir, "tokenizer.json", "vocab.txt")
	if err != nil {
		return nil, deem.WithHint(err, where)
	}
	config, err := readFirst(dir, "config.json") // It may be missing.
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	geometry, err := readConfig(config.data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", config.name, err)
	}
	tensors, err := readSafetensors(weights.data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", weights.name, err)
	}
	net, err := newNetwork(geometry, tensors)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", weights.name, err)
	}
	parse := readTokenizer
	if filepath.Ext(vocabulary.name) == ".txt" {
		parse = readVocab
	}
	words, err := parse(vocabulary.data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", vocabulary.name, err)
	}
	if n := words.size(); n > geometry.Vocab {
		return nil, fmt.Errorf("%s has %d tokens and %s knows %d: they are of different models", vocabulary.name, n, weights.name, geometry.Vocab)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d %+v %x %x", version, geometry, sha256.Sum256(weights.data), sha256.Sum256(vocabulary.data))
	return &Model{
		name:    fmt.Sprintf("minilm:%.12x", h.Sum(nil)[:6]),
		words:   words,
		network: net,
		slots:   make(chan struct{}, runtime.GOMAXPROCS(0)),
		recent:  newRecent(maxRecent),
	}, nil
}

// findWeights returns the name of the file with the weights.
func findWeights(dir string) (string, error) {
	const usual = "model.safetensors"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var found []string
	for _, e := range entries {
		if e.Name() == usual {
			return usual, nil
		}
		if filepath.Ext(e.Name()) == ".safetensors" {
			found = append(found, e.Name())
		}
	}
	switch len(found) {
	case 0:
		return usual, nil // which gives the error that it does not exist
	case 1:
		return found[0], nil
	}
	return "", deem.WithHint(fmt.Errorf("%s has %d files of weights and none is %s", dir, len(found), usual), "rename the one to use")
}

// readFirst reads the first existing file. The error is that of the first name.
func readFirst(dir string, names ...string) (file, error) {
	var first error
	for _, name := range names {
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if err == nil {
			return file{path, data}, nil
		}
		if first == nil {
			first = err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return file{}, err
		}
	}
	return file{}, first
}

// A geometry is the shape of a network, with the names of config.json.
type geometry struct {
	Hidden    int     `json:"hidden_size"`
	Layers    int     `json:"num_hidden_layers"`
	Heads     int     `json:"num_attention_heads"`
	Inner     int     `json:"intermediate_size"`
	Positions int     `json:"max_position_embeddings"`
	Vocab     int     `json:"vocab_size"`
	Epsilon   float64 `json:"layer_norm_eps"`
}

// miniLM is the shape of all-MiniLM-L6-v2.
var miniLM = geometry{Hidden: 384, Layers: 6, Heads: 12, Inner: 1536, Positions: 512, Vocab: 30522, Epsilon: 1e-12}

// maxSize limits each size in a config.json, so that their products do not overflow.
const maxSize = 1 << 20

// readConfig parses a config.json. Missing fields are as in all-MiniLM-L6-v2.
func readConfig(data []byte) (geometry, error) {
	c := struct {
		geometry
		Activation string `json:"hidden_act"`
		Position   string `json:"position_embedding_type"`
	}{miniLM, "gelu", "absolute"}
	if len(data) > 0 {
		if err := json.Unmarshal(data, &c); err != nil {
			return geometry{}, err
		}
	}
	g := c.geometry
	for _, n := range []int{g.Hidden, g.Layers, g.Heads, g.Inner, g.Vocab, g.Positions} {
		if n < 1 || n > maxSize {
			return geometry{}, fmt.Errorf("a size of %d is not between 1 and %d", n, maxSize)
		}
	}
	switch {
	case c.Activation != "gelu" || c.Position != "absolute":
		return geometry{}, fmt.Errorf("activation %q and %s positions, want gelu and absolute", c.Activation, c.Position)
	case g.Hidden%g.Heads != 0:
		return geometry{}, fmt.Errorf("hidden size %d is not a multiple of %d heads", g.Hidden, g.Heads)
	case g.Positions < 2:
		return geometry{}, errors.New("no room for a token")
	case !(g.Epsilon > 0 && g.Epsilon < 1):
		return geometry{}, fmt.Errorf("layer norm epsilon %v is not between 0 and 1", g.Epsilon)
	}
	return g, nil
}
