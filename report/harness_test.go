package report_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"deem/internal/doc"
)

// harness returns a harness with every field set.
func harness() *doc.Harness {
	return &doc.Harness{
		Deem: "v1.2.3",
		Prompts: []doc.Prompt{
			{Name: "default", SHA256: strings.Repeat("ab", 32), Text: "Is {response} right?"},
			{Name: "temporal", SHA256: strings.Repeat("cd", 32), Text: "When?"},
		},
		Params:   map[string]string{"temperature": "0", "max_tokens": "10"},
		Policy:   "category 5 (adversarial) excluded",
		Excluded: []string{"id=q7"},
		Errata:   &doc.ErrataFile{File: "errata.json", Hash: strings.Repeat("12", 32), Faulty: 3},
		Lock: &doc.Lock{
			Hash: strings.Repeat("ef", 32), Created: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), Kept: true,
		},
	}
}

// The details contain everything needed to reproduce the score.
func TestHarnessCard(t *testing.T) {
	h := head()
	h.Harness = harness()
	h.Items = 60
	_, card, _ := strings.Cut(text(t, build(h, many(41, 60)).Report()), "How this was made\n")
	card, _, _ = strings.Cut(card, "calls ")
	want := `run           nightly-7, complete, started 2026-03-01 09:30:00 UTC, took 5m12s
judge         longmemeval, model, parser upstream
judge hash    4f0c2a914f0c2a914f0c2a914f0c2a914f0c2a914f0c2a914f0c2a914f0c2a91
prompt        default, sha256 abababababababababababababababababababababababababababababababab
prompt        temporal, sha256 cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd
parameters    max_tokens 10, temperature 0
model         openai:gpt-4o-2024-08-06, seen as gpt-4o-2024-08-06 (fp_a1)
dataset       longmemeval_s
dataset hash  9b1c9b1c9b1c9b1c9b1c9b1c9b1c9b1c9b1c9b1c9b1c9b1c9b1c9b1c9b1c9b1c
records       60 items: 60 judged, 0 unjudged
counts        category 5 (adversarial) excluded; left out: id=q7; score over 60 judged, strict over all 60
intervals     from formulas, items taken as independent
errata        errata.json, hash 121212121212, 3 items with a wrong reference
lock          hash efefefefefef of 2026-03-01 09:00:00 UTC, locked before the run: kept
deem          v1.2.3
`
	if card != want {
		t.Errorf("the detail is\n%s\nwant\n%s", card, want)
	}
}

// A broken lock is reported next to the score.
func TestBrokenLock(t *testing.T) {
	h := head()
	h.Harness = harness()
	h.Harness.Lock.Kept, h.Harness.Lock.Broken = false, []string{"judge hash differs", "trials differ"}
	r := build(h, many(1, 2)).Report()
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	const want = "ocked, and broken: judge hash differs; trials differ"
	if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
		t.Errorf("the text does not say %q:\n%s", want, b.String())
	}
	page := string(html(t, r))
	if n := strings.Count(page, want); n != 2 {
		t.Errorf("the page says %d times %q, want as the warning and in the facts", n, want)
	}
}

// JSON identifies prompts by their hashes and omits their texts.
func TestHarnessJSON(t *testing.T) {
	text, err := json.Marshal(harness())
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); strings.Contains(s, "right?") || !strings.Contains(s, `"prompts":[{"name":"default","sha256":"abab`) {
		t.Errorf("the JSON is %s", s)
	}
}

// Names in a harness come from files, which are untrusted.
func TestHarnessEscapes(t *testing.T) {
	const evil = "</dd><script>x</script>\x1b[2J\u202e"
	h := head()
	h.Harness = &doc.Harness{
		Deem: evil, Prompts: []doc.Prompt{{Name: evil, SHA256: evil}, {Name: evil}}, Params: map[string]string{evil: evil}, Policy: evil,
		Excluded: []string{evil}, Errata: &doc.ErrataFile{File: evil, Hash: evil}, Lock: &doc.Lock{Hash: evil, Broken: []string{evil}},
	}
	r := build(h, many(1, 2)).Report()
	for name, text := range map[string]string{"text": text(t, r), "page": string(html(t, r))} {
		if strings.ContainsAny(text, "\x1b\u202e") || name == "page" && strings.Contains(text, "<script") {
			t.Errorf("the %s holds what it should escape", name)
		}
	}
}
