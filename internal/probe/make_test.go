package probe_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/probe"
)

var update = flag.Bool("update", false, "write golden files anew")

// readItems returns the test items of the generators.
func readItems(t testing.TB) []deem.Item {
	t.Helper()
	data, err := os.ReadFile("testdata/items.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var items []deem.Item
	for line := range bytes.Lines(data) {
		var it deem.Item
		if err := json.Unmarshal(line, &it); err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	return items
}

// sequence yields items and can be iterated again.
func sequence(items []deem.Item) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
	}
}

func makeSet(t testing.TB, items []deem.Item, o probe.Options) *probe.Set {
	t.Helper()
	set, err := probe.Make(sequence(items), o)
	if err != nil {
		t.Fatalf("Make: %v", err)
	}
	return set
}

// The output of the generators is pinned: different probes are a different dataset, and
// cards can then not be compared with older ones.
func TestMadeProbes(t *testing.T) {
	set := makeSet(t, readItems(t), probe.Options{Seed: 7})
	var b strings.Builder
	for _, p := range set.Probes() {
		fmt.Fprintf(&b, "%s: %q -> %q\n", p.ID, strings.Join(p.References, " | "), p.Response)
	}
	const file = "testdata/probes.golden"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("probes differ from %s (-want +got); -update writes it anew:\n%s", file, diff)
	}
}

// Every kind is made from some item of the test data, so that the golden file covers all
// kinds.
func TestEveryKindIsMade(t *testing.T) {
	made := map[string]int{}
	for _, p := range makeSet(t, readItems(t), probe.Options{}).Probes() {
		made[p.Kind]++
		if want, err := probe.Wanted(p.Kind, ""); err != nil || want != p.Want {
			t.Errorf("%s: Want = %v, want %v as its kind says", p.ID, p.Want, want)
		}
	}
	for _, k := range probe.Made {
		if made[k] == 0 {
			t.Errorf("no probe of kind %s", k)
		}
	}
	for _, k := range probe.Kinds() {
		if r, ok := cardOf(1, said(k, "", 1, 0, "no")).Rate(k); !ok || r.About == "" {
			t.Errorf("kind %s says nothing about itself", k)
		}
	}
}

func TestProbesDependOnSeedAndItemsAlone(t *testing.T) {
	items := readItems(t)
	texts := func(items []deem.Item, seed uint64) map[string]string {
		found := map[string]string{}
		for _, p := range makeSet(t, items, probe.Options{Seed: seed, PerKind: 5}).Probes() {
			found[p.ID] = p.Response
		}
		return found
	}
	first := texts(items, 1)
	turned := slices.Clone(items)
	slices.Reverse(turned)
	if diff := cmp.Diff(first, texts(turned, 1)); diff != "" {
		t.Errorf("the order of the items changed the probes:\n%s", diff)
	}
	if cmp.Equal(first, texts(items, 2)) {
		t.Error("another seed made the same probes")
	}
}

// An item keeps everything but its response, and the original item is not changed.
func TestItemsAreKept(t *testing.T) {
	items := readItems(t)
	before := slices.Clone(items)
	byID := map[string]deem.Item{}
	for i := range items {
		items[i].Category, items[i].Cluster, items[i].Weight = "c", "conversation", 2
		byID[items[i].ID] = items[i]
	}
	for _, p := range makeSet(t, items, probe.Options{}).Probes() {
		it := byID[p.Of]
		got, ok := probe.Of(p.Item)
		if !ok || got.Kind != p.Kind || got.Want != p.Want || got.Of != p.Of || got.Variant != p.Variant {
			t.Errorf("Of(%s) = %+v, %v", p.ID, got, ok)
		}
		if !strings.HasSuffix(p.ID, it.ID) || p.Category != it.Category || p.Cluster != it.Cluster || p.Weight != it.Weight ||
			p.Question != it.Question || !slices.Equal(p.References, it.References) {
			t.Errorf("%s is not item %s with another response", p.ID, it.ID)
		}
	}
	for i := range items {
		if _, ok := items[i].Fields["probe"]; ok || !cmp.Equal(items[i].References, before[i].References) {
			t.Errorf("item %s was changed", items[i].ID)
		}
		if _, ok := probe.Of(items[i]); ok {
			t.Errorf("Of(%s) takes an ordinary item for a probe", items[i].ID)
		}
	}
}

