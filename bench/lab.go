package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"deem/internal/faultserver"
)

// A lab is where workloads are measured: a folder for what they need and leave behind.
type lab struct {
	options
	dir string
	n   int // of the runs so far
}

// measure makes each measurement of a workload, and returns a row for each.
func (l *lab) measure(ctx context.Context, w workload) ([]row, error) {
	rows := make([]row, len(w.targets))
	for i, t := range w.targets {
		rows[i] = row{workload: w.name, target: t}
	}
	for range l.runs {
		values, err := w.once(ctx, l)
		if err != nil {
			return nil, err
		}
		if len(values) != len(rows) {
			panic(fmt.Sprintf("bench: %s has %d targets and %d values", w.name, len(rows), len(values)))
		}
		for i, v := range values {
			rows[i].values = append(rows[i].values, v.number)
			rows[i].notes = append(rows[i].notes, v.note)
		}
	}
	return rows, nil
}

// items writes n items whose responses have about the given number of bytes, once, and
// returns the file.
func (l *lab) items(n, size int) (string, error) {
	name := filepath.Join(l.dir, fmt.Sprintf("items-%d-%d.jsonl", n, size))
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	f, err := os.Create(name) //nolint:gosec // the name is ours
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	w := bufio.NewWriter(f)
	const words = "all work and no play "
	filler := strings.Repeat(words, size/len(words)+1)
	for i := range n {
		fmt.Fprintf(w, `{"id":"item-%d","category":"c%d","question":"Which number?","reference":"%d","response":"%s %d"}`+"\n",
			i, i%7, i, filler[:size], i)
	}
	return name, w.Flush()
}

// bareLoop runs the bare loop over the items.
func (l *lab) bareLoop(ctx context.Context, v *vendor, data string, at int) (spent, error) {
	self, err := os.Executable()
	if err != nil {
		return spent{}, err
	}
	prompt := filepath.Join(l.repo, "judge", "prompts", "universal.txt")
	return start(ctx, l.dir, self, "bare", "-data", data, "-prompt", prompt, "-url", v.url, "-j", strconv.Itoa(at))
}

// judge lets deem judge n items in a folder of its own, with a new store.
func (l *lab) judge(ctx context.Context, data string, n, at int, args ...string) (spent, error) {
	l.n++
	dir := filepath.Join(l.dir, "run-"+strconv.Itoa(l.n))
	if err := os.Mkdir(dir, 0o750); err != nil {
		return spent{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	all := append([]string{"run", "--data", data, "--judge", "universal", "-j", strconv.Itoa(at), "--json"}, args...)
	s, err := start(ctx, dir, l.deem, all...)
	if err != nil {
		return s, err
	}
	return s, complete(s.out, n)
}

// asking returns the arguments for a model at a server.
func asking(v *vendor) []string { return []string{"--model", "openai:test", "--base-url", v.url} }

// complete holds that a measurement measured what it should: a run that gave up early
// would be fast.
func complete(report string, n int) error {
	var r struct {
		Items    int `json:"items"`
		Unjudged int `json:"unjudged"`
	}
	if err := json.Unmarshal([]byte(report), &r); err != nil {
		return fmt.Errorf("the report is no JSON: %w", err)
	}
	if r.Items != n || r.Unjudged != 0 {
		return fmt.Errorf("the report has %d items, %d unjudged, want %d and 0", r.Items, r.Unjudged, n)
	}
	return nil
}

// with starts a server for the time of a measurement.
func with(ctx context.Context, o faultserver.Options, do func(v *vendor) error) error {
	v, err := startVendor(ctx, o)
	if err != nil {
		return err
	}
	defer v.close()
	return do(v)
}
