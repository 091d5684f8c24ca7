package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"deem/internal/faultserver"
)

// A lab is where workloads are measured: a folder for what they need and leave behind.
type lab struct {
	options
	dir string
	n   int // of the folders so far

	kept    map[int]kept // by the number of records
	stopped *stopped
	theft   theft
}

// open makes the folder. The lab is to be closed.
func (l *lab) open() (err error) {
	l.kept = map[int]kept{}
	l.dir, err = os.MkdirTemp("", "deem-bench-")
	return err
}

// close removes the folder and ends what still runs.
func (l *lab) close() {
	if l.stopped != nil {
		l.stopped.vendor.close()
	}
	_ = os.RemoveAll(l.dir)
}

// chosen returns the workloads that were asked for.
func (l *lab) chosen() ([]workload, error) {
	list := slices.DeleteFunc(workloads(), func(w workload) bool {
		return !l.only.MatchString(w.name) || w.full && !l.full
	})
	if len(list) == 0 {
		return nil, fmt.Errorf("no workload has a name that matches %q", l.only)
	}
	return list, nil
}

// rounds measures each workload once, then each once more, and so on; it writes the rows to
// out as they are complete, and before that to progress what was done. A machine changes its
// pace from one minute to the next: runs that follow upon one another would share it, and
// differ by less than a second measurement will.
func (l *lab) rounds(ctx context.Context, list []workload, out, progress io.Writer) ([]row, error) {
	rows := make([][]row, len(list))
	for round := 1; round <= l.runs; round++ {
		if round == l.runs {
			fmt.Fprintln(out, line(headings))
		}
		for i, w := range list {
			began := time.Now()
			values, err := l.theft.undisturbed(w, func() ([]value, float64, error) { return l.watched(ctx, w) })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
			rows[i] = addValues(rows[i], w.name, values)
			if round < l.runs {
				fmt.Fprintf(progress, "round %d of %d: %s, %s\n", round, l.runs, w.name, seconds(time.Since(began)))
				continue
			}
			for _, r := range rows[i] {
				fmt.Fprintln(out, r)
			}
		}
	}
	return slices.Concat(rows...), nil
}

// folder makes a new folder.
func (l *lab) folder() (string, error) {
	l.n++
	dir := filepath.Join(l.dir, "run-"+strconv.Itoa(l.n))
	return dir, os.Mkdir(dir, 0o750)
}

// items writes n items whose responses have about the given number of bytes, once, and
// returns the file.
func (l *lab) items(n, size int) (string, error) {
	const words = "all work and no play "
	filler := strings.Repeat(words, size/len(words)+1)
	return l.file(fmt.Sprintf("items-%d-%d.jsonl", n, size), n, func(i int) string {
		return fmt.Sprintf(`{"id":"item-%d","category":"c%d","question":"Which number?","reference":"%d","response":"%s %d"}`,
			i, i%7, i, filler[:size], i)
	})
}

// file writes n lines, once, and returns the file.
func (l *lab) file(name string, n int, line func(i int) string) (string, error) {
	name = filepath.Join(l.dir, name)
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	f, err := os.Create(name) //nolint:gosec // the name is ours
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	w := bufio.NewWriter(f)
	for i := range n {
		fmt.Fprintln(w, line(i))
	}
	return name, w.Flush()
}

// bareLoop runs the bare loop over the n items.
func (l *lab) bareLoop(ctx context.Context, v *vendor, data string, n, at int) (spent, error) {
	s, err := start(ctx, l.dir, self(), "bare", "-data", data, "-prompt", l.prompt(), "-url", v.url, "-j", strconv.Itoa(at))
	if err != nil {
		return s, err
	}
	return s, counted(s.out, n)
}

// counted holds that the bare loop did all of its work.
func counted(out string, n int) error {
	var labels map[string]int
	if err := json.Unmarshal([]byte(out), &labels); err != nil {
		return fmt.Errorf("the bare loop prints no labels: %w", err)
	}
	sum := 0
	for _, k := range labels {
		sum += k
	}
	if sum != n {
		return fmt.Errorf("the bare loop has %d labels, want %d", sum, n)
	}
	return nil
}

// judge lets deem judge n items in a folder of its own, with a new store.
func (l *lab) judge(ctx context.Context, data string, n, at int, args ...string) (spent, error) {
	dir, err := l.folder()
	if err != nil {
		return spent{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return l.judgeIn(ctx, dir, data, n, at, args...)
}

// judgeIn lets deem judge n items with the store in a folder.
func (l *lab) judgeIn(ctx context.Context, dir, data string, n, at int, args ...string) (spent, error) {
	s, err := start(ctx, dir, l.deem, running(data, at, args...)...)
	if err != nil {
		return s, err
	}
	if err := complete(s.out, n); err != nil {
		return s, err
	}
	s.stored, err = size(filepath.Join(dir, ".deem"))
	if err != nil {
		return s, err
	}
	s.read, err = size(data)
	return s, err
}

// running returns the arguments of a run.
func running(data string, at int, args ...string) []string {
	return append([]string{"run", "--data", data, "--judge", "universal", "-j", strconv.Itoa(at), "--json"}, args...)
}

// asking returns the arguments for a model at a server.
func asking(v *vendor) []string { return []string{"--model", "openai:test", "--base-url", v.url} }

// size returns how many bytes there are in a file or under a folder.
func size(name string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(name, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}

// A judged is what is looked at of a report.
type judged struct {
	Items    int `json:"items"`
	Unjudged int `json:"unjudged"`
	Head     struct {
		Run string `json:"run"`
	} `json:"head"`
}

// complete holds that a measurement measured what it should: a run that gave up early
// would be fast.
func complete(report string, n int) error {
	var r judged
	if err := json.Unmarshal([]byte(report), &r); err != nil {
		return fmt.Errorf("the report is no JSON: %w", err)
	}
	if r.Items != n || r.Unjudged != 0 {
		return fmt.Errorf("the report has %d items, %d unjudged, want %d and 0", r.Items, r.Unjudged, n)
	}
	return nil
}

// with starts a server for the time of a measurement. It keeps its latency as exactly as
// the system can: what it is late would be taken for deem's.
func with(ctx context.Context, o faultserver.Options, do func(v *vendor) error) error {
	o.Exact = true
	v, err := startVendor(ctx, vendorOptions{Options: o})
	if err != nil {
		return err
	}
	defer v.close()
	return do(v)
}

// median returns the one in the middle, by time of the processor.
func median(list []spent) spent {
	return slices.SortedFunc(slices.Values(list), func(a, b spent) int { return int(a.cpu - b.cpu) })[len(list)/2]
}
