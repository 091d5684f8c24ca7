package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	explained "deem/internal/words"
)

// Every note and warning in the source has a code with a paragraph, and every paragraph is
// about a note in the source.
func TestNotesHaveCodes(t *testing.T) {
	t.Parallel()
	notes := sourceNotes(t)
	if len(notes) < 70 {
		t.Fatalf("only %d notes were found in the source", len(notes))
	}
	all := ""
	for note, file := range notes {
		if explained.CodeOf(note) == "" {
			t.Errorf("%s: no code for the note %q: add it to internal/words/explain.go", file, note)
		}
		all += note + "\n"
	}
	for i, e := range explained.Explanations {
		if i > 0 && e.Code <= explained.Explanations[i-1].Code || len(e.Code) != 4 {
			t.Errorf("code %s: codes are D and three digits, in order", e.Code)
		}
		if strings.Count(e.Text, ". ") < 1 || !strings.HasSuffix(e.Text, ".") {
			t.Errorf("%s: %q is not a paragraph", e.Code, e.Text)
		}
		for _, part := range e.On {
			if !strings.Contains(all, part) {
				t.Errorf("%s: no note in the source has %q", e.Code, part)
			}
		}
		if out := helpOf(t, "explain", e.Code); !strings.HasPrefix(out, e.Code+" ") {
			t.Errorf("deem explain %s prints %q", e.Code, out)
		}
	}
}

// sourceNotes returns the notes in the packages that compute numbers, with their files:
// constants named warn..., texts in functions named note..., and texts appended to Notes.
func sourceNotes(t *testing.T) map[string]string {
	t.Helper()
	notes := map[string]string{}
	for _, root := range []string{"stat", "report", "probe", "internal/doc", "internal/probe", "internal/agreement", "internal/reports"} {
		root = filepath.Join("..", "..", root)
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil //nolint:nilerr // A folder of the list may not exist.
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			notesIn(file, func(e ast.Expr) {
				// A format of two words gets the rest of its text from a caller, which is seen there.
				if s := textOf(e); len(strings.Fields(verb.ReplaceAllString(s, ""))) > 2 {
					notes[s] = path
				}
			})
			return nil
		})
	}
	return notes
}

// notesIn calls add with each expression that may be a note.
func notesIn(file *ast.File, add func(ast.Expr)) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, value := range n.Values {
				if strings.HasPrefix(strings.ToLower(n.Names[i].Name), "warn") {
					add(value)
				}
			}
		case *ast.FuncDecl:
			if strings.HasPrefix(strings.ToLower(n.Name.Name), "note") {
				notesOf(n, add)
			}
		case *ast.CallExpr:
			if nameOf(n.Fun) == "append" && nameOf(n.Args[0]) == "Notes" {
				add(n.Args[1])
			}
		}
		return true
	})
}

// notesOf adds what a function returns or passes to add and noteOdd.
func notesOf(f *ast.FuncDecl, add func(ast.Expr)) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			for _, result := range n.Results {
				add(result)
			}
		case *ast.CallExpr:
			if name := nameOf(n.Fun); name == "add" || name == "noteOdd" {
				add(n.Args[0])
				add(n.Args[len(n.Args)-1])
			}
		}
		return true
	})
}
