package ci_test

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

// TestPackages looks whether each public package says what it is for, and shows how it
// is used in an example whose output is compared.
func TestPackages(t *testing.T) {
	seen := 0
	for dir, files := range publicFiles(t) {
		seen++
		var comment string
		shown := false
		for _, f := range files {
			if f.Doc != nil && f.Name.Name == packageName(files) {
				comment += f.Doc.Text()
			}
			for _, e := range doc.Examples(f) {
				shown = shown || e.Output != "" || e.EmptyOutput
			}
		}
		if len(strings.Fields(comment)) < 30 {
			t.Errorf("package %s says of itself only %q", dir, comment)
		}
		if synopsis := new(doc.Package).Synopsis(comment); !strings.HasPrefix(synopsis, "Package "+packageName(files)+" ") || len(strings.Fields(synopsis)) < 5 {
			t.Errorf("package %s begins with %q, which does not say what it is for", dir, synopsis)
		}
		if !shown {
			t.Errorf("package %s has no example", dir)
		}
	}
	if seen < 15 {
		t.Errorf("%d packages are public: the test sees too little", seen)
	}
}

// TestExported looks whether every name that others may use says what it is.
func TestExported(t *testing.T) {
	seen := 0
	for dir, files := range publicFiles(t) {
		for _, f := range files {
			if strings.HasSuffix(f.Name.Name, "_test") {
				continue
			}
			for _, d := range f.Decls {
				n, silent := exported(d)
				seen += n
				for _, name := range silent {
					t.Errorf("package %s: %s has no comment", dir, name)
				}
			}
		}
	}
	if seen < 300 {
		t.Errorf("%d names are exported: the test sees too little", seen)
	}
}

// exported returns how many names a declaration gives to others, and those of them that no
// comment speaks of. A group of constants or variables may have one comment for all.
func exported(d ast.Decl) (n int, silent []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() || d.Recv != nil && !ast.IsExported(receiver(d)) {
			return 0, nil
		}
		if d.Doc == nil && !obvious[d.Name.Name] {
			silent = append(silent, d.Name.Name)
		}
		return 1, silent
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			k, names := exportedSpec(spec, d.Doc != nil)
			n += k
			silent = append(silent, names...)
		}
	}
	return n, silent
}

// obvious are methods that say by their names what the interface that they meet says.
var obvious = map[string]bool{"Error": true, "Unwrap": true, "String": true, "Name": true, "Judge": true, "Identity": true}

func exportedSpec(spec ast.Spec, said bool) (n int, silent []string) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			n++
			if !said && s.Doc == nil {
				silent = append(silent, s.Name.Name)
			}
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				n++
				if !said && s.Doc == nil && s.Comment == nil {
					silent = append(silent, name.Name)
				}
			}
		}
	}
	return n, silent
}

// receiver returns the name of the type that a method belongs to.
func receiver(fn *ast.FuncDecl) string {
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// packageName returns the name of a package by its source.
func packageName(files []*ast.File) string {
	for _, f := range files {
		if !strings.HasSuffix(f.Name.Name, "_test") && f.Name.Name != "main" { // as a generator beside it is
			return f.Name.Name
		}
	}
	return ""
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
		if err == nil && strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(f.Name.Name, "_test") {
			return nil // Only tests see what it exports.
		}
		packages[path.Dir(name)] = append(packages[path.Dir(name)], f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, files := range packages { // what holds tests only is not a package to import
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
	case strings.HasPrefix(base, "."), base == "testdata", base == "internal", base == "cmd", base == "examples", base == "tools", base == "dist", name == "docs":
		return fs.SkipDir
	}
	return nil
}
