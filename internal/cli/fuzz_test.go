package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"deem"
	"deem/internal/store/postgres"
)

// FuzzConfig reads arbitrary deem.yaml files into the flags of deem run. Errors have a
// line; accepted values are those of YAML: each text of a list reaches its flag, and
// nothing that is not text does.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"judge: universal\nmodel: openai:gpt-4o\n", "data: [a.jsonl, b.jsonl]\nmap: {question: q}\n", "headers: {a: b}\nmodel_options: {x: 1}", "max_cost: $1\nmax-cost: 2",
		"judge: &a [x, *a]", "data: [{a: b}, [c], null]", "<<: {judge: x}\n", "- a", "judge: |\n  x\n y", "trials: many\n", "map: {question: [a, b]}", "judge: ~", "? [a]\n: b", "\xff", "judge: \"\\0\"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a := emptyApp()
		run, _, err := a.root().Find([]string{"run"})
		if err != nil {
			t.Fatal(err)
		}
		a.config = filepath.Join(t.TempDir(), "deem.yaml")
		if err := os.WriteFile(a.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := a.configure(run.Flags()); err != nil {
			checkConfigError(t, err, a.config, text)
			return
		}
		var said map[string]any
		if yaml.Unmarshal([]byte(text), &said) != nil {
			return
		}
		for key, value := range said {
			checkSetting(t, run.Flags(), text, strings.ReplaceAll(key, "_", "-"), value)
		}
	})
}

// checkConfigError checks that each problem has a position.
func checkConfigError(t *testing.T, err error, file, text string) {
	t.Helper()
	ps, ok := errors.AsType[*deem.Problems](err)
	if !ok || ps.Total == 0 {
		t.Fatalf("%q: %v, which has no place", text, err)
	}
	for _, p := range ps.List {
		// YAML has more kinds of line ends, and may report the line after the last.
		lines := 1 + strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u0085") + strings.Count(text, "\u2028") + strings.Count(text, "\u2029")
		if p.File != file || p.Line < 0 || p.Line > lines+1 || p.Message == "" {
			t.Errorf("%q: problem %+v of a text of %d lines", text, p, lines)
		}
	}
}

// checkSetting checks that a list in a file equals the value of its flag.
func checkSetting(t *testing.T, flags *pflag.FlagSet, text, name string, value any) {
	t.Helper()
	list, ok := value.([]any)
	flag := flags.Lookup(flagOf(name))
	if !ok || flag == nil || name == "map" {
		return
	}
	for _, e := range list {
		switch e.(type) {
		case nil, []any, map[string]any:
			t.Errorf("%q is taken, with %v in the list of %s", text, e, name)
		}
	}
	if got, ok := flag.Value.(pflag.SliceValue); ok && !slices.Equal(got.GetSlice(), nil) && len(got.GetSlice()) != len(list) {
		t.Errorf("%q: --%s is %q, want %d of them", text, flag.Name, got.GetSlice(), len(list))
	}
}

// FuzzPassword puts a password into the URL of a database, with every common mistake. The
// displayed form, alone and as an argument, must not contain the password.
func FuzzPassword(f *testing.F) {
	for _, seed := range []struct{ before, after, tail string }{
		{"", "", "db"}, {"1/", "", "db"}, {"", "#x", "db"}, {"12?", "", "db"}, {"12#", "", "db"}, {"%zz", "", ""}, {"", "", "db?password=p&sslpassword=q"}, {"1:", "", "?host=/tmp"}, {"\\", "", ""},
	} {
		f.Add(seed.before, seed.after, seed.tail)
	}
	const secret = "hunter2-0123"
	f.Fuzz(func(t *testing.T, before, after, tail string) {
		if strings.Contains(before, "@") || strings.Contains(after, "@") {
			return // The text after it is the host.
		}
		db := "postgres://user:" + before + secret + after + "@localhost/" + tail
		for _, shown := range []string{withoutPassword(db), redactArg(db), redactArg("--db=" + db)} {
			if strings.Contains(shown, secret) || !postgres.IsURL(strings.TrimPrefix(shown, "--db=")) {
				t.Errorf("%q is shown as %q", db, shown)
			}
		}
	})
}
