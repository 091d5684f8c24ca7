package infinitebench

import (
	"path/filepath"
	"strings"

	"deem/internal/benchmark"
)

// filePrefix begins the name of a file of predictions.
const filePrefix = "preds_"

// folder is how upstream lays its files out.
var folder = benchmark.Folder{
	Prefix: filePrefix, Is: isPredictions, Rank: table.Rank,
	Example: "with the predictions of one system, as results/gpt4",
	Usage:   "--data results/MODEL, the folder with its predictions",
}

// isPredictions reports whether a file of this name is one of predictions, packed or
// not.
func isPredictions(name string) bool {
	return strings.HasPrefix(name, filePrefix) && strings.Contains(name, ".jsonl")
}

// systemName returns the name of the folder that a file lies in, which upstream has
// for the name of the system.
func systemName(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return filepath.Base(filepath.Dir(file))
}
