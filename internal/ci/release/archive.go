package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A file goes into an archive.
type file struct {
	name string
	body []byte
	mode int64
}

// extras returns what every archive holds beside the binary: licence, notice, readme,
// licences of others, manual pages and completions.
func (r *release) extras(ctx context.Context, parts []part) ([]file, error) {
	var files []file
	for _, name := range []string{"LICENSE", "NOTICE", "README.md"} {
		body, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, body, 0o644})
	}
	more, err := r.printed(ctx)
	if err != nil {
		return nil, err
	}
	licences, err := licenceFiles(parts)
	if err != nil {
		return nil, err
	}
	inside, err := licencesOfData(os.DirFS("."))
	if err != nil {
		return nil, err
	}
	files = slices.Concat(files, more, licences, inside)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// shells are those that deem completes commands for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

// printed returns what deem prints of itself: manual pages and completions. They are the
// same on every platform, so the binary of this machine is asked.
func (r *release) printed(ctx context.Context) ([]file, error) {
	scratch, err := os.MkdirTemp("", "deem-extras-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	binary := filepath.Join(scratch, host().binary())
	if err := r.compile(ctx, ".", host(), binary); err != nil {
		return nil, err
	}
	files, err := manPages(ctx, binary, filepath.Join(scratch, "man"))
	if err != nil {
		return nil, err
	}
	for _, shell := range shells {
		text, err := exec.CommandContext(ctx, binary, "completion", shell).Output() //nolint:gosec // We built the binary.
		if err != nil {
			return nil, fmt.Errorf("deem completion %s: %w", shell, err)
		}
		files = append(files, file{"completions/deem." + shell, text, 0o644})
	}
	return files, nil
}

// manPages returns the manual pages, which deem writes into a folder.
func manPages(ctx context.Context, binary, folder string) ([]file, error) {
	if _, err := output(ctx, binary, "man", folder); err != nil {
		return nil, fmt.Errorf("deem man: %w", err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		body, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{"man/" + e.Name(), body, 0o644})
	}
	return files, nil
}

// base returns the name of an archive without its extension, which is also the folder
// inside.
func (r *release) base(p platform) string { return "deem-" + r.name() + "-" + p.String() }

// archiveName returns the name of an archive: zip for Windows, tar.gz for the others.
func (r *release) archiveName(p platform) string {
	if p.os == "windows" {
		return r.base(p) + ".zip"
	}
	return r.base(p) + ".tar.gz"
}

// archive packs a binary with the extras and returns the path of the archive.
func (r *release) archive(dir string, p platform, binary string, extras []file) (string, error) {
	body, err := os.ReadFile(binary)
	if err != nil {
		return "", err
	}
	files := append([]file{{p.binary(), body, 0o755}}, extras...)
	pack := r.tarball
	if p.os == "windows" {
		pack = r.zip
	}
	name := filepath.Join(dir, r.archiveName(p))
	f, err := os.Create(name)
	if err != nil {
		return "", err
	}
	return name, errors.Join(pack(f, r.base(p), files), f.Close())
}

func (r *release) tarball(w io.Writer, base string, files []file) error {
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(packed)
	for _, f := range files {
		h := &tar.Header{Name: path.Join(base, f.name), Mode: f.mode, Size: int64(len(f.body)), ModTime: r.at, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.body); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), packed.Close())
}

func (r *release) zip(w io.Writer, base string, files []file) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: path.Join(base, f.name), Method: zip.Deflate, Modified: r.at.Truncate(2 * time.Second)}
		h.SetMode(os.FileMode(f.mode)) //nolint:gosec // 0o644 or 0o755
		part, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := part.Write(f.body); err != nil {
			return err
		}
	}
	return z.Close()
}

// A sum is the SHA-256 of a file.
type sum struct{ name, hash string }

type sums []sum

// String returns the sums in the form that sha256sum -c reads.
func (s sums) String() string {
	var text strings.Builder
	for _, x := range s {
		fmt.Fprintf(&text, "%s  %s\n", x.hash, x.name)
	}
	return text.String()
}

// of returns the sum of the archive whose name ends so.
func (s sums) of(suffix string) sum {
	for _, x := range s {
		if strings.HasSuffix(x.name, suffix) {
			return x
		}
	}
	return sum{}
}

func checksums(names []string) (sums, error) {
	var list sums
	for _, name := range names {
		hash, err := hashOf(name)
		if err != nil {
			return nil, err
		}
		list = append(list, sum{filepath.Base(name), hash})
	}
	return list, nil
}

func hashOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
