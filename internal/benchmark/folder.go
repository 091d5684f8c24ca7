package benchmark

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deem"
	"deem/internal/words"
)

// A Folder is the layout of a system's prediction files in benchmarks with tasks: one file
// per task, named after the task.
type Folder struct {
	Prefix string // of file names, before the task

	// Is reports whether a file with this name is a prediction file.
	Is func(name string) bool

	// Rank returns the index of a task in the order of the benchmark, because directory
	// order is arbitrary.
	Rank func(task string) int

	Example string // for hints: an example of such a folder and who wrote it
	Usage   string // for hints: the flag that names it
}

// Files returns the files for the given names: a folder is replaced by its files, in the
// order of the tasks. It is an error if there is no file, or if two files have the same
// task.
func (f Folder) Files(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		info, err := os.Stat(name)
		if name == "-" || err != nil || !info.IsDir() {
			files = append(files, name) // opening it reports the error
			continue
		}
		inside, err := f.inside(name)
		if err != nil {
			return nil, err
		}
		files = append(files, inside...)
	}
	seen := map[string]string{}
	for _, file := range files {
		if first, ok := seen[f.Task(file)]; ok {
			return nil, deem.WithHint(fmt.Errorf("task %s is in %s and in %s", f.Task(file), first, file), "judge one system at a time")
		}
		seen[f.Task(file)] = file
	}
	if len(files) == 0 {
		return nil, deem.WithHint(errors.New("no file to read items from"), "%s", f.Usage)
	}
	return files, nil
}

// inside returns the prediction files in a folder.
func (f Folder) inside(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read folder %s: %w", dir, err)
	}
	var files, folders []string
	for _, e := range entries {
		switch {
		case e.IsDir():
			folders = append(folders, filepath.Join(dir, e.Name()))
		case f.Is(e.Name()):
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		err := fmt.Errorf("folder %s has no file %sTASK.jsonl", dir, f.Prefix)
		if len(folders) > 0 {
			return nil, deem.WithHint(err, "each system has a folder of its own; did you mean %s?", folders[0])
		}
		return nil, deem.WithHint(err, "give the folder %s", f.Example)
	}
	slices.SortStableFunc(files, func(a, b string) int { return f.Rank(f.Task(a)) - f.Rank(f.Task(b)) })
	return files, nil
}

// Task returns the task in a file name: the part before the first dot, without the prefix.
func (f Folder) Task(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return strings.TrimPrefix(name, f.Prefix)
}

// NoResponses rejects response files for a benchmark whose prediction files contain the
// responses.
func NoResponses(benchmark string, responses []string) error {
	if len(responses) == 0 {
		return nil
	}
	return deem.WithHint(errors.New(benchmark+" takes no separate file of responses"),
		"the result files contain the responses: name them with --data, and leave --responses out")
}

// A Lack is the difference between the files and the published data.
type Lack struct {
	Missing []string // tasks without a file
	Short   []string // tasks with a different number of items, for example "qasper has 3 of 200"
}

// Whole returns an error if anything is missing.
func (l Lack) Whole(sources string) error {
	if len(l.Short)+len(l.Missing) == 0 {
		return nil
	}
	return deem.WithHint(
		fmt.Errorf("read %s: the benchmark is not whole: %s", sources, strings.Join(slices.Concat(l.Missing, l.Short), ", ")),
		"leave --require-all out, and the items that are there are judged")
}

// Notes describes what is missing.
func (l Lack) Notes() []string {
	var notes []string
	if len(l.Missing) > 0 {
		notes = append(notes, words.Count(len(l.Missing), "task")+" without an item, in no number: "+strings.Join(l.Missing, ", "))
	}
	if len(l.Short) > 0 {
		notes = append(notes, "fewer or more items than published, so that scores are not comparable: "+strings.Join(l.Short, ", "))
	}
	return notes
}

// Size compares the number of items of a task with the published one, and adds an entry to
// Short if they differ.
func (l *Lack) Size(task string, have, want int) {
	if have != want {
		l.Short = append(l.Short, fmt.Sprintf("%s has %d of %d", task, have, want))
	}
}

// EmptyFiles returns notes about the files without a row. Standard input is excluded,
// because it has no name.
func EmptyFiles(files []string, hasRows func(file string) bool) []string {
	var notes []string
	for _, file := range files {
		if file != "-" && !hasRows(file) {
			notes = append(notes, file+" has no line; upstream would stop at it")
		}
	}
	return notes
}
