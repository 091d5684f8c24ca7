package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// readArchive returns the files of an archive by name. It refuses what stands outside of
// the folder that the archive is named after.
func (r *release) readArchive(dir string, p platform) (map[string]file, error) {
	body, err := os.ReadFile(filepath.Join(dir, r.archiveName(p)))
	if err != nil {
		return nil, err
	}
	read := readTarball
	if p.os == "windows" {
		read = readZip
	}
	files, err := read(body)
	if err != nil {
		return nil, err
	}
	byName := map[string]file{}
	for _, f := range files {
		name, ok := strings.CutPrefix(f.name, r.base(p)+"/")
		if !ok {
			return nil, fmt.Errorf("%s is not in %s", f.name, r.base(p))
		}
		byName[name] = f
	}
	return byName, nil
}

func readTarball(body []byte) ([]file, error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	var files []file
	for t := tar.NewReader(unpacked); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(t)
		if err != nil {
			return nil, err
		}
		files = append(files, file{h.Name, body, h.Mode})
	}
}

func readZip(body []byte) ([]file, error) {
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, err
	}
	var files []file
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
		files = append(files, file{f.Name, body, int64(f.Mode().Perm())})
	}
	return files, nil
}

// checkArchive holds that an archive has the binary that was built, and everything that
// a user or a lawyer looks for beside it.
func (r *release) checkArchive(dir string, p platform) error {
	files, err := r.readArchive(dir, p)
	if err != nil {
		return err
	}
	binary, err := os.ReadFile(built(dir, p))
	if err != nil {
		return err
	}
	if f := files[p.binary()]; !bytes.Equal(f.body, binary) || f.mode != 0o755 {
		return fmt.Errorf("%s is another program, or not one that can be started", p.binary())
	}
	want := []string{"LICENSE", "NOTICE", "README.md", "man/deem.1", "man/deem-run.1", "licenses/std/LICENSE"}
	for _, shell := range shells {
		want = append(want, "completions/deem."+shell)
	}
	for _, name := range noticed(string(files["NOTICE"].body)) {
		want = append(want, "licenses/deem/"+name)
	}
	for _, name := range want {
		if len(files[name].body) == 0 {
			return fmt.Errorf("%s is missing", name)
		}
	}
	parts, err := partsOf(built(dir, p))
	if err != nil {
		return err
	}
	return checkLicences(files, parts)
}

// noticed returns the licence files that NOTICE names, by their paths in the sources.
func noticed(notice string) []string {
	return regexp.MustCompile(`\S+/LICENSE`).FindAllString(notice, -1)
}

// checkLicences holds that every part is in the list of licences, and that its text is
// there.
func checkLicences(files map[string]file, parts []part) error {
	list := string(files["licenses/LIST"].body)
	for _, p := range parts {
		if !strings.Contains(list, "  "+p.Path+" "+p.Version+"\n") {
			return fmt.Errorf("licenses/LIST lacks %s %s", p.Path, p.Version)
		}
		prefix := "licenses/" + p.Path + "/"
		if !slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(name string) bool { return strings.HasPrefix(name, prefix) }) {
			return fmt.Errorf("the licence of %s is missing", p.Path)
		}
	}
	return nil
}

// checkParts reads the list of parts back and holds that it has every module of every
// binary, with a licence.
func (r *release) checkParts(dir string) error {
	body, err := os.ReadFile(filepath.Join(dir, "deem.cdx.json"))
	if err != nil {
		return err
	}
	var doc struct {
		Components []struct {
			Name, Version string
			Licenses      []struct{ License struct{ ID string } }
		}
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return err
	}
	has := map[string]bool{}
	for _, c := range doc.Components {
		if len(c.Licenses) != 1 || c.Licenses[0].License.ID == "" {
			return fmt.Errorf("%s has no licence", c.Name)
		}
		has[c.Name+"@"+c.Version] = true
	}
	for _, p := range r.platforms {
		parts, err := partsOf(built(dir, p))
		if err != nil {
			return err
		}
		for _, m := range parts {
			if !has[m.Path+"@"+m.Version] {
				return fmt.Errorf("%s %s of %s is missing", m.Path, m.Version, p)
			}
		}
	}
	return nil
}

var formulaArchives = regexp.MustCompile(`url ".*/(.*)"\n\s*sha256 "(.*)"`)

// checkFormula holds that the formula names every archive for macOS and Linux with the
// checksum that is published, and that Ruby can read it. Where there is no Ruby, what is
// opened must at least be closed.
func (r *release) checkFormula(ctx context.Context, dir string) error {
	name := filepath.Join(dir, "deem.rb")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	published, err := readSums(dir)
	if err != nil {
		return err
	}
	want := slices.DeleteFunc(published, func(s sum) bool { return strings.HasSuffix(s.name, ".zip") })
	var got sums
	for _, m := range formulaArchives.FindAllStringSubmatch(string(text), -1) {
		got = append(got, sum{m[1], m[2]})
	}
	byName := func(a, b sum) int { return cmp.Compare(a.name, b.name) }
	slices.SortFunc(got, byName)
	slices.SortFunc(want, byName)
	if !slices.Equal(got, want) {
		return fmt.Errorf("it has %v, want %v", got, want)
	}
	if ruby, err := exec.LookPath("ruby"); err == nil {
		_, err := output(ctx, ruby, "-c", name)
		return err
	}
	return balanced(string(text))
}

// balanced holds that every block of a Ruby file has an end.
func balanced(text string) error {
	depth := 0
	for line := range strings.Lines(text) {
		switch words := strings.Fields(line); {
		case len(words) == 0:
		case words[0] == "end":
			depth--
		case words[0] == "class" || words[0] == "def" || words[len(words)-1] == "do":
			depth++
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		return fmt.Errorf("%d blocks more are opened than closed", depth)
	}
	return nil
}
