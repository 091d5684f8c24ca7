package labels

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"deem"
)

// Bound reports whether labels bound to the hash to, or to a prefix of a hash, are bound to
// the judge with the hash judge.
func Bound(to, judge string) bool {
	return len(to) >= shortest && strings.HasPrefix(judge, to)
}

// Bind writes the hash of the judge into a label file, replacing an earlier one. Nothing
// else in the file changes. It writes a new file and then renames it over the old one. Read
// must accept the file before and after.
func Bind(ctx context.Context, src Source, hash string) error {
	if len(src.Names) != 1 || src.Names[0] == "-" {
		return errors.New("only one file can be bound to a judge at a time, and standard input to none")
	}
	name := src.Names[0]
	set, err := Read(ctx, src)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	bound, err := bound(name, data, set.JudgeHash, hash)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	// The extension is kept, because it determines the format.
	tempName := filepath.Join(filepath.Dir(name), ".bind-"+filepath.Base(name))
	if err := os.WriteFile(tempName, bound, info.Mode().Perm()); err != nil { //nolint:gosec // The user names the file.
		return err
	}
	src.Names = []string{tempName}
	set, err = Read(ctx, src)
	if err == nil && set.JudgeHash != hash {
		err = fmt.Errorf("bind %s: the hash would not be found in it again", name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tempName))
	}
	return os.Rename(tempName, name)
}

// bound returns the text of a file with the hash.
func bound(name string, data []byte, old, hash string) ([]byte, error) {
	if old != "" {
		return bytes.ReplaceAll(data, []byte(old), []byte(hash)), nil
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson", ".jsonlines":
		return append([]byte(`{"judge_hash":"`+hash+"\"}\n"), data...), nil
	case ".csv":
		return bindTable(data, ',', hash), nil
	case ".tsv", ".tab":
		return bindTable(data, '\t', hash), nil
	case ".yaml", ".yml":
		root, wrong := parseYAML(data)
		if wrong.Message != "" || root == nil || root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 || len(root.Content) == 0 {
			return nil, deem.WithHint(fmt.Errorf("%s has no place for the hash of a judge", name), "put the list under a key: labels:")
		}
		at := 0 // the line of the first key; a list has no keys
		for range root.Content[0].Line - 1 {
			at += bytes.IndexByte(data[at:], '\n') + 1
		}
		return insert(data, at, "judge_hash: "+hash+"\n"), nil
	case ".json":
		if at := bytes.IndexByte(data, '{'); at >= 0 && len(bytes.TrimSpace(data[:at])) == 0 {
			return insert(data, at+1, `"judge_hash": "`+hash+`", `), nil
		}
	}
	return nil, deem.WithHint(fmt.Errorf("%s has no place for the hash of a judge", name),
		"a CSV has one in each row, a JSONL in its first line, a YAML or JSON next to its list of labels")
}

func insert(data []byte, at int, text string) []byte {
	return append(append(bytes.Clone(data[:at]), text...), data[at:]...)
}

// bindTable adds a column to a table. Line breaks inside quoted cells do not end rows, and
// empty lines are not rows.
func bindTable(data []byte, comma byte, hash string) []byte {
	var out []byte
	cell, quoted, start := "judge_hash", false, 0
	end := func(at int) {
		if line := bytes.TrimSuffix(data[start:at], []byte{'\r'}); len(line) > 0 {
			out = append(out, line...)
			out = append(append(out, comma), cell...)
			out = append(out, data[start+len(line):at]...)
			cell = hash
		} else {
			out = append(out, data[start:at]...)
		}
		start = at
	}
	for i, c := range data {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\n' && !quoted:
			end(i)
			out = append(out, '\n')
			start = i + 1
		}
	}
	end(len(data))
	return out
}
