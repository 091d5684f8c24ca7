//go:build ignore

// Exported prints how many names the packages in the given folders export: constants,
// variables, types, functions, and methods of exported types.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"os"
	"strings"
)

func main() {
	names := 0
	for _, dir := range os.Args[1:] {
		pkgs, err := parser.ParseDir(token.NewFileSet(), dir, func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
		if err != nil {
			log.Fatal(err)
		}
		for _, pkg := range pkgs {
			ast.PackageExports(pkg)
			ast.Inspect(pkg, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if n.Recv == nil || ast.IsExported(receiver(n.Recv.List[0].Type)) {
						names++
					}
				case *ast.TypeSpec:
					names++
				case *ast.ValueSpec:
					names += len(n.Names)
				case *ast.Package, *ast.File, *ast.GenDecl:
					return true
				}
				return false
			})
		}
	}
	fmt.Println(names)
}

// receiver returns the name of a method's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}
