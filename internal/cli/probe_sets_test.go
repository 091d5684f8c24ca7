package cli_test

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/probe"
	"deem/judge"
)

// withoutReferences are the judges that ship with a set of probes.
var withoutReferences = []string{"faithful", "relevant", "context", "helpful", "refusal", "memory-use", "safe-instructions"}

// An erring model knows the right verdict on every probe of a set and errs with known
// rates: it accepts a wrong response, or rejects a right one.
type erring struct {
	replies                    map[string]string // by prompt
	kinds                      map[string]bool
	wrong, right               int
	falseAccepts, falseRejects int
}

// newErring decides in advance on every probe of a judge's set.
func newErring(t *testing.T, name, model string, accept, reject float64) *erring {
	t.Helper()
	d, ok := judge.Builtin(name)
	if !ok {
		t.Fatalf("there is no judge %s", name)
	}
	p, err := d.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	byScore := func(a, b judge.Label) int { return int(10*a.Score) - int(10*b.Score) }
	yes, no := slices.MaxFunc(d.Labels, byScore).Label, slices.MinFunc(d.Labels, byScore).Label
	set, _ := probe.Shipped(name, probe.Options{})
	m := &erring{replies: map[string]string{}, kinds: map[string]bool{}}
	// It errs on exactly its share of the probes, chosen at random.
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name + "/" + model))
	probes := slices.Clone(set.Probes())
	rand.New(rand.NewPCG(hash.Sum64(), 22)).Shuffle(len(probes), func(i, j int) { probes[i], probes[j] = probes[j], probes[i] })
	for _, one := range probes {
		m.kinds[one.Kind] = true
		if one.Want {
			m.right++
		} else {
			m.wrong++
		}
	}
	rejects, accepts := int(math.Round(reject*float64(m.right))), int(math.Round(accept*float64(m.wrong)))
	for _, one := range probes {
		says := one.Want
		if one.Want && m.falseRejects < rejects {
			says = false
			m.falseRejects++
		} else if !one.Want && m.falseAccepts < accepts {
			says = true
			m.falseAccepts++
		}
		reqs := []deem.Request{}
		if d.Criteria != nil {
			reqs, err = judge.Requests(p, one.Item)
		} else {
			var req deem.Request
			req, err = p.Request(one.Item)
			reqs = append(reqs, req)
		}
		if err != nil {
			t.Fatalf("%s: %v", one.ID, err)
		}
		for _, req := range reqs {
			m.replies[req.Messages[len(req.Messages)-1].Content] = map[bool]string{true: yes, false: no}[says]
		}
	}
	return m
}

// ServeHTTP answers like OpenAI. A prompt that belongs to no probe is an error.
func (m *erring) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []deem.Message `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) == 0 {
		http.Error(w, "no messages", http.StatusBadRequest)
		return
	}
	reply, ok := m.replies[body.Messages[len(body.Messages)-1].Content]
	if !ok {
		http.Error(w, "this prompt belongs to no probe", http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"model":   "m",
		"choices": []any{map[string]any{"message": map[string]any{"content": reply}, "finish_reason": "stop"}},
	})
}

// TestSetsRecoverErrorRates runs the command that makes a judge's card against models that
// are lenient, strict and random, and checks the card against their true error rates.
func TestSetsRecoverErrorRates(t *testing.T) {
	notQuick(t)
	t.Parallel()
	for _, name := range withoutReferences {
		for _, c := range []struct {
			model          string
			accept, reject float64
		}{{"lenient", 0.4, 0.04}, {"strict", 0.04, 0.4}, {"random", 0.5, 0.5}} {
			m := newErring(t, name, c.model, c.accept, c.reject)
			srv := httptest.NewServer(m)
			out := run(t, t.TempDir(), 0, "probe", "--judge", name, "--model", "openai:"+c.model, "--base-url", srv.URL, "--json").out.String()
			srv.Close()
			var card probe.Card
			if err := json.Unmarshal([]byte(out), &card); err != nil {
				t.Fatalf("%s: %v:\n%s", name, err, out)
			}
			if card.Probes < 200 || card.Unjudged != 0 || len(card.Kinds) != len(m.kinds) {
				t.Errorf("%s: %d probes of %d kinds, %d unjudged, want at least 200 of %d, all judged", name, card.Probes, len(card.Kinds), card.Unjudged, len(m.kinds))
			}
			for _, r := range []struct {
				what string
				rate probe.Rate
				n, k int
				true float64
			}{
				{"false accepts", card.FalseAccepts, m.wrong, m.falseAccepts, c.accept},
				{"false rejects", card.FalseRejects, m.right, m.falseRejects, c.reject},
			} {
				if r.rate.Judged != r.n || r.rate.Errors != r.k {
					t.Errorf("%s, %s model: %s %d of %d, want %d of %d", name, c.model, r.what, r.rate.Errors, r.rate.Judged, r.k, r.n)
					continue
				}
				est := r.rate.Estimate
				t.Logf("%-17s %-7s %s %.1f%% [%.1f, %.1f], true %.1f%%", name, c.model, r.what, 100*est.Value, 100*est.Lo, 100*est.Hi, 100*r.true)
				if r.true < est.Lo || r.true > est.Hi {
					t.Errorf("%s, %s model: %s [%.3f, %.3f] does not hold the true rate %.3f", name, c.model, r.what, est.Lo, est.Hi, r.true)
				}
			}
		}
	}
}

// TestSets checks the sets: enough probes, both answers, and texts without an unfilled
// slot.
func TestSets(t *testing.T) {
	seen := map[string]string{}
	for _, name := range withoutReferences {
		set, ok := probe.Shipped(name, probe.Options{})
		if !ok || len(set.Probes()) < 200 {
			t.Errorf("the set of %s has fewer than 200 probes", name)
			continue
		}
		wants := map[bool]int{}
		for _, p := range set.Probes() {
			wants[p.Want]++
			if other := cmp.Or(seen[p.Kind], name); other != name {
				t.Errorf("kind %s is in the sets of %s and %s", p.Kind, other, name)
			}
			seen[p.Kind] = name
			if text, _ := json.Marshal(p.Item); regexp.MustCompile(`\{[a-z_0-9]+\}`).Match(text) {
				t.Errorf("%s has a slot that was not filled: %s", p.ID, text)
			}
			if len(p.References) > 0 {
				t.Errorf("%s has a reference", p.ID)
			}
		}
		if min(wants[true], wants[false]) < 80 {
			t.Errorf("the set of %s has %d right and %d wrong probes, want at least 80 of each", name, wants[true], wants[false])
		}
	}
}

// TestProbeKindsDocumented checks that docs/probe.md names every kind of probe.
func TestProbeKindsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "probe.md"))
	if err != nil {
		t.Fatal(err)
	}
	kinds, _, _ := strings.Cut(string(text), "## The card")
	for _, k := range probe.Kinds() {
		if !strings.Contains(kinds, "`"+k+"`") {
			t.Errorf("docs/probe.md does not name %s", k)
		}
	}
}
