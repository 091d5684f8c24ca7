// Command deem judges what a question-answering or memory system answered.
package main

import (
	"os"

	"deem/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
