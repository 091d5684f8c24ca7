package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
	"github.com/spf13/pflag"

	"deem"
	"deem/internal/usage"
)

// A shape says what is written of a JSON document: all of it, some fields, or what a jq
// expression makes of it. It belongs to standard output, so every command with --json has it.
type shape struct {
	fields []string
	query  *gojq.Code
}

// jsonFlags adds --json and --jq to all commands.
func (a *app) jsonFlags(flags *pflag.FlagSet) {
	flags.Var(jsonFlag{a}, "json", "write JSON, errors included; --json=items,unjudged writes only these fields")
	flags.Lookup("json").NoOptDefVal = "true"
	flags.Var(valueFlag[*gojq.Code]{&a.out.query, "expression", compileQuery, func(*gojq.Code) string { return "" }},
		"jq", "write what this jq `expression` takes from the JSON, as in: --jq .items")
}

// compileQuery compiles an expression of --jq.
func compileQuery(s string) (*gojq.Code, error) {
	parsed, err := gojq.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("it is not a jq expression: %w", err)
	}
	code, err := gojq.Compile(parsed)
	if err != nil {
		return nil, fmt.Errorf("it is not a jq expression: %w", err)
	}
	return code, nil
}

// A jsonFlag is the value of --json: true, false, or names of fields with commas.
type jsonFlag struct{ app *app }

func (f jsonFlag) Type() string   { return "bool" }
func (f jsonFlag) String() string { return "" }

func (f jsonFlag) Set(s string) error {
	on, err := strconv.ParseBool(s)
	if err == nil {
		f.app.json, f.app.out.fields = on, nil
		return nil
	}
	f.app.json = true
	fields := strings.Split(s, ",")
	if slices.ContainsFunc(fields, func(name string) bool { return !fieldName.MatchString(name) }) {
		return errFields
	}
	f.app.out.fields = fields
	return nil
}

var errFields = errors.New("is not a list of fields, such as items,unjudged")

var fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

// joinFields joins "--json" and a list of fields in the next argument. A single name needs
// "=", because it may also be the name of a run.
func joinFields(args []string) []string {
	i := slices.Index(args, "--json")
	if end := slices.Index(args, "--"); i < 0 || i+1 >= len(args) || end >= 0 && end < i {
		return args
	}
	fields := strings.Split(args[i+1], ",")
	if len(fields) < 2 || slices.ContainsFunc(fields, func(name string) bool { return !fieldName.MatchString(name) }) {
		return args
	}
	return slices.Concat(args[:i], []string{"--json=" + args[i+1]}, args[i+2:])
}

// whole reports whether the document is written as it is.
func (s *shape) whole() bool { return len(s.fields) == 0 && s.query == nil }

// write writes what the shape takes from a document in JSON: fields as a document, and each
// result of a jq expression as a line, texts without quotes.
func (s *shape) write(w io.Writer, document []byte) error {
	if len(s.fields) > 0 {
		var err error
		if document, err = choose(document, s.fields); err != nil {
			return err
		}
	}
	if s.query == nil {
		var b bytes.Buffer
		if err := json.Indent(&b, document, "", "  "); err != nil {
			return err
		}
		_, err := w.Write(append(b.Bytes(), '\n'))
		return err
	}
	var v any
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		return err
	}
	return s.runQuery(w, v)
}

// runQuery writes the results of the jq expression.
func (s *shape) runQuery(w io.Writer, v any) error {
	results := s.query.Run(v)
	for {
		got, ok := results.Next()
		if !ok {
			return nil
		}
		if err, failed := got.(error); failed {
			if halt, ok := errors.AsType[*gojq.HaltError](err); ok && halt.Value() == nil {
				return nil
			}
			return usage.Mark(deem.WithHint(fmt.Errorf("--jq: %w", err), "--jq . shows the whole document"))
		}
		line, isText := got.(string)
		if !isText {
			encoded, err := gojq.Marshal(got)
			if err != nil {
				return err
			}
			line = string(encoded)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
}

// choose returns a document with some of its fields, in the given order. Of a list it takes
// the fields of every element; an element without one of them has null there.
func choose(document []byte, fields []string) ([]byte, error) {
	var list []map[string]json.RawMessage
	isList := bytes.HasPrefix(bytes.TrimSpace(document), []byte("["))
	if !isList {
		document = slices.Concat([]byte("["), document, []byte("]"))
	}
	if err := json.Unmarshal(document, &list); err != nil {
		return nil, usage.Errorf("--json: this output is a list of texts without fields")
	}
	there := map[string]bool{}
	for _, object := range list {
		for name := range object {
			there[name] = true
		}
	}
	for _, name := range fields {
		if !there[name] && len(list) > 0 {
			return nil, usage.Mark(deem.WithHint(fmt.Errorf("--json: no field %q in this output", name), "there are %s", strings.Join(slices.Sorted(maps.Keys(there)), ", ")))
		}
	}
	var chosen []string
	for _, object := range list {
		var parts []string
		for _, name := range fields {
			value, ok := object[name]
			if !ok {
				value = []byte("null")
			}
			parts = append(parts, fmt.Sprintf("%q:%s", name, value))
		}
		chosen = append(chosen, "{"+strings.Join(parts, ",")+"}")
	}
	if !isList {
		return []byte(chosen[0]), nil
	}
	return []byte("[" + strings.Join(chosen, ",") + "]"), nil
}
