package longbench

import (
	"path/filepath"
	"slices"
	"strings"

	"deem/internal/benchmark"
)

// folder is the file layout of pred.py.
var folder = benchmark.Folder{
	Is: isPredictions, Rank: table.Rank,
	Example: "that pred.py wrote, as pred/llama2-7b-chat-4k",
	Usage:   "--data pred/MODEL, the folder that pred.py wrote",
}

// isPredictions reports whether upstream reads a file with this name, or would if it were
// uncompressed.
func isPredictions(name string) bool {
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	return strings.HasSuffix(name, "jsonl")
}

// isEven reports whether a file is in a folder pred_e, like those of LongBench-E.
func isEven(file string) bool {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(file)), "/"), "pred_e")
}
