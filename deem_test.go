package deem_test

import (
	"errors"
	"fmt"
	"testing"

	"deem"
)

func TestCanonicalIsOneTextPerValue(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{map[string]any{"b": 1, "a": []int{2}}, `{"a":[2],"b":1}`},
		{struct{ B, A string }{"<&>", "é\n"}, `{"A":"é\n","B":"<&>"}`},
		{0.1, `0.1`},
		{int64(9007199254740993), `9007199254740993`},
		{nil, `null`},
	} {
		got, err := deem.Canonical(c.v)
		if err != nil || string(got) != c.want {
			t.Errorf("Canonical(%v) = %s, %v, want %s", c.v, got, err, c.want)
		}
	}
	if _, err := deem.Canonical(func() {}); err == nil {
		t.Error("Canonical of a function gave no error")
	}
}

// The hash of an item is in every store and every published file: it must not
// change.
func TestItemHashIsPinned(t *testing.T) {
	it := deem.Item{ID: "q7", Category: "temporal", References: []string{"18 days"}, Response: "19 days"}
	const want = "f84c8496b1888e594aefc212c826f27ed05765d23138df30ba57d30e77bdd365"
	if got := it.Hash(); got != want {
		t.Errorf("Hash() = %s, want %s", got, want)
	}
	other := it
	other.Response = "18 days"
	if other.Hash() == it.Hash() {
		t.Error("another response has the same hash")
	}
}

// Items and requests are hashed without building their canonical JSON; the hash is
// that of the canonical JSON all the same.
func TestHashesAreOfCanonicalJSON(t *testing.T) {
	half, seed := 0.5, int64(7)
	it := deem.Item{
		ID: "<1>", Category: "c", Cluster: "k", Question: "q & a", References: []string{"b", "a"},
		Response: "r\u2028\n", Fields: map[string]string{"z": "1", "a": "2"}, Weight: 1e21,
	}
	odd := deem.Item{ID: "\xff", Response: `\ufffd` + "\xc3(", Fields: map[string]string{"\xfe": "\u2029"}}
	req := deem.Request{
		Messages: []deem.Message{{Role: "system", Content: "<s>"}, {Role: "user", Content: "u"}}, MaxTokens: 5,
		Temperature: &half, TopP: &half, Seed: &seed, Stop: []string{"x"}, JSON: true,
		Schema: []byte(`{"type": "object", "a": [1.50]}`), TopLogprobs: 5, Trial: 2,
	}
	for _, c := range []struct {
		value any
		hash  string
	}{{it, it.Hash()}, {deem.Item{}, deem.Item{}.Hash()}, {odd, odd.Hash()}, {req, req.Hash()}, {deem.Prompt("x"), deem.Prompt("x").Hash()}} {
		want, err := deem.Hash(c.value)
		if err != nil || c.hash != want {
			t.Errorf("hash of %+v = %s, want %s, %v", c.value, c.hash, want, err)
		}
	}
}

func TestRequestHashTellsTrialsApart(t *testing.T) {
	a, b := deem.Prompt("hello"), deem.Prompt("hello")
	if a.Hash() != b.Hash() {
		t.Error("equal requests have different hashes")
	}
	b.Trial = 1
	if a.Hash() == b.Hash() {
		t.Error("two trials have the same hash")
	}
	zero := 0.0
	b = deem.Prompt("hello")
	b.Temperature = &zero
	if a.Hash() == b.Hash() {
		t.Error("temperature 0 and no temperature have the same hash")
	}
}

func TestHintTravelsWithTheError(t *testing.T) {
	base := errors.New("no key")
	err := fmt.Errorf("open model: %w", deem.WithHint(base, "set %s", "OPENAI_API_KEY"))
	if got := deem.HintOf(err); got != "set OPENAI_API_KEY" {
		t.Errorf("HintOf = %q", got)
	}
	if !errors.Is(err, base) || err.Error() != "open model: no key" {
		t.Errorf("error %q lost its cause or shows its hint", err)
	}
	if deem.WithHint(nil, "x") != nil || deem.HintOf(base) != "" {
		t.Error("a hint out of nothing")
	}
}

func TestKindsListsEveryKindOnce(t *testing.T) {
	seen := map[deem.Kind]bool{}
	for _, k := range deem.Kinds() {
		if seen[k] || k == "" {
			t.Errorf("kind %q twice or empty", k)
		}
		seen[k] = true
	}
	if len(seen) != 12 {
		t.Errorf("%d kinds, want 12", len(seen))
	}
}

func TestVerdictYes(t *testing.T) {
	yes, no := true, false
	for _, tt := range []struct {
		v    deem.Verdict
		want bool
	}{
		{deem.Verdict{Score: 0.5}, true},
		{deem.Verdict{Score: 0.49}, false},
		{deem.Verdict{Score: 0.65, Pass: &no}, false},
		{deem.Verdict{Score: 0.1, Pass: &yes}, true},
	} {
		if got := tt.v.Yes(); got != tt.want {
			t.Errorf("(%+v).Yes() = %v, want %v", tt.v, got, tt.want)
		}
	}
}
