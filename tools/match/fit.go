package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"deem/internal/evidence"
)

// fitFile fits a model to the labelled items of a file and writes it.
func fitFile(data, out string, agreement float64) error {
	rows, err := ReadFile(data)
	if err != nil {
		return err
	}
	sheet, err := NewSheet(rows)
	if err != nil {
		return err
	}
	m := sheet.Fit(Settings{}, agreement)
	m.About = fmt.Sprintf("fitted to the labels of %d items in %s", len(rows), filepath.Base(filepath.Dir(data)))
	// The second form measures these, and says what the file should have.
	m.Error, m.Slopes = evidence.Default().Error, evidence.Default().Slopes
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
func encode(m *evidence.Model) ([]byte, error) {
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
