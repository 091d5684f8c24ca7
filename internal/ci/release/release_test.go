package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func aRelease() *release {
	return &release{version: "v1.2.3", commit: "0123abc", downloads: "https://example.com/get/", homepage: "https://example.com", at: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC), platforms: platforms}
}

var someFiles = []file{{"deem", []byte("\x7fELF"), 0o755}, {"man/deem.1", []byte(".TH DEEM 1\n"), 0o644}}

// TestArchivesAreReproducible holds that the same files give the same bytes, and that
// they come out again as they went in.
func TestArchivesAreReproducible(t *testing.T) {
	r := aRelease()
	for name, pack := range map[string]func(io.Writer, string, []file) error{"tar.gz": r.tarball, "zip": r.zip} {
		var first, second bytes.Buffer
		if err := errors.Join(pack(&first, "deem-1.2.3", someFiles), pack(&second, "deem-1.2.3", someFiles)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: two archives of the same files differ", name)
		}
		got := map[string]string{}
		if name == "zip" {
			unzip(t, first.Bytes(), got)
		} else {
			untar(t, &first, got)
		}
		for _, f := range someFiles {
			if body, ok := got["deem-1.2.3/"+f.name]; !ok || body != string(f.body) {
				t.Errorf("%s: %s is %q, want %q", name, f.name, body, f.body)
			}
		}
	}
}

func untar(t *testing.T, r io.Reader, into map[string]string) {
	t.Helper()
	unpacked, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	for tr := tar.NewReader(unpacked); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if wantExec := strings.HasSuffix(h.Name, "/deem"); (h.Mode&0o111 != 0) != wantExec {
			t.Errorf("%s has mode %o", h.Name, h.Mode)
		}
		body, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		into[h.Name] = string(body)
	}
}

func unzip(t *testing.T, data []byte, into map[string]string) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		into[f.Name] = string(body)
	}
}

func TestLicenceOf(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"                Apache License\n          Version 2.0, January 2004", "Apache-2.0"},
		{"Permission is hereby granted, free\nof charge, to any person", "MIT"},
		{"Redistributions in binary form must reproduce ... be used to endorse or promote products derived from this", "BSD-3-Clause"},
		{"Redistributions in binary form must reproduce the above", "BSD-2-Clause"},
		{"Mozilla Public License Version 2.0", "MPL-2.0"},
		{"This is free and unencumbered software released into the public domain.", "Unlicense"},
		{"All rights reserved.", ""},
	} {
		if got := licenceOf(tt.text); got != tt.want {
			t.Errorf("licenceOf(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestLicencesOfParts holds that every module that goes into deem has a licence that we
// can name, so that it may be shipped.
func TestLicencesOfParts(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/deem")
	cmd.Dir = filepath.Join("..", "..", "..")
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var parts []part
	for line := range strings.Lines(string(text)) {
		path, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		if p := (part{Path: path, Version: version}); path != "" && !slices.ContainsFunc(parts, func(q part) bool { return q.Path == path }) {
			parts = append(parts, p)
		}
	}
	if len(parts) < 20 {
		t.Fatalf("deem is made of %d modules: %s", len(parts), text)
	}
	if err := withLicences(t.Context(), parts); err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if p.Licence == "" {
			t.Errorf("%s %s has a licence that we cannot name: %q", p.Path, p.Version, p.Files)
		}
	}
}

// TestSBOM holds that the document is the same for the same parts, and another one for
// others.
func TestSBOM(t *testing.T) {
	r := aRelease()
	parts := []part{{Path: "example.com/a", Version: "v1.0.0", Sum: "h1:x", Licence: "MIT"}}
	text := func(parts []part) string {
		body, err := json.Marshal(r.sbom(parts))
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	first := text(parts)
	if first != text(parts) {
		t.Error("two documents of the same parts differ")
	}
	for _, want := range []string{`"bomFormat":"CycloneDX"`, `"purl":"pkg:golang/example.com/a@v1.0.0"`, `"id":"MIT"`, `"timestamp":"2026-11-15T12:00:00Z"`, `"serialNumber":"urn:uuid:`} {
		if !strings.Contains(first, want) {
			t.Errorf("the document lacks %s:\n%s", want, first)
		}
	}
	parts[0].Sum = "h1:y"
	if text(parts) == first {
		t.Error("a document of other parts is the same")
	}
}

// TestChecksums holds that sums are in the form of sha256sum, and that a changed archive
// is found.
func TestChecksums(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "deem-1.2.3-linux-amd64.tar.gz")
	if err := os.WriteFile(name, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := checksums([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  deem-1.2.3-linux-amd64.tar.gz\n"
	if list.String() != want {
		t.Errorf("checksums = %q, want %q", list, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sound(dir); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(name, []byte("abd"), 0o600); err != nil {
		t.Fatal(err)
	}
	if sound(dir) == nil {
		t.Error("a changed archive has the old checksum")
	}
	if err := aRelease().writeFormula(dir, list); err != nil {
		t.Fatal(err)
	}
	rb, err := os.ReadFile(filepath.Join(dir, "deem.rb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`version "1.2.3"`, `homepage "https://example.com"`, `url "https://example.com/get/deem-1.2.3-linux-amd64.tar.gz"`, "on_linux do", `sha256 "ba7816bf`, "on_intel do"} {
		if !strings.Contains(string(rb), want) {
			t.Errorf("the formula lacks %s:\n%s", want, rb)
		}
	}
	if strings.Contains(string(rb), "on_macos") {
		t.Errorf("the formula has a platform that the release lacks:\n%s", rb)
	}
}

func TestEscaped(t *testing.T) {
	if got, want := escaped("github.com/VividCortex/ewma"), "github.com/!vivid!cortex/ewma"; got != want {
		t.Errorf("escaped = %s, want %s", got, want)
	}
}

func TestPick(t *testing.T) {
	if got := pick("linux-arm64"); len(got) != 1 || got[0] != (platform{"linux", "arm64"}) {
		t.Errorf("pick = %v", got)
	}
	if got := pick("plan9-mips"); got != nil {
		t.Errorf("pick of an unknown platform = %v", got)
	}
}
