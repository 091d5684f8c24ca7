package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A part is a module inside the binary.
type part struct {
	Path, Version, Sum string
	Dir                string // where its sources are
	Licence            string // its SPDX name, "" when we cannot tell
	Files              []string
}

// parts returns the modules of all binaries with their licences. A binary for Windows has
// some that one for Linux has not.
func (r *release) parts(ctx context.Context, dir string) ([]part, error) {
	var all []part
	for _, p := range r.platforms {
		parts, err := partsOf(built(dir, p))
		if err != nil {
			return nil, err
		}
		all = append(all, parts...)
	}
	slices.SortFunc(all, func(a, b part) int { return strings.Compare(a.Path, b.Path) })
	all = slices.CompactFunc(all, func(a, b part) bool { return a.Path == b.Path })
	if err := withLicences(ctx, all); err != nil {
		return nil, err
	}
	std, err := standardLibrary(ctx)
	return append(all, std), err
}

// standardLibrary returns the part that every Go program has and that is no module.
func standardLibrary(ctx context.Context) (part, error) {
	root, err := output(ctx, "go", "env", "GOROOT")
	if err != nil {
		return part{}, err
	}
	version, err := output(ctx, "go", "env", "GOVERSION")
	p := part{Path: "std", Version: strings.TrimPrefix(version, "go"), Dir: root, Files: []string{"LICENSE"}}
	if err == nil {
		err = p.nameLicence()
	}
	return p, err
}

// partsOf returns the modules that a binary was built of, by what the binary says.
func partsOf(binary string) ([]part, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, part{Path: m.Path, Version: m.Version, Sum: m.Sum})
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.Path, b.Path) })
	return parts, nil
}

// withLicences finds the licence files of the parts in the module cache.
func withLicences(ctx context.Context, parts []part) error {
	cache, err := output(ctx, "go", "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	for i := range parts {
		p := &parts[i]
		p.Dir = filepath.Join(cache, escaped(p.Path)+"@"+p.Version)
		entries, err := os.ReadDir(p.Dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !e.IsDir() && isLicence(e.Name()) {
				p.Files = append(p.Files, e.Name())
			}
		}
		if len(p.Files) == 0 {
			return fmt.Errorf("%s %s has no licence file: it cannot be shipped", p.Path, p.Version)
		}
		if err := p.nameLicence(); err != nil {
			return err
		}
	}
	return nil
}

// nameLicence finds out which licence the files of a part are.
func (p *part) nameLicence() error {
	for _, name := range p.Files {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return err
		}
		if p.Licence == "" {
			p.Licence = licenceOf(string(text))
		}
	}
	return nil
}

// escaped returns a module's path as the module cache spells it: capitals are a mark
// and the small letter.
func escaped(path string) string {
	var s strings.Builder
	for _, r := range path {
		if r >= 'A' && r <= 'Z' {
			s.WriteByte('!')
			r += 'a' - 'A'
		}
		s.WriteRune(r)
	}
	return s.String()
}

func isLicence(name string) bool {
	upper := strings.ToUpper(name)
	for _, word := range []string{"LICENSE", "LICENCE", "UNLICENSE", "COPYING", "NOTICE"} {
		if strings.HasPrefix(upper, word) || strings.HasSuffix(upper, "-"+word) {
			return true
		}
	}
	return false
}

// licenceOf names a licence by phrases that only its text has.
func licenceOf(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, l := range []struct{ name, phrase string }{
		{"Apache-2.0", "Apache License Version 2.0"},
		{"MPL-2.0", "Mozilla Public License Version 2.0"},
		{"BSD-3-Clause", "endorse or promote products derived from"},
		{"BSD-2-Clause", "Redistributions in binary form must reproduce"},
		{"MIT", "Permission is hereby granted, free of charge"},
		{"ISC", "Permission to use, copy, modify, and/or distribute"},
		{"Unlicense", "This is free and unencumbered software"},
	} {
		if strings.Contains(text, l.phrase) {
			return l.name
		}
	}
	return ""
}

// licenceFiles returns the licences of all parts, as files of an archive, with a list of
// them.
func licenceFiles(parts []part) ([]file, error) {
	var files []file
	var list strings.Builder
	for _, p := range parts {
		if p.Licence == "" {
			return nil, fmt.Errorf("%s %s: what licence is %s?", p.Path, p.Version, filepath.Join(p.Dir, p.Files[0]))
		}
		list.WriteString(p.listed() + "\n")
		for _, name := range p.Files {
			body, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			files = append(files, file{"licenses/" + p.Path + "/" + name, body, 0o644})
		}
	}
	return append(files, file{"licenses/LIST", []byte(list.String()), 0o644}), nil
}

// listed returns the line of a part in the list of licences.
func (p part) listed() string { return fmt.Sprintf("%-12s  %s %s", p.Licence, p.Path, p.Version) }

// licencesOfData returns the licences of what deem embeds and others made: prompts,
// dictionaries and tables. They lie beside it in the sources, and NOTICE names them
// by that path.
func licencesOfData(sources fs.FS) ([]file, error) {
	var files []file
	err := fs.WalkDir(sources, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."), d.IsDir() && slices.Contains([]string{"bin", "dist"}, name):
			return fs.SkipDir
		case d.IsDir() || d.Name() != "LICENSE" || name == "LICENSE":
			return nil
		}
		body, err := fs.ReadFile(sources, name)
		files = append(files, file{"licenses/deem/" + name, body, 0o644})
		return err
	})
	return files, err
}

// writeSBOM writes the list of parts in the form of CycloneDX 1.5.
func (r *release) writeSBOM(dir string, parts []part) error {
	body, err := json.MarshalIndent(r.sbom(parts), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "deem.cdx.json"), append(body, '\n'), 0o644)
}

// sbom returns the document. Its serial number is made of what it lists, so that the
// same release has the same one.
func (r *release) sbom(parts []part) map[string]any {
	var components []map[string]any
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintln(h, p.Path, p.Version, p.Sum)
		purl := "pkg:golang/" + p.Path + "@" + p.Version
		components = append(components, map[string]any{
			"type": "library", "bom-ref": purl, "name": p.Path, "version": p.Version, "purl": purl,
			"licenses": []any{map[string]any{"license": map[string]any{"id": p.Licence}}},
		})
		if p.Sum != "" { // The standard library has none.
			components[len(components)-1]["properties"] = []any{map[string]any{"name": "go:sum", "value": p.Sum}}
		}
	}
	id := h.Sum(nil)
	id[6], id[8] = id[6]&0x0f|0x50, id[8]&0x3f|0x80 // A UUID that was made of a hash.
	main := "pkg:golang/deem@" + r.version
	return map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"serialNumber": fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16]),
		"metadata": map[string]any{
			"timestamp": r.date(),
			"component": map[string]any{
				"type": "application", "bom-ref": main, "name": "deem", "version": r.version, "purl": main,
				"licenses": []any{map[string]any{"license": map[string]any{"id": "Apache-2.0"}}},
			},
		},
		"components": components,
	}
}
