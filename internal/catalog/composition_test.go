package catalog_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem/internal/catalog"
)

const panel = `kind: panel
name: three
about: three judges
rule: weighted
tie: first
quorum: 2
members:
  - match
  - {judge: universal, model: "openai:gpt-4o-mini", weight: 2, name: gpt, reading: strict}
  - judge: labels:people.csv#anna
`

func TestParse(t *testing.T) {
	d, ok, err := catalog.ParseComposition("dir/p.yaml", []byte(panel))
	want := &catalog.Composition{
		File: "dir/p.yaml", Kind: "panel", Name: "three", About: "three judges", Rule: "weighted", Tie: "first", Quorum: 2,
		Members: []catalog.Member{
			{Judge: "match", Line: 8},
			{Judge: "universal", Model: "openai:gpt-4o-mini", Weight: 2, Name: "gpt", Reading: "strict", Line: 9},
			{Judge: "labels:people.csv#anna", Line: 10},
		},
	}
	if diff := cmp.Diff(want, d); !ok || err != nil || diff != "" {
		t.Errorf("ok %v, error %v, declaration (-want +got):\n%s", ok, err, diff)
	}
	if got := d.Path("x.yaml"); got != "dir/x.yaml" {
		t.Errorf("Path(x.yaml) = %s, want it beside the declaration", got)
	}
	if _, ok, err := catalog.ParseComposition("j.yaml", []byte("name: mine\nprompt: hi\n")); ok || err != nil {
		t.Errorf("a judge without a kind: %v, %v, want that it is left to others", ok, err)
	}
}

// TestWrittenReadAgain checks that Parse reads what fit writes.
func TestWrittenReadAgain(t *testing.T) {
	mark := 0.93
	d := catalog.Composition{
		File: "c.yaml", Kind: "cascade", Name: "cheap-first", Promise: &catalog.Promise{Alpha: 0.05, Delta: 0.1, Labels: "l.csv"},
		Members: []catalog.Member{
			{Judge: "match", Threshold: &mark, Hash: "abc", Fitted: &catalog.Fitted{Threshold: mark, Labelled: 300, Decided: 200, Wrong: 3, Bound: 0.04}},
			{Judge: "people"},
		},
	}
	text, err := d.Write("# made by hand\n")
	if err != nil {
		t.Fatal(err)
	}
	got, ok, err := catalog.ParseComposition("c.yaml", text)
	if err != nil || !ok {
		t.Fatalf("%v, %v:\n%s", ok, err, text)
	}
	for i := range got.Members {
		got.Members[i].Line = 0
	}
	if diff := cmp.Diff(&d, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, text)
	}
}

func TestProblems(t *testing.T) {
	const stage = "kind: cascade\nname: c\nstages:\n"
	for text, want := range map[string]string{
		"kind: pannel\n":                                                                            `f.yaml:1: there is no kind "pannel"`,
		"kind: panel\nname: x\nmembrs: []\n":                                                        `f.yaml:3: a judge of kind panel has no key "membrs"; did you mean "members"?`,
		"kind: panel\nname: x\nmembers: [match]\n":                                                  "two members or more",
		"kind: panel\nmembers: [match, f1]\n":                                                       "no name",
		"kind: panel\nname: x\nmembers: match\n":                                                    "a list of judges",
		"kind: panel\nname: x\nmembers: [{model: a}, f1]":                                           "f.yaml:3: a member wants a judge",
		"kind: panel\nname: x\nquorum: many\n":                                                      `f.yaml:3: quorum wants a whole number, and "many" is none`,
		"kind: panel\nname: x\nname: y\n":                                                           `the key "name" twice`,
		"kind: repeat\nname: x\njudge: universal\n":                                                 "two times or more",
		"kind: repeat\nname: x\ntimes: 3\n":                                                         "repeat wants a judge",
		"kind: repeat\nname: x\nmembers: []\n":                                                      `no key "members"`,
		stage + "  - match\n":                                                                       "two stages or more",
		stage + "  - {judge: match, weight: 2}\n  - f1\n":                                           `no key "weight"`,
		stage + "  - {judge: match, threshold: high}\n":                                             "threshold wants a number",
		stage + "  - match\n  - f1\npromise: {alpha: .1}":                                           "f.yaml:4: the cascade makes a promise",
		stage + "  - {judge: match, threshold: .8, hash: a, fitted: {threshold: .9}}\n  - people\n": "the threshold is 0.8, and 0.9 was fitted",
	} {
		_, ok, err := catalog.ParseComposition("f.yaml", []byte(text))
		if !ok || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, error %v, want one with %q", text, ok, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(panel)
	f.Add("kind: cascade\nname: c\nstages: [{judge: match, fitted: {threshold: 1}}, people]\npromise: 3")
	f.Add("kind: repeat\nname: *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, ok, err := catalog.ParseComposition("f.yaml", []byte(text))
		if ok && err == nil && (d == nil || d.Name == "" || len(d.Members) == 0) {
			t.Errorf("%q: %+v, which is not a judge", text, d)
		}
	})
}
