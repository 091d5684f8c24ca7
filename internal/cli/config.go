package cli

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"deem"
	"deem/internal/catalog"
	"deem/internal/fetch"
	"deem/internal/text"
	"deem/internal/usage"
)

// configSchema is the JSON Schema of deem.yaml.
//
//go:embed deem.schema.json
var configSchema []byte

// configKeys are the settings that deem.yaml may hold, each named after the flag
// that it stands for. What belongs to one invocation, as --fresh, is not a setting.
var configKeys = []string{
	"ask-above", "base-url", "ca-file", "concurrency", "data", "db", "embeddings", "errata", "exclude", "format", "gate", "headers",
	"judge", "limit", "log", "log-level", "map", "max-cost", "max-tokens", "max-unjudged", "metrics", "model", "model-options", "notify", "pass",
	"prices", "proxy", "reading", "responses", "retries", "rpm", "run-timeout", "system", "system-model", "temperature", "thinking", "timeout",
	"tpm", "trials", "wordnet",
}

// pathKeys are the settings that name files, relative to the file they stand in.
var pathKeys = []string{"ca-file", "data", "db", "embeddings", "errata", "judge", "log", "prices", "responses", "wordnet"}

// listKeys are the settings that may be lists.
var listKeys = []string{"data", "exclude", "gate", "judge", "responses"}

// checks are the settings whose flags take any text, with what the command would say of
// it later: in a file it is said with the line.
var checks = map[string]func(value string) error{
	"gate": func(value string) error {
		_, err := reportGates([]string{value})
		return err
	},
	"exclude": func(value string) error {
		if _, _, err := parseExclusion(value); err != nil {
			return fmt.Errorf("exclude: %q is neither category=NAME nor id=ID", value)
		}
		return nil
	},
	"log-level": func(value string) error {
		var level slog.Level
		if level.UnmarshalText([]byte(value)) != nil {
			return fmt.Errorf("log_level: it is debug, info, warn or error, and not %q", value)
		}
		return nil
	},
	"errata": func(value string) error {
		if value == "-" {
			return errors.New("errata: it is read again by later reports, so it must be a file and cannot be standard input")
		}
		return nil
	},
}

// unsettable marks the flags of which a setting of the same name does not speak: the
// gates of deem.yaml are held against reports, and those of "deem compare" against
// differences.
const unsettable = "not-in-deem.yaml"

// notFromFile keeps settings of deem.yaml from flags that mean something else.
func notFromFile(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if err := f.SetAnnotation(name, unsettable, []string{"yes"}); err != nil {
			panic("cli: " + err.Error()) // there is no such flag
		}
	}
}

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
	c := &config{file: name, flags: flags, set: map[string]bool{}, env: &a.env}
	c.read(data)
	a.fromFile = c.set
	if err := c.problems.Err(); c.hint != "" {
		return deem.WithHint(err, "%s", c.hint)
	}
	return c.problems.Err()
}

// A config is a deem.yaml on its way into the flags.
type config struct {
	file     string
	flags    *pflag.FlagSet
	set      map[string]bool // the flags that the file has set
	problems deem.Problems
	hint     string // of the first problem that has one
	env      *catalog.Environment
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
		case name == providersKey:
			c.addProviders(value)
		case !slices.Contains(configKeys, name):
			c.unknownKey(key)
		default:
			c.take(name, value)
		}
		seen[name] = true
	}
}

func (c *config) unknownKey(key *yaml.Node) {
	known := []string{providersKey}
	for _, k := range configKeys {
		known = append(known, strings.ReplaceAll(k, "-", "_"))
	}
	if near := text.Closest(key.Value, known); near != "" {
		c.bad(key.Line, "no setting %q; did you mean %q?", key.Value, near)
		return
	}
	c.bad(key.Line, "no setting %q; there are %s", key.Value, strings.Join(known, ", "))
}

// providersKey is the setting that has no flag: vendors of the user's own.
const providersKey = "providers"

