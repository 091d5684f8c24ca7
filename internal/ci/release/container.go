package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// containerFile says how a container is made of an archive.
const containerFile = "deploy/Dockerfile.release"

// container does what the container file says up to its last stage, in a folder of this
// machine in place of a container: it copies the files that are named out of the release,
// runs the commands, and holds that what the last stage takes is there and is what was
// built. Certificates come from the image that it starts from, and are not looked for.
func (r *release) container(ctx context.Context, dir string, p platform) error {
	text, err := os.ReadFile(containerFile)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "deem-container-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	args := map[string]string{"VERSION": r.name(), "TARGETOS": p.os, "TARGETARCH": p.arch}
	for _, step := range instructions(string(text)) {
		if err := perform(ctx, step, args, dir, work); err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
	}
	return sameBytes(built(dir, p), filepath.Join(work, p.binary()))
}

// perform does one instruction of a container file: dir is where it copies from, work
// the folder that it works in.
func perform(ctx context.Context, step string, args map[string]string, dir, work string) error {
	verb, rest, _ := strings.Cut(step, " ")
	words := strings.Fields(os.Expand(rest, func(name string) string { return args[name] }))
	switch {
	case verb == "RUN":
		cmd := exec.CommandContext(ctx, "sh", "-c", rest) //nolint:gosec // The file is ours.
		cmd.Dir, cmd.Env = work, os.Environ()
		for name, value := range args {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, said)
		}
	case verb == "COPY" && strings.HasPrefix(words[0], "--from="):
		return lies(work, words[1:len(words)-1])
	case verb == "COPY":
		for _, name := range words[:len(words)-1] {
			if err := copyFile(filepath.Join(dir, name), filepath.Join(work, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// lies holds that what is taken out of the folder of the first stage is there.
func lies(work string, names []string) error {
	var missing []error
	for _, name := range names {
		if inside, ok := strings.CutPrefix(name, "/unpack/"); ok {
			_, err := os.Stat(filepath.Join(work, inside))
			missing = append(missing, err)
		} else if path.Base(name) != "ca-certificates.crt" {
			missing = append(missing, fmt.Errorf("%s is not out of the archive", name))
		}
	}
	return errors.Join(missing...)
}

// instructions returns the lines of a container file, without comments and with lines
// that go on put together.
func instructions(text string) []string {
	var steps []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			steps = append(steps, line)
		}
	}
	return steps
}
