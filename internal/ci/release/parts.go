package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
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
		for _, name := range p.Files {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return err
			}
			if p.Licence == "" {
				p.Licence = licenceOf(string(text))
			}
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

// licenceFiles returns the licences of all parts of a binary, as files of an archive,
// with a list of them.
func licenceFiles(ctx context.Context, binary string) ([]file, error) {
	parts, err := partsOf(binary)
	if err != nil {
		return nil, err
	}
	if err := withLicences(ctx, parts); err != nil {
		return nil, err
	}
	var files []file
	var list strings.Builder
	for _, p := range parts {
		if p.Licence == "" {
			return nil, fmt.Errorf("%s %s: what licence is %s?", p.Path, p.Version, filepath.Join(p.Dir, p.Files[0]))
		}
		fmt.Fprintf(&list, "%-12s  %s %s\n", p.Licence, p.Path, p.Version)
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

// writeSBOM writes the list of parts in the form of CycloneDX 1.5.
func (r *release) writeSBOM(dir string) error {
	p := r.platforms[0]
	parts, err := partsOf(filepath.Join(dir, "build", p.String(), p.binary()))
	if err != nil {
		return err
	}
	if err := withLicences(context.Background(), parts); err != nil {
		return err
	}
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
			"licenses":   []any{map[string]any{"license": map[string]any{"id": p.Licence}}},
			"properties": []any{map[string]any{"name": "go:sum", "value": p.Sum}},
		})
	}
	id := h.Sum(nil)
	id[6], id[8] = id[6]&0x0f|0x50, id[8]&0x3f|0x80 // A UUID that was made of a hash.
	main := "pkg:golang/deem@" + r.version
	return map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"serialNumber": fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16]),
		"metadata": map[string]any{
			"timestamp": r.at.Format("2006-01-02T15:04:05Z"),
			"component": map[string]any{
				"type": "application", "bom-ref": main, "name": "deem", "version": r.version, "purl": main,
				"licenses": []any{map[string]any{"license": map[string]any{"id": "Apache-2.0"}}},
			},
		},
		"components": components,
	}
}
