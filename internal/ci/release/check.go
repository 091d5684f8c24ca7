package main

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What a release promises.
const (
	maxSize  = 60 << 20
	maxStart = 50 * time.Millisecond
)

// check looks at what was built.
func (r *release) check(ctx context.Context, dir string) error {
	var failed []error
	hold := func(what string, err error) {
		if err != nil {
			say("FAILED  %s: %v", what, err)
			failed = append(failed, fmt.Errorf("%s: %w", what, err))
			return
		}
		say("ok      %s", what)
	}
	for _, p := range r.platforms {
		binary := filepath.Join(dir, "build", p.String(), p.binary())
		hold(fmt.Sprintf("%s is under %d MB", p, maxSize>>20), small(binary))
		if p.os == "linux" {
			hold(p.String()+" is static", static(binary))
		}
	}
	if slices.Contains(r.platforms, host()) {
		binary := filepath.Join(dir, "build", host().String(), host().binary())
		hold(fmt.Sprintf("deem version says %s", r.version), says(ctx, binary, r.version))
		hold(fmt.Sprintf("deem version starts in under %v", maxStart), quick(ctx, binary))
		hold("deem demo judges the bundled example", demo(ctx, binary))
		hold("another folder gives the same binary", r.again(ctx, binary))
	}
	hold("the checksums are those of the archives", sound(dir))
	return errors.Join(failed...)
}

func small(binary string) error {
	info, err := os.Stat(binary)
	if err == nil && info.Size() > maxSize {
		err = fmt.Errorf("%.1f MB", float64(info.Size())/1e6)
	}
	return err
}

// static refuses a binary that needs a loader or a library.
func static(binary string) error {
	f, err := elf.Open(binary)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for _, s := range f.Progs {
		if s.Type == elf.PT_INTERP {
			return errors.New("it asks for a loader")
		}
	}
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return err
	}
	if len(libraries) > 0 {
		return fmt.Errorf("it needs %s", strings.Join(libraries, ", "))
	}
	return nil
}

func says(ctx context.Context, binary, version string) error {
	said, err := output(ctx, binary, "version", "--json")
	if err == nil && !strings.Contains(said, `"version": "`+version+`"`) {
		err = fmt.Errorf("it says %s", said)
	}
	return err
}

// quick takes the best of several starts: the machine may be busy with other things.
func quick(ctx context.Context, binary string) error {
	best := time.Hour
	for range 10 {
		began := time.Now()
		if _, err := output(ctx, binary, "version"); err != nil {
			return err
		}
		best = min(best, time.Since(began))
	}
	if best > maxStart {
		return fmt.Errorf("%v", best)
	}
	return nil
}

func demo(ctx context.Context, binary string) error {
	scratch, err := os.MkdirTemp("", "deem-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	cmd := exec.CommandContext(ctx, binary, "demo")
	cmd.Dir = scratch
	said, err := cmd.Output()
	if err == nil && !strings.Contains(string(said), "n=119") {
		err = fmt.Errorf("it prints %q", said)
	}
	return err
}

// again builds the binary of this machine out of a copy of the sources and compares.
func (r *release) again(ctx context.Context, binary string) error {
	scratch, err := os.MkdirTemp("", "deem-again-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	sources := filepath.Join(scratch, "another", "place")
	if err := copySources(ctx, sources); err != nil {
		return err
	}
	second := filepath.Join(scratch, "deem")
	if err := r.compile(ctx, sources, host(), second); err != nil {
		return err
	}
	first, err := hashOf(binary)
	if err != nil {
		return err
	}
	again, err := hashOf(second)
	if err == nil && first != again {
		err = fmt.Errorf("%s and %s", first, again)
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
		body, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not yet committed
		}
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(target, body, 0o644); err != nil { //nolint:gosec // Names of files that git tracks.
			return err
		}
	}
	return nil
}

// sound compares the archives with their checksums.
func sound(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		return err
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		want, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			return fmt.Errorf("no checksum in %q", line)
		}
		got, err := hashOf(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s has another", name)
		}
		n++
	}
	if n == 0 {
		return errors.New("there are none")
	}
	return nil
}
