package cli

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write the files that tests compare")

// pythonOptions are the commands that functions of the Python package run, and the flags
// that those functions set themselves.
var pythonOptions = []struct {
	class, command string
	set            []string
}{
	{"RunOptions", "run", []string{"data", "judge", "model", "format", "dry-run", "detach"}},
	{"PlanOptions", "plan", []string{"data", "judge", "model", "format"}},
	{"CompareOptions", "compare", nil},
	{"AgreeOptions", "agree", nil},
	{"ProbeOptions", "probe", []string{"data", "judge", "model", "format", "dry-run"}},
	{"RejudgeOptions", "rejudge", nil},
	{"ClaimsOptions", "claims", nil},
	{"ExportOptions", "export", []string{"format", "output"}},
}

// pythonFlags are flags that make no sense in a program: they change what is printed.
var pythonFlags = []string{"json", "stream", "help", "help-all", "verbose", "quiet", "yes", "config", "jq"}

// TestPythonOptions holds the options of the Python package to the flags of the commands.
// With -update it writes them.
func TestPythonOptions(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`"""The options of each function: the flags of its command, with "_" for "-".

This file is written by "go test ./internal/cli -run TestPythonOptions -update".
"""

from __future__ import annotations

from typing import Mapping, Sequence, TypedDict, Union
`)
	root := emptyApp().root()
	for _, o := range pythonOptions {
		cmd, _, err := root.Find([]string{o.command})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n\nclass %s(TypedDict, total=False):\n    \"\"\"The flags of \"deem %s\".\"\"\"\n\n", o.class, o.command)
		for _, line := range pythonFields(cmd, o.set) {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	name := filepath.Join("..", "..", "python", "src", "deem", "_options.py")
	if *update {
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil { //nolint:gosec // It is part of the sources.
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, b.Bytes()) {
		t.Error("the options of the Python package are not the flags of the commands: go test ./internal/cli -run TestPythonOptions -update writes them")
	}
}

// pythonFields returns the fields for the flags of a command, in order of their names.
func pythonFields(cmd *cobra.Command, set []string) []string {
	fields := []string{"db: str"}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "db" && !slices.Contains(set, f.Name) && !slices.Contains(pythonFlags, f.Name) && f.Deprecated == "" {
			name := strings.ReplaceAll(f.Name, "-", "_")
			if slices.Contains(pythonKeywords, name) {
				name += "_"
			}
			fields = append(fields, name+": "+pythonType(f))
		}
	})
	if cmd.Name() == "run" {
		fields = append(fields, "benchmark: str")
	}
	slices.Sort(fields)
	return fields
}

// emptyApp returns an app that writes nothing, for tests that look at commands and flags.
func emptyApp() *app { return &app{out: &screen{w: io.Discard}} }

// pythonKeywords are words that cannot name an argument. Such a flag is an option with "_"
// behind its name.
var pythonKeywords = []string{"and", "as", "assert", "from", "global", "if", "import", "in", "is", "not", "or", "pass", "with"}

// pythonType returns the type of a flag's value.
func pythonType(f *pflag.Flag) string {
	if f.Name == "map" {
		return "Mapping[str, str]"
	}
	switch kind := f.Value.Type(); kind {
	case "bool":
		return "bool"
	case "int", "int64", "uint", "uint64":
		return "int"
	case "float64", "dollars", "number":
		return "float"
	case "stringArray", "stringSlice":
		return "Union[str, Sequence[str]]"
	case "stringToString":
		return "Mapping[str, str]"
	case "string", "duration":
		return "str"
	default:
		return "Union[str, float]"
	}
}
