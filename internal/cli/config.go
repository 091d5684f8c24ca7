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
	"deem/internal/dataset"
	"deem/internal/text"
	"deem/internal/usage"
	"deem/internal/vendors"
)

// configSchema is the JSON Schema of deem.yaml.
//
//go:embed deem.schema.json
var configSchema []byte

// configKeys are the settings of deem.yaml, each named after a flag. Flags for a single
// invocation, such as --fresh, are not settings.
var configKeys = []string{
	"ask-above", "base-url", "ca-file", "concurrency", "data", "db", "embeddings", "errata", "exclude", "format", "gate", "headers",
	"judge", "limit", "log", "log-level", "map", "max-cost", "max-tokens", "max-unjudged", "metrics", "model", "model-options", "pass",
	"prices", "proxy", "reading", "responses", "retries", "rpm", "run-timeout", "system", "system-model", "temperature", "thinking", "timeout",
	"tpm", "trials",
}

// pathKeys are the settings that name files, relative to the configuration file.
var pathKeys = []string{"ca-file", "data", "db", "embeddings", "errata", "judge", "log", "prices", "responses"}

// listKeys are the settings that may be lists.
var listKeys = []string{"data", "exclude", "gate", "judge", "responses"}

// checks are checks of settings whose flags accept any text. The command would report the
// same error later; for a file it is reported with the line.
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

// unsettable marks flags that differ in meaning from the setting of the same name: the
// gates of deem.yaml apply to reports, and those of "deem compare" to differences.
const unsettable = "not-in-deem.yaml"

// notFromFile excludes flags with a different meaning from deem.yaml.
func notFromFile(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if err := f.SetAnnotation(name, unsettable, []string{"yes"}); err != nil {
			panic("cli: " + err.Error()) // there is no such flag
		}
	}
}

// mapKeys are the settings that are mappings in the file. The flag is set once for each
// entry.
var mapKeys = map[string]string{"headers": "header", "model-options": "model-option"}

func flagOf(name string) string { return cmp.Or(mapKeys[name], name) }

// configure sets flags that the user did not give from deem.yaml. It ignores settings whose
// flag this command does not have, because one file serves all commands.
func (a *app) configure(flags *pflag.FlagSet) error {
	name := cmp.Or(a.config, "deem.yaml")
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && a.config == "" {
		return nil
	}
	if err != nil {
		return usage.Mark(err)
	}
	a.fromFile = map[string]bool{}
	c := &config{app: a, file: name, flags: flags}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		line, msg := 0, err.Error()
		if m := yamlLine.FindStringSubmatch(msg); m != nil {
			line, _ = strconv.Atoi(m[1])
			msg = msg[len(m[0]):]
		}
		c.bad(line, "no YAML: %s", msg)
		return c.problems.Err()
	}
	if len(doc.Content) == 0 {
		return nil // an empty file sets nothing
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		c.bad(root.Line, "the file wants keys and values, as \"judge: grade\"")
		return c.problems.Err()
	}
	known := []string{providersKey}
	for _, k := range configKeys {
		known = append(known, strings.ReplaceAll(k, "-", "_"))
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
		case slices.Contains(configKeys, name):
			c.take(name, value)
		default:
			hint := "there are " + strings.Join(known, ", ")
			if near := text.Closest(key.Value, known); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			c.bad(key.Line, "no setting %q; %s", key.Value, hint)
		}
		seen[name] = true
	}
	return deem.WithHint(c.problems.Err(), "%s", c.hint)
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

// A config is a deem.yaml that is being applied to flags.
type config struct {
	app      *app
	file     string
	flags    *pflag.FlagSet
	problems deem.Problems
	hint     string // of the first problem with a hint
}

func (c *config) bad(line int, format string, args ...any) {
	c.problems.Add(deem.Problem{File: c.file, Line: line, Message: fmt.Sprintf(format, args...)})
}

// providersKey is the setting without a flag: the user's own providers.
const providersKey = "providers"

// addProviders adds the user's own providers.
func (c *config) addProviders(n *yaml.Node) {
	text, err := yaml.Marshal(n)
	if err != nil {
		c.bad(n.Line, "providers: %v", err)
		return
	}
	list, err := vendors.ParseProviders(text)
	if err != nil {
		c.bad(n.Line, "providers: %s", yamlLine.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n  "), ""))
		return
	}
	c.app.env = c.app.env.With(list)
}

// take applies one setting to its flag, unless the user gave the flag.
func (c *config) take(name string, n *yaml.Node) {
	flag := c.flags.Lookup(flagOf(name))
	if flag == nil || flag.Changed || flag.Annotations[unsettable] != nil {
		return
	}
	c.app.fromFile[flag.Name] = true
	for _, v := range c.values(name, n) {
		if err := c.give(flag, name, v.Value); err != nil {
			c.bad(v.Line, "%v", err)
			c.hint = cmp.Or(c.hint, deem.HintOf(err))
			return
		}
	}
}

// give sets a flag to one value of a setting.
func (c *config) give(flag *pflag.Flag, name, value string) error {
	if check := checks[name]; check != nil {
		if err := check(value); err != nil {
			return err
		}
	}
	// A path is relative to the folder of the configuration. A judge is a path only if it
	// looks like one.
	asTyped := filepath.IsAbs(value) || value == "-" || dataset.IsRemote(value) || name == "db" && strings.Contains(value, "://") || name == "judge" && !catalog.LooksLikeFile(value) || name == "embeddings" && c.app.env.IsServed(value)
	if slices.Contains(pathKeys, name) && !asTyped {
		value = filepath.Join(filepath.Dir(c.file), value)
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

// values returns the values of a node in the syntax of the flag: those of a list, the
// entries of a mapping, or all entries in one value if the flag is set once. It returns none
// if the form is wrong.
func (c *config) values(name string, n *yaml.Node) []*yaml.Node {
	n = meant(n)
	var list []*yaml.Node
	switch {
	case isText(n):
		return []*yaml.Node{n}
	case n.Kind == yaml.SequenceNode && slices.Contains(listKeys, name):
		for _, e := range n.Content {
			if !isText(e) {
				c.bad(e.Line, "%s is a list of texts", strings.ReplaceAll(name, "-", "_"))
				return nil
			}
			list = append(list, &yaml.Node{Value: meant(e).Value, Line: e.Line})
		}
	case n.Kind == yaml.MappingNode && (name == "map" || mapKeys[name] != "") && !slices.ContainsFunc(n.Content, func(e *yaml.Node) bool { return !isText(e) }):
		var all []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			pair := meant(n.Content[i]).Value + "=" + meant(n.Content[i+1]).Value
			list, all = append(list, &yaml.Node{Value: pair, Line: n.Content[i].Line}), append(all, pair)
		}
		if name == "map" {
			return []*yaml.Node{{Value: strings.Join(all, ","), Line: n.Line}}
		}
	default:
		c.bad(n.Line, "%s cannot be a value of this form", strings.ReplaceAll(name, "-", "_"))
	}
	return list
}

// meant resolves an alias node.
func meant(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// isText reports whether a node is a scalar text, and not null, a list or a mapping.
func isText(n *yaml.Node) bool {
	n = meant(n)
	return n.Kind == yaml.ScalarNode && n.Tag != "!!null"
}