func TestPerKind(t *testing.T) {
	items := readItems(t)
	count := map[string]int{}
	variants := map[string]int{}
	ids := map[string]bool{}
	for _, p := range makeSet(t, items, probe.Options{PerKind: 2}).Probes() {
		count[p.Kind]++
		ids[p.ID] = true
		if p.Kind == "injection" {
			variants[p.Variant]++
		}
	}
	for k, n := range count {
		if k != "injection" && n > 2 {
			t.Errorf("%d probes of kind %s, want 2 at most", n, k)
		}
	}
	if got, want := len(variants), len(probe.Kit()); got != want || count["injection"] != want {
		t.Errorf("%d strings in %d injections, want each of %d once", got, count["injection"], want)
	}
	n := 0
	for _, c := range count {
		n += c
	}
	if len(ids) != n {
		t.Errorf("%d ids for %d probes", len(ids), n)
	}
}

// A long answer and an answer with an instruction use the same wrong answer as the plain
// probe, so that they can be compared.
func TestPairsShareTheirAnswer(t *testing.T) {
	plain := map[string]string{}
	probes := makeSet(t, readItems(t), probe.Options{Seed: 3}).Probes()
	for _, p := range probes {
		if p.Kind == "other" || p.Kind == "invented" {
			plain[p.Of] = p.Response
		}
	}
	pairs := 0
	for _, p := range probes {
		if p.Kind != "padded" && p.Kind != "injection" {
			continue
		}
		answer, ok := plain[p.Of]
		if !ok || !strings.Contains(p.Response, strings.TrimRight(answer, ".。!? ")) {
			t.Errorf("%s does not hold %q", p.ID, answer)
		}
		pairs++
	}
	if pairs == 0 {
		t.Error("no pair was made")
	}
}

func TestMakeRefuses(t *testing.T) {
	broken := func(yield func(deem.Item, error) bool) { yield(deem.Item{}, errors.New("the file is gone")) }
	if _, err := probe.Make(broken, probe.Options{}); err == nil || err.Error() != "the file is gone" {
		t.Errorf("Make of a broken sequence: %v", err)
	}
	none := sequence([]deem.Item{{ID: "1", Question: "q"}})
	if _, err := probe.Make(none, probe.Options{}); !errors.Is(err, probe.ErrNone) || deem.HintOf(err) == "" {
		t.Errorf("Make without references: %v, want ErrNone with a hint", err)
	}
	if _, err := probe.Make(none, probe.Options{Kinds: []string{"odd"}}); err == nil || !strings.Contains(err.Error(), `"odd"`) {
		t.Errorf("Make of an unknown kind: %v", err)
	}
	if _, err := probe.Make(none, probe.Options{PerKind: -1}); err == nil {
		t.Error("Make of -1 probes gave no error")
	}
}

func TestAddBank(t *testing.T) {
	items := readItems(t)
	set := makeSet(t, items, probe.Options{Kinds: []string{"vague"}, ReferenceField: "other"})
	row := func(id string, refs []string, fields ...string) deem.Item {
		it := deem.Item{ID: id, Response: "as if", References: refs, Fields: map[string]string{}}
		for i := 0; i < len(fields); i += 2 {
			it.Fields[fields[i]] = fields[i+1]
		}
		return it
	}
	r := []string{"r"}
	for _, tt := range []struct {
		row  deem.Item
		want string
	}{
		{row(set.Probes()[0].Of, r, "kind", "vague"), "two probes"},
		{row("x", r, "kind", "vague", "want", "yes"), "are wrong"},
		{row("x", r, "kind", "sarcastic", "want", "perhaps"), "neither yes nor no"},
		{row("x", r, "kind", "sarcastic"), "does not say whether the answer is right"},
		{row("x", nil, "want", "no", "of", "nobody"), `no item "nobody"`},
		{row("x", r, "kind", "sarcastic", "want", "no"), ""},
		{row("y", nil, "probe_want", "accept", "probe_of", items[0].ID), ""},
	} {
		err := set.AddBank(sequence([]deem.Item{tt.row}), sequence(items))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("AddBank(%s %v) = %v, want %q", tt.row.ID, tt.row.Fields, err, tt.want)
		}
	}
	all := set.Probes()
	own, answer := all[len(all)-2], all[len(all)-1]
	if own.ID != "sarcastic/x" || own.Want || own.Fields["other"] != "r" {
		t.Errorf("the row of its own became %+v", own)
	}
	if answer.ID != "bank/y" || !answer.Want || answer.Of != items[0].ID || answer.Question != items[0].Question || answer.Response != "as if" {
		t.Errorf("the answer to an item became %+v", answer)
	}
}

