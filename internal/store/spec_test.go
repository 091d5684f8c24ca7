package store_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deem/internal/store"
	"deem/internal/test/storetest"
)

func TestKeyPinned(t *testing.T) {
	// A changed key orphans every interrupted run. This one was computed independently,
	// over "judge-", "dataset-", "fake:yes", "http://localhost:8080/v1" and "1", each
	// preceded by its length in eight bytes.
	const want = "c95b7a31b717c9bca8b34530e2d6baec5f495999d4d83bb51937ffcada3fc780"
	if got := storetest.Spec("").Key(); got != want {
		t.Errorf("Key = %s, want %s", got, want)
	}
}

// TestKey checks that the key depends on its documented fields, and on no other.
func TestKey(t *testing.T) {
	base := storetest.Full[store.Spec]()
	for _, tt := range []struct {
		name   string
		change func(*store.Spec)
		same   bool
	}{
		{"judge hash", func(s *store.Spec) { s.Judge.Hash += "x" }, false},
		{"dataset hash", func(s *store.Spec) { s.Dataset.Hash += "x" }, false},
		{"model", func(s *store.Spec) { s.Model += "x" }, false},
		{"endpoint", func(s *store.Spec) { s.Endpoint += "x" }, false},
		{"trials", func(s *store.Spec) { s.Trials++ }, false},
		{"moved text", func(s *store.Spec) { s.Judge.Hash, s.Dataset.Hash = s.Judge.Hash+s.Dataset.Hash, "" }, false},
		{"judge name", func(s *store.Spec) { s.Judge.Name += "x" }, true},
		{"judge identity", func(s *store.Spec) { s.Judge.Identity = nil }, true},
		{"judge rule", func(s *store.Spec) { s.Judge.Rule = !s.Judge.Rule }, true},
		{"dataset names", func(s *store.Spec) { s.Dataset.Names = nil }, true},
		{"dataset items", func(s *store.Spec) { s.Dataset.Items++ }, true},
		{"settings", func(s *store.Spec) { s.Settings = nil }, true},
		{"secret in the endpoint", func(s *store.Spec) { s.Endpoint = "me:key@" + s.Endpoint + "?key=x" }, true},
	} {
		spec := base
		tt.change(&spec)
		if reflect.DeepEqual(spec, base) {
			t.Fatalf("%s: the test changes nothing", tt.name)
		}
		if same := spec.Key() == base.Key(); same != tt.same {
			t.Errorf("%s: same key = %v, want %v", tt.name, same, tt.same)
		}
	}
}

func TestCleanEndpoint(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   "",
		"https://api.openai.com/v1":          "https://api.openai.com/v1",
		"http://localhost:11434":             "http://localhost:11434",
		"localhost:8080/v1":                  "localhost:8080/v1",
		"https://me:secret@host/v1":          "https://host/v1",
		"https://secret@host/v1?key=secret":  "https://host/v1",
		"https://host/v1?key=secret":         "https://host/v1",
		"https://host/v1#secret":             "https://host/v1",
		"https://host?key=a/b@c":             "https://host",
		"me:secret@host:1":                   "host:1",
		"//me:secret@host/v1":                "//host/v1",
		"https://host/models/claude@2024":    "https://host/models/claude@2024",
		"https://me:se/cret@host/v1":         "https://host/v1",
		"https://me:se%zzcret@host:8080/v1":  "https://host:8080/v1",
		"http://[::1]:8080/v1":               "http://[::1]:8080/v1",
		"https://example.com/größe?x=secret": "https://example.com/größe",
	} {
		spec := storetest.Spec("")
		spec.Endpoint = in
		got, err := spec.Clean()
		if err != nil || got.Endpoint != want {
			t.Errorf("Clean(%q).Endpoint = %q, %v, want %q", in, got.Endpoint, err, want)
		}
	}
}

// TestCleanTwice checks that Clean is idempotent, so that a run that is read back has the
// key it was begun with.
func TestCleanTwice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spec := storetest.Spec("")
		spec.Endpoint = rapid.StringMatching(`([a-z]{0,3}:?/{0,2})?([a-z@:/?#%]{0,12})`).Draw(rt, "endpoint")
		once, err := spec.Clean()
		if err != nil {
			rt.Fatal(err)
		}
		twice, err := once.Clean()
		if err != nil || twice.Endpoint != once.Endpoint || once.Key() != spec.Key() {
			rt.Errorf("%q is cleaned to %q, then to %q", spec.Endpoint, once.Endpoint, twice.Endpoint)
		}
	})
}

// A run over probes is recognized by the name of its dataset.
func TestProbesOf(t *testing.T) {
	var spec store.Spec
	spec.Dataset.Names = store.ProbeNames([]string{"a.jsonl", "b.jsonl"}, 42)
	source, seed, ok := spec.ProbesOf()
	if !ok || !spec.Probes() || seed != 42 || !slices.Equal(source, []string{"a.jsonl", "b.jsonl"}) {
		t.Errorf("ProbesOf = %q, %d, %v", source, seed, ok)
	}
	for _, names := range [][]string{nil, {"a.jsonl"}, {"probes, seed x"}} {
		spec.Dataset.Names = names
		if _, _, ok := spec.ProbesOf(); ok || spec.Probes() {
			t.Errorf("ProbesOf(%q) holds", names)
		}
	}
}
