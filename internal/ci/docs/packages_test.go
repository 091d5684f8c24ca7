package docs_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// lacking are public packages without an example, and why.
var lacking = map[string]string{
	"judge/rule/matchmodel": "it holds numbers that only match reads",
	"model/minilm":          "it needs the files of a model, which are not ours to ship",
}

// TestPackages looks whether each public package says what it is for, and shows how it
// is used in an example whose output is compared.
func TestPackages(t *testing.T) {
	seen := 0
	for dir, files := range publicFiles(t) {
		seen++
		var comment string
		shown := false
		for _, f := range files {
			if f.Doc != nil && !strings.HasSuffix(f.Name.Name, "_test") {
				comment += f.Doc.Text()
			}
			for _, e := range doc.Examples(f) {
				shown = shown || e.Output != "" || e.EmptyOutput
			}
		}
		if len(strings.Fields(comment)) < 30 {
			t.Errorf("package %s says of itself only %q", dir, comment)
		}
		if why := lacking[dir]; shown == (why != "") {
			t.Errorf("package %s: example %v, and the reason for none is %q", dir, shown, why)
		}
	}
	if seen < 30 {
		t.Errorf("%d packages are public: the test sees too little", seen)
	}
}

// publicFiles returns the Go files of the packages that others may import, by folder.
func publicFiles(t *testing.T) map[string][]*ast.File {
	t.Helper()
	packages := map[string][]*ast.File{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skip(name)
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.ParseComments)
		packages[path.Dir(name)] = append(packages[path.Dir(name)], f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, files := range packages { // what holds tests only is no package to import
		source := false
		for _, f := range files {
			source = source || !strings.HasSuffix(f.Name.Name, "_test") && f.Name.Name != "main"
		}
		if !source {
			delete(packages, dir)
		}
	}
	return packages
}

// skip returns fs.SkipDir for a folder that has nothing for others.
func skip(name string) error {
	switch base := path.Base(name); {
	case name == ".":
		return nil
	case strings.HasPrefix(base, "."), base == "testdata", base == "internal", base == "cmd", base == "examples", base == "bench", base == "dist":
		return fs.SkipDir
	}
	return nil
}
