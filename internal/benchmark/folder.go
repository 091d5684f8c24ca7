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

// A Folder is the layout of a system's files of predictions in benchmarks of tasks:
// each task has a file of its own, which is named after it.
type Folder struct {
	Prefix string // before the task in the name of a file

	// Is reports whether a file of this name in a folder is one of predictions.
	Is func(name string) bool

	// Rank returns the place of a task in the order of the benchmark, since the order
	// of the disk is nobody's.
	Rank func(task string) int

	Example string // how such a folder is named and who wrote it, for advice
	Usage   string // the flag that names it, for advice
}

// Files returns the files that names mean: those in a folder stand in its place, in
// the order of the tasks. Files that cannot be of one run are an error: no file at
// all, and a task that two files have.
func (f Folder) Files(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		info, err := os.Stat(name)
		if name == "-" || err != nil || !info.IsDir() {
			files = append(files, name) // opening it says what is wrong with it
			continue
		}
		inside, err := f.inside(name)
		if err != nil {
			return nil, err
		}
		files = append(files, inside...)
	}
	return files, f.check(files)
}

// inside returns the files of predictions in a folder.
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
		return nil, f.none(dir, folders)
	}
	slices.SortStableFunc(files, func(a, b string) int { return f.Rank(f.Task(a)) - f.Rank(f.Task(b)) })
	return files, nil
}

// none says that a folder holds no file of predictions, and which folder in it may be
// meant.
func (f Folder) none(dir string, folders []string) error {
	err := fmt.Errorf("folder %s has no file %sTASK.jsonl", dir, f.Prefix)
	if len(folders) > 0 {
		return deem.WithHint(err, "each system has a folder of its own; did you mean %s?", folders[0])
	}
	return deem.WithHint(err, "give the folder %s", f.Example)
}

// Task returns the task that the name of a file says: what stands before the first
// point, without the prefix.
func (f Folder) Task(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return strings.TrimPrefix(name, f.Prefix)
}

// check reports files that cannot be of one run.
func (f Folder) check(files []string) error {
	seen := map[string]string{}
	for _, file := range files {
		if first, ok := seen[f.Task(file)]; ok {
			return deem.WithHint(fmt.Errorf("task %s is in %s and in %s", f.Task(file), first, file), "judge one system at a time")
		}
		seen[f.Task(file)] = file
	}
	if len(files) == 0 {
		return deem.WithHint(errors.New("no file to read items from"), "%s", f.Usage)
	}
	return nil
}

// NoResponses refuses files of responses in a benchmark whose files of predictions
// hold them.
func NoResponses(benchmark string, responses []string) error {
	if len(responses) == 0 {
		return nil
	}
	return deem.WithHint(errors.New(benchmark+" takes no separate file of responses"),
		"the files of predictions hold the responses; give them with --data")
}

// A Lack is what files have less, or more, than is published.
type Lack struct {
	Missing []string // tasks that no file has
	Short   []string // tasks with another number of items, as "qasper has 3 of 200"
}

// Whole returns an error when anything is lacking.
func (l Lack) Whole(sources string) error {
	if len(l.Short)+len(l.Missing) == 0 {
		return nil
	}
	return deem.WithHint(
		fmt.Errorf("read %s: the benchmark is not whole: %s", sources, strings.Join(slices.Concat(l.Missing, l.Short), ", ")),
		"without --require-all the rest is judged")
}

// Notes tells what is lacking.
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

// Size compares the number of items of a task with the published one. It adds to what
// is short when they differ.
func (l *Lack) Size(task string, have, want int) {
	if have != want {
		l.Short = append(l.Short, fmt.Sprintf("%s has %d of %d", task, have, want))
	}
}

// EmptyFiles notes the files without a row. Standard input is not one of them: it has
// no name of its own to be known by.
func EmptyFiles(files []string, hasRows func(file string) bool) []string {
	var notes []string
	for _, file := range files {
		if file != "-" && !hasRows(file) {
			notes = append(notes, file+" has no line; upstream would stop at it")
		}
	}
	return notes
}
