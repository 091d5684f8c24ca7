// Command match measures the judge match against labelled items: how often it
// agrees with people on questions that its model was not fitted to, how much it
// decides at a given agreement, how far its probabilities can be believed, and what
// it does with the answers of memory systems.
//
// The labelled items are not part of the repository. Without them it says so and
// measures nothing.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	data := flag.String("data", "", "the `folder` with the labelled items")
	out := flag.String("out", "", "a file to write the page to, besides standard output")
	flag.Parse()
	if err := run(os.Stdout, *data, *out); err != nil {
		fmt.Fprintln(os.Stderr, "match: error:", err)
		os.Exit(1)
	}
}

func run(stdout io.Writer, data, out string) error {
	people, err := HeldOut(filepath.Join(data, "human_evouna/derived.jsonl.gz"))
	if err != nil {
		return err
	}
	others, err := Others(data)
	if err != nil {
		return err
	}
	page := Page(people, others)
	if _, err := io.WriteString(stdout, page); err != nil {
		return err
	}
	if out == "" {
		return nil
	}
	return os.WriteFile(out, []byte(page), 0o644)
}
