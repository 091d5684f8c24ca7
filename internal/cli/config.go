package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"deem"
	"deem/internal/assembly"
	"deem/internal/usage"
	"deem/text"
)

// configSchema is the JSON Schema of deem.yaml.
//
//go:embed deem.schema.json
var configSchema []byte

// configKeys are the settings that deem.yaml may hold, each named after the flag
// that it stands for. What belongs to one invocation, as --fresh, is no setting.
var configKeys = []string{
	"ask-above", "base-url", "ca-file", "concurrency", "data", "db", "embeddings", "format", "headers", "judge", "limit", "map",
	"max-cost", "max-tokens", "max-unjudged", "model", "model-options", "pass", "prices", "proxy", "reading", "responses", "retries",
	"rpm", "run-timeout", "temperature", "timeout", "tpm", "trials", "wordnet",
}

// pathKeys are the settings that name files, relative to the file they stand in.
var pathKeys = []string{"ca-file", "data", "db", "embeddings", "prices", "judge", "responses", "wordnet"}

// listKeys are the settings that may be lists.
var listKeys = []string{"data", "judge", "responses"}

// mapKeys are the settings that are keys and values in the file. The flag is given
// once for each.
var mapKeys = map[string]string{"headers": "header", "model-options": "model-option"}

// flagOf returns the flag that a setting stands for.
func flagOf(name string) string {
	if flag, ok := mapKeys[name]; ok {
		return flag
	}
	return name
}

// configure sets the flags that the user did not give from deem.yaml. A key of a
// flag that this command does not have is left alone: one file serves them all.
func (a *app) configure(flags *pflag.FlagSet) error {
	name := a.config
	if name == "" {
		name = "deem.yaml"
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && a.config == "" {
		return nil
	}
	if err != nil {
		return usage.Mark(err)
	}
	c := &config{file: name, flags: flags}
	c.read(data)
	return c.problems.Err()
}

// A config is a deem.yaml on its way into the flags.
type config struct {
	file     string
	flags    *pflag.FlagSet
	problems deem.Problems
}

func (c *config) bad(line int, format string, args ...any) {
	c.problems.Add(deem.Problem{File: c.file, Line: line, Message: fmt.Sprintf(format, args...)})
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

func (c *config) read(data []byte) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		line, msg := 0, err.Error()
		if m := yamlLine.FindStringSubmatch(msg); m != nil {
			line, _ = strconv.Atoi(m[1])
			msg = msg[len(m[0]):]
		}
		c.bad(line, "no YAML: %s", msg)
		return
	}
	if len(doc.Content) == 0 {
		return // an empty file sets nothing
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		c.bad(root.Line, "the file wants keys and values, as \"judge: universal\"")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		name := strings.ReplaceAll(key.Value, "_", "-")
		switch {
		case seen[name]:
			c.bad(key.Line, "the key %q stands here twice", key.Value)
		case !slices.Contains(configKeys, name):
			c.unknownKey(key)
		default:
			c.set(name, value)
		}
		seen[name] = true
	}
}

func (c *config) unknownKey(key *yaml.Node) {
	var known []string
	for _, k := range configKeys {
		known = append(known, strings.ReplaceAll(k, "-", "_"))
	}
	if near := text.Closest(key.Value, known); near != "" {
		c.bad(key.Line, "no setting %q; did you mean %q?", key.Value, near)
		return
	}
	c.bad(key.Line, "no setting %q; there are %s", key.Value, strings.Join(known, ", "))
}

// set hands one setting to its flag, unless the user gave the flag.
func (c *config) set(name string, n *yaml.Node) {
	flag := c.flags.Lookup(flagOf(name))
	if flag == nil || flag.Changed {
		return
	}
	values, ok := c.values(name, n)
	if !ok {
		return
	}
	for _, v := range values {
		if slices.Contains(pathKeys, name) {
			v = c.resolve(name, v)
		}
		if err := c.flags.Set(flag.Name, v); err != nil {
			c.bad(n.Line, "%s: %v", strings.ReplaceAll(name, "-", "_"), err)
			return
		}
	}
}

// values returns what a node says, as the flag would take it.
func (c *config) values(name string, n *yaml.Node) ([]string, bool) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
		return []string{n.Value}, true
	case n.Kind == yaml.SequenceNode && slices.Contains(listKeys, name):
		var list []string
		for _, e := range n.Content {
			list = append(list, e.Value)
		}
		return list, true
	case n.Kind == yaml.MappingNode && (name == "map" || mapKeys[name] != ""):
		var pairs []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			pairs = append(pairs, n.Content[i].Value+"="+n.Content[i+1].Value)
		}
		if name == "map" {
			return []string{strings.Join(pairs, ",")}, true
		}
		return pairs, true
	default:
		c.bad(n.Line, "%s cannot be a value of this form", strings.ReplaceAll(name, "-", "_"))
		return nil, false
	}
}

// resolve makes a path relative to the folder of the configuration. A judge is a
// path only when it looks like one.
func (c *config) resolve(name, v string) string {
	if filepath.IsAbs(v) || v == "-" || name == "db" && strings.Contains(v, "://") || name == "judge" && !assembly.LooksLikeFile(v) || name == "embeddings" && assembly.IsServed(v) {
		return v
	}
	return filepath.Join(filepath.Dir(c.file), v)
}
