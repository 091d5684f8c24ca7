// Package clone reads prompts out of the user's clone of a repository. Prompts without a
// licence that lets us pass them on are not part of deem; their SHA-256 is, so that a clone
// with other prompts is noticed.
package clone

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"deem"
	"deem/internal/text"
)

// A Repo is a repository that the user has cloned.
type Repo struct {
	Judge string // whose prompts it has
	URL   string // as github.com/owner/name
	At    string // the commit that the sums are of
	Path  string // of the user's clone; "" when none was named
}

// Python returns the text that a Python file assigns to a variable, between three quotes.
func (r Repo) Python(file, variable, sum string) (string, error) {
	data, err := r.read(file)
	if err != nil {
		return "", err
	}
	const quotes = `"""`
	_, rest, ok := strings.Cut(data, "\n"+variable+" = "+quotes)
	body, _, closed := strings.Cut(rest, quotes)
	if !ok || !closed {
		return "", r.wrong(fmt.Errorf("%s does not assign a text to %s", filepath.Join(r.Path, file), variable))
	}
	value, err := text.Literal(`"` + strings.ReplaceAll(strings.ReplaceAll(body, `\"`, `"`), `"`, `\"`) + `"`)
	if err != nil {
		return "", r.wrong(fmt.Errorf("%s: %s: %w", filepath.Join(r.Path, file), variable, err))
	}
	return r.pinned(file, variable, text.Str(value), sum)
}

// YAML returns the text under the keys in a YAML file.
func (r Repo) YAML(file, sum string, keys ...string) (string, error) {
	data, err := r.read(file)
	if err != nil {
		return "", err
	}
	var value any
	if err := yaml.Unmarshal([]byte(data), &value); err != nil {
		return "", r.wrong(fmt.Errorf("%s: %w", filepath.Join(r.Path, file), err))
	}
	for _, key := range keys {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	prompt, ok := value.(string)
	if !ok {
		return "", r.wrong(fmt.Errorf("%s has no text under %s", filepath.Join(r.Path, file), strings.Join(keys, ".")))
	}
	return r.pinned(file, strings.Join(keys, "."), prompt, sum)
}

// read returns a file of the clone.
func (r Repo) read(file string) (string, error) {
	if r.Path == "" {
		return "", r.wrong(fmt.Errorf("judge %s needs a clone of %s: its prompts have no licence that lets deem ship them", r.Judge, r.URL))
	}
	data, err := os.ReadFile(filepath.Join(r.Path, filepath.FromSlash(file)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", r.wrong(fmt.Errorf("%s is not a clone of %s: it has no %s", r.Path, r.URL, file))
	}
	return string(data), err
}

// pinned returns a prompt if it is the published one.
func (r Repo) pinned(file, name, prompt, sum string) (string, error) {
	got := sha256.Sum256([]byte(prompt))
	if hex.EncodeToString(got[:]) != sum {
		return "", r.wrong(fmt.Errorf("%s: the prompt %s has the SHA-256 %x, and the one of commit %s has %s", filepath.Join(r.Path, file), name, got, r.At, sum))
	}
	return prompt, nil
}

// wrong says how to get the clone.
func (r Repo) wrong(err error) error {
	return deem.WithHint(err, "git clone https://%s && git -C %s checkout %s, then --with repo=%s", r.URL, filepath.Base(r.URL), r.At, filepath.Base(r.URL))
}
