package ci_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestDocumentedDependencies holds the page about dependencies to what is
// imported: each module has a row.
func TestDocumentedDependencies(t *testing.T) {
	doc := read(t, "docs/design/dependencies.md")
	modules := requiredModules(t)
	seen := map[string]bool{}
	for _, imported := range imports(t) {
		i := slices.IndexFunc(modules, func(m string) bool { return imported == m || strings.HasPrefix(imported, m+"/") })
		if i < 0 {
			t.Errorf("%s is imported and in no module that go.mod requires", imported)
			continue
		}
		seen[modules[i]] = true
	}
	for module := range seen {
		if !strings.Contains(doc, "\n| `"+module+"` | ") {
			t.Errorf("docs/design/dependencies.md has no row for %s", module)
		}
	}
	if len(seen) < 5 {
		t.Errorf("%d modules are imported: the test sees too little", len(seen))
	}
}

// requiredModules returns the modules in go.mod, the longest names first, so that
// a module inside another's path is found before it.
func requiredModules(t *testing.T) []string {
	t.Helper()
	var modules []string
	for line := range strings.Lines(read(t, "go.mod")) {
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(words) >= 2 && strings.HasPrefix(words[1], "v") {
			modules = append(modules, words[0])
		}
	}
	slices.SortFunc(modules, func(a, b string) int { return len(b) - len(a) })
	return modules
}

// imports returns what the Go files of this module import from elsewhere.
func imports(t *testing.T) []string {
	t.Helper()
	var list []string
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") {
				list = append(list, imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
