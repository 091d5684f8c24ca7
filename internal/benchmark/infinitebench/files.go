package infinitebench

import (
	"path/filepath"
	"strings"

	"deem/internal/benchmark"
)

// filePrefix begins the name of a prediction file.
const filePrefix = "preds_"

// folder is upstream's file layout.
var folder = benchmark.Folder{
	Prefix: filePrefix, Is: isPredictions, Rank: table.Rank,
	Example: "with the predictions of one system, as results/gpt4",
	Usage:   "--data results/MODEL, the folder with its predictions",
}

// isPredictions reports whether a file with this name is a prediction file, compressed or
// not.
func isPredictions(name string) bool {
	return strings.HasPrefix(name, filePrefix) && strings.Contains(name, ".jsonl")
}

// systemName returns the name of a file's folder, which upstream uses as the name of the
// system.
func systemName(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return filepath.Base(filepath.Dir(file))
}
