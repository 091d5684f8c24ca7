// Command fit fits the model of the judge match to a file of labelled items and
// writes it: make match-model DATA=FILE.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"deem/internal/matchtrain"
	"deem/judge/rule/matchmodel"
)

func main() {
	out := flag.String("out", "judge/rule/matchmodel/model.json", "where the model is written")
	agreement := flag.Float64("agreement", .95, "how often match has to be right where it decides")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: fit [-out FILE] [-agreement A] LABELLED.jsonl[.gz]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *out, *agreement); err != nil {
		fmt.Fprintln(os.Stderr, "fit: error:", err)
		os.Exit(1)
	}
}

func run(data, out string, agreement float64) error {
	rows, err := matchtrain.ReadFile(data)
	if err != nil {
		return err
	}
	sheet, err := matchtrain.NewSheet(rows)
	if err != nil {
		return err
	}
	m, err := sheet.Fit(matchtrain.Settings{}, agreement)
	if err != nil {
		return err
	}
	m.About = fmt.Sprintf("fitted to the labels of %d items in %s", len(rows), filepath.Base(filepath.Dir(data)))
	raw, err := encode(m)
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, raw, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %s; %d trees, %d bytes; accepts from %g, rejects up to %g\n", out, m.About, len(m.Trees), len(raw), m.Accept, m.Reject)
	return nil
}

// encode returns the file of a model: JSON with a line for each tree, so that two
// models can be compared.
func encode(m *matchmodel.Model) ([]byte, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return append(lines(raw), '\n'), nil
}

// lines breaks the line before each tree.
func lines(raw []byte) []byte {
	var out []byte
	for i, b := range raw {
		if b == '{' && i > 0 && (raw[i-1] == ',' || raw[i-1] == '[') {
			out = append(out, '\n')
		}
		out = append(out, b)
	}
	return out
}
