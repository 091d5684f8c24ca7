package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// TestFormulaIsChecked holds that a formula with another checksum, without an archive or
// without an end is found.
func TestFormulaIsChecked(t *testing.T) {
	r, dir := aRelease(), t.TempDir()
	all := sums{{"deem-1.2.3-linux-amd64.tar.gz", "aa"}, {"deem-1.2.3-darwin-arm64.tar.gz", "bb"}, {"deem-1.2.3-windows-amd64.zip", "cc"}}
	write(t, filepath.Join(dir, "SHA256SUMS"), all.String())
	if err := r.writeFormula(dir, all); err != nil {
		t.Fatal(err)
	}
	if err := r.checkFormula(t.Context(), dir); err != nil {
		t.Errorf("checkFormula of what writeFormula wrote: %v", err)
	}
	good := read(t, filepath.Join(dir, "deem.rb"))
	for name, bad := range map[string]string{
		"another checksum":   strings.Replace(good, `sha256 "aa"`, `sha256 "ab"`, 1),
		"another archive":    strings.Replace(good, "linux-amd64.tar.gz", "linux-386.tar.gz", 1),
		"a block is open":    strings.TrimSuffix(good, "end\n"),
		"an end is too many": good + "end\n",
	} {
		write(t, filepath.Join(dir, "deem.rb"), bad)
		if r.checkFormula(t.Context(), dir) == nil {
			t.Errorf("%s: checkFormula finds nothing:\n%s", name, bad)
		}
	}
}

// TestContainer makes a container out of an archive, and out of one that was changed
// after its checksum was published.
func TestContainer(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	r, dir, p := aRelease(), t.TempDir(), platform{"linux", "arm64"}
	write(t, built(dir, p), "\x7fELF and more")
	extras := []file{{"LICENSE", []byte("x"), 0o644}, {"NOTICE", []byte("x"), 0o644}, {"licenses/LIST", []byte("x"), 0o644}}
	pack := func(extras []file) string {
		name, err := r.archive(dir, p, built(dir, p), extras)
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	publish := func(name string) {
		all, err := checksums([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "SHA256SUMS"), all.String())
	}
	publish(pack(extras))
	if err := r.container(t.Context(), dir, p); err != nil {
		t.Errorf("container of a release: %v", err)
	}
	publish(pack(extras[:2]))
	if err := r.container(t.Context(), dir, p); err == nil || !strings.Contains(err.Error(), "licenses") {
		t.Errorf("container of an archive without licences: %v, want it named", err)
	}
	pack(extras)
	if r.container(t.Context(), dir, p) == nil {
		t.Error("an archive whose checksum is another goes into a container")
	}
	publish(pack(extras))
	write(t, built(dir, p), "\x7fELF and other")
	if r.container(t.Context(), dir, p) == nil {
		t.Error("another program than the one that was built goes into a container")
	}
}

// TestArchiveIsChecked holds that what an archive lacks is found. The program in it is
// the one that runs this test, which says what it was built of.
func TestArchiveIsChecked(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, dir, p := aRelease(), t.TempDir(), platform{"windows", "arm64"}
	write(t, built(dir, p), read(t, self))
	names := []string{"LICENSE", "README.md", "man/deem.1", "man/deem-run.1", "licenses/std/LICENSE", "licenses/deem/text/jieba/LICENSE"}
	for _, shell := range shells {
		names = append(names, "completions/deem."+shell)
	}
	files := []file{{"NOTICE", []byte("its text is in text/jieba/LICENSE\n"), 0o644}}
	for _, name := range names {
		files = append(files, file{name, []byte("x"), 0o644})
	}
	check := func(files []file) error {
		if _, err := r.archive(dir, p, built(dir, p), files); err != nil {
			t.Fatal(err)
		}
		return r.checkArchive(dir, p)
	}
	if err := check(files); err != nil {
		t.Errorf("checkArchive of a whole archive: %v", err)
	}
	for i := 1; i < len(files); i++ {
		fewer := append(append([]file{}, files[:i]...), files[i+1:]...)
		if check(fewer) == nil {
			t.Errorf("checkArchive does not miss %s", files[i].name)
		}
	}
}

// TestLicencesAreChecked holds that a part without a licence, or without a line in the
// list of them, is found.
func TestLicencesAreChecked(t *testing.T) {
	p := part{Path: "example.com/a", Version: "v1.0.0", Licence: "MIT"}
	list := file{name: "licenses/LIST", body: []byte(p.listed() + "\n")}
	text := file{name: "licenses/example.com/a/LICENSE", body: []byte("MIT License")}
	for name, tt := range map[string]struct {
		files []file
		ok    bool
	}{
		"whole":   {[]file{list, text}, true},
		"no list": {[]file{text}, false},
		"no text": {[]file{list}, false},
	} {
		files := map[string]file{}
		for _, f := range tt.files {
			files[f.name] = f
		}
		if err := checkLicences(files, []part{p}); (err == nil) != tt.ok {
			t.Errorf("%s: checkLicences = %v, want fine %t", name, err, tt.ok)
		}
	}
}

// TestLicencesOfData holds that the licence of everything that NOTICE names goes into an
// archive, and none of what lies about.
func TestLicencesOfData(t *testing.T) {
	files, err := licencesOfData(fstest.MapFS{
		"LICENSE": {}, "text/jieba/LICENSE": {Data: []byte("MIT")}, "text/jieba/dict.go": {}, ".tools/x/LICENSE": {}, "dist/a/LICENSE": {},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || files[0].name != "licenses/deem/text/jieba/LICENSE" || string(files[0].body) != "MIT" {
		t.Errorf("licencesOfData = %v", files)
	}
	root := filepath.Join("..", "..", "..")
	files, err = licencesOfData(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, f := range files {
		has[strings.TrimPrefix(f.name, "licenses/deem/")] = true
	}
	named := noticed(read(t, filepath.Join(root, "NOTICE")))
	if len(named) < 2 {
		t.Errorf("NOTICE names %v, want at least two licences", named)
	}
	for _, name := range named {
		if !has[name] {
			t.Errorf("NOTICE names %s, which is not there", name)
		}
	}
}

// TestStamp holds that the linker is told what deem version says.
func TestStamp(t *testing.T) {
	got := aRelease().stamp()
	for _, want := range []string{"cli.Version=v1.2.3", "cli.Commit=0123abc", "cli.Date=2026-11-15T12:00:00Z", "-buildid= "} {
		if !strings.Contains(got, want) {
			t.Errorf("stamp = %q, lacks %s", got, want)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
