package infinitebench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deem"
)

// filePrefix begins the name of a file of predictions.
const filePrefix = "preds_"

// expand puts the files of a folder in the place of the folder: those of the tasks,
// in the order of the README's table.
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
		case strings.HasPrefix(e.Name(), filePrefix) && strings.Contains(e.Name(), ".jsonl"):
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, noPredictions(dir, folders)
	}
	slices.SortStableFunc(files, func(a, b string) int { return rank(taskName(a)) - rank(taskName(b)) })
	return files, nil
}

// noPredictions says that a folder holds no file of predictions, and which folder in
// it may be meant.
func noPredictions(dir string, folders []string) error {
	err := fmt.Errorf("folder %s has no file %sTASK.jsonl", dir, filePrefix)
	if len(folders) > 0 {
		return deem.WithHint(err, "each system has a folder of its own; did you mean %s?", folders[0])
	}
	return deem.WithHint(err, "give the folder with the predictions of one system, as results/gpt4")
}

// taskName returns the task that the name of a file says.
func taskName(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return strings.TrimPrefix(name, filePrefix)
}

// systemName returns the name of the folder that a file lies in, which upstream has
// for the name of the system.
func systemName(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return filepath.Base(filepath.Dir(file))
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
		return deem.WithHint(errors.New("no file to read items from"), "--data results/MODEL, the folder with its predictions")
	}
	return nil
}
