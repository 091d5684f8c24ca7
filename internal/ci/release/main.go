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
// builds every binary again in another folder to see that it is the same, and looks at
// what a user would complain of: a binary that is not static, too large or slow to start,
// a file that an archive lacks, a checksum or a licence that is missing. With -cold the
// second build starts from nothing, where otherwise it may take compiled packages from
// the first; that takes minutes for each platform.
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
	"slices"
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
	var o options
	flag.StringVar(&o.version, "version", "", "the `version` to stamp (default: what git describe says)")
	flag.StringVar(&o.out, "out", "dist", "the `folder` to write to")
	flag.StringVar(&o.downloads, "downloads", "https://DOWNLOADS", "the `address` under which the archives will be, for the formula")
	flag.StringVar(&o.homepage, "homepage", "https://HOMEPAGE", "the `address` of the project, for the formula")
	flag.BoolVar(&o.check, "check", false, "build into a scratch folder and look at what was built")
	flag.StringVar(&o.only, "only", "", "build only for this `platform`, as linux-amd64")
	flag.BoolVar(&o.cold, "cold", false, "with -check: build the second time without the build cache")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release: error:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	version, out, only  string
	downloads, homepage string
	check, cold         bool
}

func run(ctx context.Context, o options) error {
	r, err := newRelease(ctx, o.version)
	if err != nil {
		return err
	}
	r.cold, r.downloads, r.homepage = o.cold, o.downloads, o.homepage
	if o.only != "" {
		if r.platforms = pick(o.only); len(r.platforms) == 0 {
			return fmt.Errorf("no platform %q", o.only)
		}
	}
	if !o.check {
		return r.build(ctx, o.out)
	}
	scratch, err := os.MkdirTemp("", "deem-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	out := filepath.Join(scratch, "dist")
	if err := r.build(ctx, out); err != nil {
		return err
	}
	return r.check(ctx, out)
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
	commit    string    // "" outside of a repository
	at        time.Time // of the commit: the only time in any file
	platforms []platform
	cold      bool // the second build of a check starts from nothing

	downloads, homepage string // addresses, for the formula
}

// name is the version as files are named after it.
func (r *release) name() string { return strings.TrimPrefix(r.version, "v") }

// date is the time of the commit as deem says it.
func (r *release) date() string { return r.at.Format(time.RFC3339) }

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
	r.commit, _ = output(ctx, "git", "rev-parse", "HEAD") // without git nobody knows
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
	for _, p := range r.platforms {
		began := time.Now()
		if err := r.compile(ctx, ".", p, built(dir, p)); err != nil {
			return err
		}
		say("%-14s %s, %s", p, size(built(dir, p)), time.Since(began).Round(time.Second))
	}
	parts, err := r.parts(ctx, dir)
	if err != nil {
		return err
	}
	extras, err := r.extras(ctx, parts)
	if err != nil {
		return err
	}
	var archives []string
	for _, p := range r.platforms {
		archive, err := r.archive(dir, p, built(dir, p), extras)
		if err != nil {
			return err
		}
		archives = append(archives, archive)
	}
	return r.describe(dir, archives, parts)
}

// built returns where the binary of a platform is.
func built(dir string, p platform) string {
	return filepath.Join(dir, "build", p.String(), p.binary())
}

// describe writes what lies beside the archives: checksums, list of parts and formula.
func (r *release) describe(dir string, archives []string, parts []part) error {
	sums, err := checksums(archives)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o644); err != nil {
		return err
	}
	return errors.Join(r.writeSBOM(dir, parts), r.writeFormula(dir, sums))
}

// compile builds the binary of one platform out of the sources in folder from. More
// settings of the environment may follow.
func (r *release) compile(ctx context.Context, from string, p platform, to string, more ...string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	env := []string{"CGO_ENABLED=0", "GOOS=" + p.os, "GOARCH=" + p.arch, "GOFLAGS=-buildvcs=false", "GOWORK=off", "GOEXPERIMENT="}
	switch p.arch {
	case "amd64":
		env = append(env, "GOAMD64=v1")
	case "arm64":
		env = append(env, "GOARM64=v8.0")
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", r.stamp(), "-o", to, "./cmd/deem") //nolint:gosec // The version is ours.
	cmd.Dir, cmd.Env, cmd.Stderr = from, slices.Concat(os.Environ(), env, more), os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build for %s: %w", p, err)
	}
	return nil
}

// stamp returns what the linker is told: to leave out what only debuggers read, and what
// deem version says.
func (r *release) stamp() string {
	const cli = " -X deem/internal/cli."
	return "-s -w -buildid=" + cli + "Version=" + r.version + cli + "Commit=" + r.commit + cli + "Date=" + r.date()
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
