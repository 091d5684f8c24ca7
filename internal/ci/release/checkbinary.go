package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

func small(binary string) error {
	info, err := os.Stat(binary)
	if err == nil && info.Size() > maxSize {
		err = fmt.Errorf("%.1f MB", float64(info.Size())/1e6)
	}
	return err
}

// magic is how a program of each system begins.
var magic = map[string]string{"linux": "\x7fELF", "darwin": "\xcf\xfa\xed\xfe", "windows": "MZ"}

// fits holds that a binary is for its platform, was built as it should be, and carries
// version and commit.
func (r *release) fits(binary string, p platform) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	for key, want := range map[string]string{"GOOS": p.os, "GOARCH": p.arch, "CGO_ENABLED": "0", "-trimpath": "true"} {
		if settings[key] != want {
			return fmt.Errorf("%s is %q, want %q", key, settings[key], want)
		}
	}
	body, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(body, []byte(magic[p.os])) {
		return fmt.Errorf("it begins with %q, want %q", body[:4], magic[p.os])
	}
	for _, want := range []string{r.version, r.commit, r.date()} {
		if !bytes.Contains(body, []byte(want)) {
			return fmt.Errorf("%s is not in it", want)
		}
	}
	return nil
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

// says holds deem version --json to what was stamped.
func (r *release) says(ctx context.Context, binary string) error {
	text, err := output(ctx, binary, "version", "--json")
	if err != nil {
		return err
	}
	var said map[string]string
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return err
	}
	for key, want := range map[string]string{
		"version": r.version, "commit": r.commit, "date": r.date(),
		"go": runtime.Version(), "platform": host().os + "/" + host().arch,
	} {
		if got, ok := said[key]; !ok || got != want {
			return fmt.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	return nil
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