// addProviders takes in vendors of the user's own.
func (c *config) addProviders(n *yaml.Node) {
	text, err := yaml.Marshal(n)
	if err != nil {
		c.bad(n.Line, "providers: %v", err)
		return
	}
	list, err := catalog.ParseProviders(text)
	if err != nil {
		c.bad(n.Line, "providers: %s", yamlLine.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n  "), ""))
		return
	}
	*c.env = c.env.With(list)
}

// take hands one setting to its flag, unless the user gave the flag.
func (c *config) take(name string, n *yaml.Node) {
	flag := c.flags.Lookup(flagOf(name))
	if flag == nil || flag.Changed || flag.Annotations[unsettable] != nil {
		return
	}
	c.set[flag.Name] = true
	values, ok := c.values(name, n)
	if !ok {
		return
	}
	for _, v := range values {
		if err := c.give(flag, name, v.text); err != nil {
			c.bad(v.line, "%v", err)
			c.hint = cmp.Or(c.hint, deem.HintOf(err))
			return
		}
	}
}

// give hands one value of a setting to its flag.
func (c *config) give(flag *pflag.Flag, name, value string) error {
	if check := checks[name]; check != nil {
		if err := check(value); err != nil {
			return err
		}
	}
	if slices.Contains(pathKeys, name) {
		value = c.resolve(name, value)
	}
	err := c.flags.Set(flag.Name, value)
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		what, ofValue := wrongValue(e)
		if ofValue {
			what = fmt.Sprintf("%q %s", value, what)
		}
		err = &said{what, err}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.ReplaceAll(name, "-", "_"), err)
	}
	return nil
}

// A given is a value in the file, as its flag would take it.
type given struct {
	text string
	line int
}

// values returns what a node says.
func (c *config) values(name string, n *yaml.Node) ([]given, bool) {
	n = meant(n)
	switch {
	case isText(n):
		return []given{{n.Value, n.Line}}, true
	case n.Kind == yaml.SequenceNode && slices.Contains(listKeys, name):
		var list []given
		for _, e := range n.Content {
			if !isText(e) {
				c.bad(e.Line, "%s is a list of texts", strings.ReplaceAll(name, "-", "_"))
				return nil, false
			}
			list = append(list, given{meant(e).Value, e.Line})
		}
		return list, true
	case n.Kind == yaml.MappingNode && (name == "map" || mapKeys[name] != "") && !slices.ContainsFunc(n.Content, func(e *yaml.Node) bool { return !isText(e) }):
		return pairs(name, n), true
	default:
		c.bad(n.Line, "%s cannot be a value of this form", strings.ReplaceAll(name, "-", "_"))
		return nil, false
	}
}

// meant returns the node that an alias stands for, and any other node itself.
func meant(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// isText reports whether a node is a text: null, a list or keys and values are none.
func isText(n *yaml.Node) bool {
	n = meant(n)
	return n.Kind == yaml.ScalarNode && n.Tag != "!!null"
}

// pairs returns keys with their values: each for itself, or all in one text where the
// flag is given once.
func pairs(name string, n *yaml.Node) []given {
	var list []given
	var all []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		pair := meant(n.Content[i]).Value + "=" + meant(n.Content[i+1]).Value
		list, all = append(list, given{pair, n.Content[i].Line}), append(all, pair)
	}
	if name == "map" {
		return []given{{strings.Join(all, ","), n.Line}}
	}
	return list
}

// resolve makes a path relative to the folder of the configuration. A judge is a
// path only when it looks like one.
func (c *config) resolve(name, v string) string {
	if filepath.IsAbs(v) || v == "-" || fetch.IsRemote(v) || name == "db" && strings.Contains(v, "://") || name == "judge" && !catalog.LooksLikeFile(v) || name == "embeddings" && c.env.IsServed(v) {
		return v
	}
	return filepath.Join(filepath.Dir(c.file), v)
}
