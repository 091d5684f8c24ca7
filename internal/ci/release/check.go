package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What a release promises.
const (
	maxSize  = 60_000_000
	maxStart = 50 * time.Millisecond
)

// A checklist says of each thing whether it holds, and remembers what does not.
type checklist struct{ failed []error }

func (c *checklist) hold(what string, err error) {
	if err != nil {
		say("FAILED  %s: %v", what, err)
		c.failed = append(c.failed, fmt.Errorf("%s: %w", what, err))
		return
	}
	say("ok      %s", what)
}

// check looks at what was built.
func (r *release) check(ctx context.Context, dir string) error {
	var list checklist
	for _, p := range r.platforms {
		r.checkPlatform(ctx, &list, dir, p)
	}
	if slices.Contains(r.platforms, host()) {
		binary := built(dir, host())
		list.hold("deem version says what it was built of", r.says(ctx, binary))
		list.hold(fmt.Sprintf("deem version starts in under %v", maxStart), quick(ctx, binary))
		list.hold("deem demo judges the bundled example", demo(ctx, binary))
	}
	list.hold("the checksums are those of the archives", sound(dir))
	list.hold("the list of parts is whole", r.checkParts(dir))
	list.hold("the formula names the archives with their checksums", r.checkFormula(ctx, dir))
	return errors.Join(list.failed...)
}

// checkPlatform looks at the binary and the archive of one platform.
func (r *release) checkPlatform(ctx context.Context, list *checklist, dir string, p platform) {
	binary := built(dir, p)
	list.hold(fmt.Sprintf("%s is under %d MB", p, maxSize/1_000_000), small(binary))
	list.hold(p.String()+" is for that platform, and stamped", r.fits(binary, p))
	list.hold(p.String()+" is the same when built in another folder", r.again(ctx, binary, p))
	list.hold(r.archiveName(p)+" has all that it should", r.checkArchive(dir, p))
	if p.os == "linux" {
		list.hold(p.String()+" is static", static(binary))
		list.hold(p.String()+" goes into a container", r.container(ctx, dir, p))
	}
}

// again builds a binary out of a copy of the sources and compares.
func (r *release) again(ctx context.Context, binary string, p platform) error {
	scratch, err := os.MkdirTemp("", "deem-again-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	sources := filepath.Join(scratch, "another", "place")
	if err := copySources(ctx, sources); err != nil {
		return err
	}
	var env []string
	if r.cold {
		env = []string{"GOCACHE=" + filepath.Join(scratch, "cache")}
	}
	second := filepath.Join(scratch, p.binary())
	if err := r.compile(ctx, sources, p, second, env...); err != nil {
		return err
	}
	return sameBytes(binary, second)
}

func sameBytes(a, b string) error {
	first, err := hashOf(a)
	if err != nil {
		return err
	}
	second, err := hashOf(b)
	if err == nil && first != second {
		err = fmt.Errorf("%s and %s", first, second)
	}
	return err
}

// copySources copies what git tracks, as it is in the work tree.
func copySources(ctx context.Context, to string) error {
	list, err := output(ctx, "git", "ls-files", "-z")
	if err != nil {
		return err
	}
	for _, name := range strings.Split(strings.Trim(list, "\x00"), "\x00") {
		err := copyFile(name, filepath.Join(to, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) { // deleted, and not yet committed
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	body, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		return err
	}
	return os.WriteFile(to, body, 0o644) //nolint:gosec // Names of files of ours.
}

// sound compares the archives with their checksums.
func sound(dir string) error {
	all, err := readSums(dir)
	if err != nil {
		return err
	}
	for _, s := range all {
		got, err := hashOf(filepath.Join(dir, s.name))
		if err != nil {
			return err
		}
		if got != s.hash {
			return fmt.Errorf("%s has another", s.name)
		}
	}
	return nil
}

// readSums reads the checksums back.
func readSums(dir string) (sums, error) {
	text, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		return nil, err
	}
	var all sums
	for line := range strings.Lines(string(text)) {
		hash, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			return nil, fmt.Errorf("no checksum in %q", line)
		}
		all = append(all, sum{name, hash})
	}
	if len(all) == 0 {
		return nil, errors.New("there are none")
	}
	return all, nil
}
