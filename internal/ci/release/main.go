// Command release builds what a release consists of: an archive for each platform, with
// the binary, its manual pages, completions and the licences of everything in it; their
// checksums; a list of parts (SBOM); and a Homebrew formula.
//
//	go run ./internal/ci/release -version v0.1.0 -out dist
//	go run ./internal/ci/release -check
//
// The same commit gives the same bytes, on whichever machine and in whichever folder:
// binaries are built without paths and build ids of the machine, and archives have no
// times but that of the commit. With -check it builds everything into a scratch folder,
// builds one binary again in another folder to see that it is the same, and looks at
// what a user would complain of: a binary that is not static, too large or slow to start.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A platform is what a binary is built for.
type platform struct{ os, arch string }

// platforms are those that a release has.
var platforms = []platform{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

func (p platform) String() string { return p.os + "-" + p.arch }

func (p platform) binary() string {
	if p.os == "windows" {
		return "deem.exe"
	}
	return "deem"
}

func main() {
	version := flag.String("version", "", "the `version` to stamp (default: what git describe says)")
	out := flag.String("out", "dist", "the `folder` to write to")
	check := flag.Bool("check", false, "build into a scratch folder and look at what was built")
	only := flag.String("only", "", "build only for this `platform`, as linux-amd64")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *version, *out, *only, *check)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release: error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, version, out, only string, check bool) error {
	r, err := newRelease(ctx, version)
	if err != nil {
		return err
	}
	if only != "" {
		if r.platforms = pick(only); len(r.platforms) == 0 {
			return fmt.Errorf("no platform %q", only)
		}
	}
	if check {
		scratch, err := os.MkdirTemp("", "deem-release-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(scratch) }()
		out = filepath.Join(scratch, "dist")
	}
	if err := r.build(ctx, out); err != nil {
		return err
	}
	if check {
		return r.check(ctx, out)
	}
	return nil
}

func pick(name string) []platform {
	for _, p := range platforms {
		if p.String() == name {
			return []platform{p}
		}
	}
	return nil
}

// A release is one version of one commit.
type release struct {
	version   string
	at        time.Time // of the commit: the only time in any file
	platforms []platform
}

// newRelease reads version and time from git. Outside of a repository the version must
// be given, and the time is that of SOURCE_DATE_EPOCH or the beginning of 1980, the
// first that a zip archive knows.
func newRelease(ctx context.Context, version string) (*release, error) {
	r := &release{version: version, at: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC), platforms: platforms}
	if r.version == "" {
		said, err := output(ctx, "git", "describe", "--tags", "--always", "--dirty")
		if err != nil {
			return nil, errors.New("git does not say which version this is; give one with -version")
		}
		r.version = said
	}
	stamp := os.Getenv("SOURCE_DATE_EPOCH")
	if stamp == "" {
		stamp, _ = output(ctx, "git", "log", "-1", "--format=%ct") // without git the default stays
	}
	if seconds, err := strconv.ParseInt(stamp, 10, 64); err == nil {
		r.at = time.Unix(seconds, 0).UTC()
	}
	return r, nil
}

// build writes everything into dir.
func (r *release) build(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	extras, err := r.extras(ctx)
	if err != nil {
		return err
	}
	var archives []string
	for _, p := range r.platforms {
		began := time.Now()
		binary := filepath.Join(dir, "build", p.String(), p.binary())
		if err := r.compile(ctx, ".", p, binary); err != nil {
			return err
		}
		archive, err := r.archive(dir, p, binary, extras)
		if err != nil {
			return err
		}
		archives = append(archives, archive)
		say("%-14s %s, %s", p, size(archive), time.Since(began).Round(time.Second))
	}
	sums, err := checksums(archives)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o644); err != nil {
		return err
	}
	if err := r.writeSBOM(dir); err != nil {
		return err
	}
	return r.writeFormula(dir, sums)
}

// compile builds the binary of one platform out of the sources in folder from.
func (r *release) compile(ctx context.Context, from string, p platform, to string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	env := []string{"CGO_ENABLED=0", "GOOS=" + p.os, "GOARCH=" + p.arch, "GOFLAGS=-buildvcs=false", "GOWORK=off"}
	if p.arch == "amd64" {
		env = append(env, "GOAMD64=v1")
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w -buildid= -X deem/internal/cli.Version="+r.version, "-o", to, "./cmd/deem") //nolint:gosec // The version is ours.
	cmd.Dir, cmd.Env, cmd.Stderr = from, append(os.Environ(), env...), os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build for %s: %w", p, err)
	}
	return nil
}

// output runs a program and returns what it printed.
func output(ctx context.Context, name string, args ...string) (string, error) {
	text, err := exec.CommandContext(ctx, name, args...).Output() //nolint:gosec // We say which program.
	return strings.TrimSpace(string(text)), err
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// size returns how large a file is.
func size(name string) string {
	info, err := os.Stat(name)
	if err != nil {
		return "?"
	}
	return fmt.Sprintf("%.1f MB", float64(info.Size())/1e6)
}

// host is the platform that this program runs on.
func host() platform { return platform{runtime.GOOS, runtime.GOARCH} }