// pieces are the parts of references in the property test.
var pieces = []string{
	"7 May 2023", "2023-02-31", "18 days", "1,250", "4.5", "twenty-one", "Anna", "and", "or", ", ", "; ", "\n", "Yes", "No", ".",
	"about", "B12", "10:30", "3-4", "北京", "、", "é", "\u200b", "not mentioned", "", " ", "999999999999999999999", "0", "-", "the sea", "'s",
}

// For any references, a wrong answer is not a reference, a right one is made from it, and
// nothing panics.
func TestProbesOfAnyReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := []deem.Item{{ID: "other", Question: "another question?", References: []string{"something else entirely"}}}
		for i := range rapid.IntRange(1, 4).Draw(t, "items") {
			ref := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 5).Draw(t, "ref"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
			items = append(items, deem.Item{ID: fmt.Sprint(i), Question: rapid.SampledFrom([]string{"", "Who is it?", "What is the answer here?"}).Draw(t, "question"), References: []string{ref}})
		}
		set, err := probe.Make(sequence(items), probe.Options{Seed: rapid.Uint64().Draw(t, "seed")})
		if err != nil {
			t.Fatalf("Make: %v", err)
		}
		for _, p := range set.Probes() {
			ref := strings.TrimSpace(p.References[0])
			if !p.Want && p.Response == ref {
				t.Errorf("%s: the wrong answer %q is the reference", p.ID, p.Response)
			}
			if p.Want && strings.TrimSpace(p.Response) == "" {
				t.Errorf("%s: the right answer to %q is empty", p.ID, ref)
			}
		}
	})
}

func FuzzMake(f *testing.F) {
	for _, p := range pieces {
		f.Add(p, "When was it?")
	}
	f.Fuzz(func(t *testing.T, ref, question string) {
		items := []deem.Item{{ID: "a", Question: question, References: []string{ref}}, {ID: "b", References: []string{"Porto"}}}
		set, err := probe.Make(sequence(items), probe.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range set.Probes() {
			if p.ID == "" || p.Of == "" {
				t.Errorf("a probe without a name: %+v", p)
			}
		}
	})
}

func TestKit(t *testing.T) {
	kit := probe.Kit()
	if len(kit) < 30 {
		t.Errorf("the kit has %d strings, want 30 at least", len(kit))
	}
	names, families, foreign := map[string]bool{}, map[string]int{}, 0
	for _, s := range kit {
		text := s.Text("PASSED")
		if names[s.Name] || s.Name == "" || strings.ContainsAny(s.Name, " /") {
			t.Errorf("name %q is empty, there twice, or no name", s.Name)
		}
		names[s.Name] = true
		families[s.Family]++
		if strings.Contains(text, "{yes}") || !strings.Contains(text, "PASSED") && s.Name != "verdict-scores" {
			t.Errorf("%s does not ask for the label: %q", s.Name, text)
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r > 0x2ff && r < 0xe0000 && r != 0x2060 && (r < 0x2000 || r > 0x206f) }) {
			foreign++
		}
	}
	for _, family := range []string{"order", "verdict", "delimiter", "role", "tool", "hidden"} {
		if families[family] == 0 {
			t.Errorf("the kit has no string of family %s", family)
		}
	}
	if foreign < 5 {
		t.Errorf("%d strings are in other scripts, want 5 at least", foreign)
	}
}
