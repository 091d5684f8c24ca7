package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/store"
)

// FuzzClean checks that an endpoint is stored without anything that may be a key: no query,
// no fragment, and nothing before the @ of its host; and that cleaning is idempotent, since
// the key of a run depends on it.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{
		"https://api.example.com/v1", "user:key@host", "https://u:k@h:1/p?key=x#f", "http://u:a/b@h", "//u@h", "h/p@q", "https://h/%zz@x", "a:b@c@d/e", "://@", "http:////@",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, endpoint string) {
		spec := store.Spec{Judge: store.JudgeSpec{Hash: "j"}, Dataset: store.DatasetSpec{Hash: "d"}, Trials: 1, Endpoint: endpoint}
		clean, err := spec.Clean()
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(clean.Endpoint, "?#") {
			t.Errorf("%q is kept as %q", endpoint, clean.Endpoint)
		}
		rest := clean.Endpoint
		if i := strings.Index(rest, "//"); i == 0 || i > 0 && rest[i-1] == ':' {
			rest = rest[i+2:]
		}
		if host, _, _ := strings.Cut(rest, "/"); strings.Contains(host, "@") {
			t.Errorf("%q is kept as %q, with a user", endpoint, clean.Endpoint)
		}
		again, err := clean.Clean()
		if err != nil || again.Endpoint != clean.Endpoint || clean.Key() != spec.Key() {
			t.Errorf("%q is kept as %q, and that as %q", endpoint, clean.Endpoint, again.Endpoint)
		}
	})
}

// FuzzResolve checks that a reference resolves to an existing run, or to an error with a
// hint.
func FuzzResolve(f *testing.F) {
	for _, seed := range []string{"last", "last~1", "last~99999999999", "last~-1", "2026", "20261115-9f", "9f3a2c", "", "-", "lastly"} {
		f.Add(seed, "20261115-9f3a2c,20261115-9f3a2d,20261114-000001")
	}
	f.Add("a", "a,ab,abc")
	f.Add("x", "")
	f.Fuzz(func(t *testing.T, ref, list string) {
		var ids []string
		for id := range strings.SplitSeq(list, ",") {
			if id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		got, err := store.Resolve(ref, ids, ids)
		switch {
		case err != nil:
			if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrAmbiguous) || deem.HintOf(err) == "" || got != "" {
				t.Errorf("Resolve(%q, %q) = %q, %v without advice", ref, ids, got, err)
			}
		case !slices.Contains(ids, got):
			t.Errorf("Resolve(%q, %q) = %q", ref, ids, got)
		case slices.Contains(ids, ref) && got != ref && !strings.HasPrefix(ref, "last"):
			t.Errorf("Resolve(%q, %q) = %q, want the run of that id", ref, ids, got)
		}
	})
}
