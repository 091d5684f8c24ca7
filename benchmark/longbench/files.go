package longbench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deem"
)

// expand puts the files of a folder in the place of the folder: those that upstream
// reads, in the order of the tasks in eval.py, since the order in which upstream
// finds them is that of the disk.
func expand(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		info, err := os.Stat(name)
		if name == "-" || err != nil || !info.IsDir() {
			files = append(files, name) // whoever opens it says what is wrong with it
			continue
		}
		inside, err := predictions(name)
		if err != nil {
			return nil, err
		}
		files = append(files, inside...)
	}
	return files, nil
}

// predictions returns the files of predictions in a folder.
func predictions(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read folder %s: %w", dir, err)
	}
	var files, folders []string
	for _, e := range entries {
		switch {
		case e.IsDir():
			folders = append(folders, filepath.Join(dir, e.Name()))
		case isPredictions(e.Name()):
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, noPredictions(dir, folders)
	}
	slices.SortStableFunc(files, func(a, b string) int { return rank(taskName(a)) - rank(taskName(b)) })
	return files, nil
}

// isPredictions reports whether upstream reads a file of this name, or would if it
// were unpacked.
func isPredictions(name string) bool {
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	return strings.HasSuffix(name, "jsonl")
}

// noPredictions says that a folder holds no file of predictions, and which folder in
// it may be meant.
func noPredictions(dir string, folders []string) error {
	err := fmt.Errorf("folder %s has no file TASK.jsonl", dir)
	if len(folders) > 0 {
		return deem.WithHint(err, "each system has a folder of its own; did you mean %s?", folders[0])
	}
	return deem.WithHint(err, "give the folder that pred.py wrote, as pred/llama2-7b-chat-4k")
}

// taskName returns the name of a file before its first point, which is the task.
func taskName(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return name
}

// isEven reports whether a file lies in a folder pred_e, as those of LongBench-E do.
func isEven(file string) bool {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(file)), "/"), "pred_e")
}

// checkNames reports files that cannot be of one run: a task that two files have.
func checkNames(files []string) error {
	seen := map[string]string{}
	for _, f := range files {
		if first, ok := seen[taskName(f)]; ok {
			return deem.WithHint(fmt.Errorf("task %s is in %s and in %s", taskName(f), first, f), "judge one system at a time")
		}
		seen[taskName(f)] = f
	}
	if len(files) == 0 {
		return deem.WithHint(errors.New("no file to read items from"), "--data pred/MODEL, the folder that pred.py wrote")
	}
	return nil
}
