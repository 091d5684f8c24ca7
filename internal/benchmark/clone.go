package benchmark

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"deem"
	"deem/internal/text"
	"deem/judge"
)

// Embedded returns the prompts in the embedded files prompts/*.txt. The key is the file
// name up to the first dot.
func Embedded(files fs.FS) map[string]string {
	names, err := fs.Glob(files, "prompts/*.txt")
	prompts := map[string]string{}
	for _, name := range names {
		var data []byte
		if data, err = fs.ReadFile(files, name); err != nil {
			break
		}
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "prompts/"), ".")
		prompts[name] = string(data)
	}
	if err != nil {
		panic("benchmark: " + err.Error()) // The files are part of the program.
	}
	return prompts
}

// Format fills a prompt like Python's str.format, in one pass, so that {question} inside a
// value stays text. values alternates names and values.
func Format(prompt string, values ...string) string {
	pairs := []string{"{{", "{", "}}", "}"}
	for i, value := range values {
		if i%2 == 0 {
			value = "{" + value + "}"
		}
		pairs = append(pairs, value)
	}
	return strings.NewReplacer(pairs...).Replace(prompt)
}

// Declared returns the judges declared by the embedded files judges/*.yaml, by name. It
// panics if a file is invalid: a program that embeds judges must have tested them.
func Declared(files fs.FS) map[string]*judge.Declaration {
	names, err := fs.Glob(files, "judges/*.yaml")
	if err != nil {
		panic("benchmark: " + err.Error())
	}
	all := map[string]*judge.Declaration{}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			panic("benchmark: " + err.Error())
		}
		d, err := judge.Parse(name, data, func(prompt string) ([]byte, error) {
			return fs.ReadFile(files, path.Join("judges", prompt))
		})
		if err != nil {
			panic("benchmark: " + err.Error())
		}
		all[d.Name] = d
	}
	return all
}

// DeclaredNames returns the names of the declared judges of a benchmark in order, without
// parsing them: "locomo/memos" is declared in judges/memos.yaml.
func DeclaredNames(files fs.FS, benchmark string) []string {
	names, err := fs.Glob(files, "judges/*.yaml")
	if err != nil {
		panic("benchmark: " + err.Error())
	}
	for i, name := range names {
		names[i] = benchmark + "/" + strings.TrimSuffix(path.Base(name), ".yaml")
	}
	slices.Sort(names)
	return names
}

// A Clone is the user's clone of a repository that contains prompts. deem does not ship
// prompts whose licence does not allow it. It ships their SHA-256, so that a clone with
// different prompts is detected.
type Clone struct {
	Judge string // the judge that uses the prompts
	URL   string // for example github.com/owner/name
	At    string // the commit that the checksums are for
	Path  string // of the user's clone; "" if none was given
}

// tripleQuoted matches a triple-quoted Python string.
var tripleQuoted = regexp.MustCompile(`(?s)"""(.*?)"""`)

// Python returns the triple-quoted string with this SHA-256 in a Python file.
func (c Clone) Python(file, sum string) (string, error) {
	data, err := c.read(file)
	if err != nil {
		return "", err
	}
	for _, m := range tripleQuoted.FindAllStringSubmatch(data, -1) {
		value, err := text.Literal(`"` + strings.ReplaceAll(strings.ReplaceAll(m[1], `\"`, `"`), `"`, `\"`) + `"`)
		if prompt, ok := value.(string); err == nil && ok && sha(prompt) == sum {
			return prompt, nil
		}
	}
	return "", c.missing(file, sum)
}

func (c Clone) missing(file, sum string) error {
	return c.wrong(fmt.Errorf("%s does not have the prompt of commit %s with the SHA-256 %s", filepath.Join(c.Path, file), c.At, sum))
}

// pieceOfString matches a line that is one Python string, perhaps with an f in front.
var pieceOfString = regexp.MustCompile(`(?m)^\s*(f?)("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')\s*$`)

// Concatenated returns a variable of a Python file that is one string per line, in brackets,
// as a template for [Format]: the names in f-strings are its slots. The template must have
// this SHA-256.
func (c Clone) Concatenated(file, variable, sum string) (string, error) {
	data, err := c.read(file)
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(data, variable+" = (\n")
	block, _, _ := strings.Cut(rest, "\n    )\n")
	var b strings.Builder
	for _, m := range pieceOfString.FindAllStringSubmatch(block, -1) {
		value, err := text.Literal(m[2])
		piece, ok := value.(string)
		if err != nil || !ok {
			break
		}
		if m[1] == "" {
			piece = strings.NewReplacer("{", "{{", "}", "}}").Replace(piece)
		}
		b.WriteString(piece)
	}
	if sha(b.String()) != sum {
		return "", c.missing(file, sum)
	}
	return b.String(), nil
}

// YAML returns the string at the path of keys in a YAML file. It must have this SHA-256.
func (c Clone) YAML(file, sum string, keys ...string) (string, error) {
	data, err := c.read(file)
	if err != nil {
		return "", err
	}
	var value any
	if err := yaml.Unmarshal([]byte(data), &value); err != nil {
		return "", c.wrong(fmt.Errorf("%s: %w", filepath.Join(c.Path, file), err))
	}
	for _, key := range keys {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	prompt, ok := value.(string)
	if !ok {
		return "", c.wrong(fmt.Errorf("%s has no text under %s", filepath.Join(c.Path, file), strings.Join(keys, ".")))
	}
	if got := sha(prompt); got != sum {
		return "", c.wrong(fmt.Errorf("%s: the prompt %s has the SHA-256 %s, and the one of commit %s has %s", filepath.Join(c.Path, file), strings.Join(keys, "."), got, c.At, sum))
	}
	return prompt, nil
}

func (c Clone) read(file string) (string, error) {
	if c.Path == "" {
		return "", c.wrong(fmt.Errorf("judge %s needs a clone of %s: its prompts have no licence that lets deem ship them", c.Judge, c.URL))
	}
	data, err := os.ReadFile(filepath.Join(c.Path, filepath.FromSlash(file)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", c.wrong(fmt.Errorf("%s is not a clone of %s: it has no %s", c.Path, c.URL, file))
	}
	return string(data), err
}

func sha(prompt string) string {
	sum := sha256.Sum256([]byte(prompt))
	return hex.EncodeToString(sum[:])
}

// wrong adds a hint that says how to get the clone.
func (c Clone) wrong(err error) error {
	return deem.WithHint(err, "git clone https://%s && git -C %s checkout %s, then --with repo=%s", c.URL, filepath.Base(c.URL), c.At, filepath.Base(c.URL))
}
