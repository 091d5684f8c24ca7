package longmemeval2

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/internal/text"
	"deem/judge"
)

// shared returns a file of the published vectors, which deem does not ship.
func shared(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "field", "longmemeval-v2", filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the vectors are not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

type vectors struct {
	Rules []struct {
		Spec, Answer string
		Prediction   json.RawMessage
		Result       any
	}
	Boxed []struct {
		Text, Parsed string
		Unknown      bool
	}
	Judgements []struct {
		Reply  string
		Result any
	}
}

func readVectors(t *testing.T) (v vectors) {
	t.Helper()
	if err := json.Unmarshal(shared(t, "vectors/rules.json"), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestRules compares the rules with upstream's functions.
func TestRules(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Rules {
		prediction := ""
		if string(c.Prediction) != "null" {
			prediction = text.Str(c.Prediction)
		}
		e, err := parseEvaluation(c.Spec)
		if said, raises := c.Result.(string); raises {
			if err == nil {
				t.Errorf("%q: no error, and upstream %s", c.Spec, said)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.Spec, err)
			continue
		}
		if got := e.right(prediction, c.Answer, false); got != c.Result {
			t.Errorf("%s of %s with %q = %v, want %v", c.Spec, c.Prediction, c.Answer, got, c.Result)
		}
	}
	if len(v.Rules) != 48 {
		t.Errorf("%d cases, want 48", len(v.Rules))
	}
	t.Logf("%d rule cases", len(v.Rules))
}

// TestBoxed compares boxed answers with upstream's.
func TestBoxed(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Boxed {
		if got := boxed(c.Text); got != c.Parsed || isUnknown(c.Text) != c.Unknown {
			t.Errorf("boxed(%q) = %q, unknown %v, want %q, %v", c.Text, got, isUnknown(c.Text), c.Parsed, c.Unknown)
		}
	}
	if len(v.Boxed) != 11 {
		t.Errorf("%d cases, want 11", len(v.Boxed))
	}
}

// TestReplies compares the parser with upstream's. A reply at which upstream stops is a
// failure.
func TestReplies(t *testing.T) {
	p, err := Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	v := readVectors(t)
	for _, c := range v.Judgements {
		got, err := judge.Read(p, deem.Item{}, deem.Reply{Text: c.Reply, Stop: deem.StopEnd})
		want, ok := c.Result.([]any)
		if !ok {
			if _, failed := errors.AsType[*deem.Failure](err); !failed {
				t.Errorf("%q: %+v, error %v, want a failure", c.Reply, got, err)
			}
			continue
		}
		if err != nil || got.Score != want[0].(float64) || got.Reason != want[1].(string) {
			t.Errorf("%q: %+v, error %v, want %v", c.Reply, got, err, want)
		}
	}
	if len(v.Judgements) != 20 {
		t.Errorf("%d cases, want 20", len(v.Judgements))
	}
}

// TestLAFS reproduces both reference scores and the table printed by compute_lafs.py.
func TestLAFS(t *testing.T) {
	for tier, want := range map[string]float64{"small": 55.76484693638005, "medium": 51.0740894823051} {
		points, err := Frontier(tier)
		if err != nil {
			t.Fatal(err)
		}
		if got := LAFS(points); math.Abs(got-want) > 1e-12 {
			t.Errorf("LAFS(%s) = %v, want %v", tier, got, want)
		} else {
			t.Logf("%s %.4f", tier, got)
		}
	}
	printed := string(shared(t, "vectors/lafs_upstream_output.txt"))
	fixed, err := Frontier("small")
	if err != nil {
		t.Fatal(err)
	}
	for name, points := range map[string][]Point{
		"Fast RAG++ | 62 @ 15s":                                {{62, 15}},
		"Efficient coding agent | 73.5 @ 70s":                  {{73.5, 70}},
		"Slow high-accuracy | 78 @ 190s":                       {{78, 190}},
		"Dominated slow method | 70 @ 150s":                    {{70, 150}},
		"Balanced 2-point method | 60 @ 10s, 73 @ 55s":         {{60, 10}, {73, 55}},
		"Strong 3-point method | 60 @ 8s, 72 @ 45s, 76 @ 100s": {{60, 8}, {72, 45}, {76, 100}},
	} {
		row := fmt.Sprintf("| %s | %+.2f |", name, LAFS(append(points, fixed...))-LAFS(fixed))
		if !strings.Contains(printed, row) {
			t.Errorf("upstream does not print %s", row)
		}
	}
}

// TestPrompts compares the embedded prompts with the published bytes.
func TestPrompts(t *testing.T) {
	p, err := Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{
		"abstention_system": "abstention_system.txt", "abstention_user": "abstention_user.NOT-FORMAT.txt",
		"gotchas_system": "gotchas_system.txt", "gotchas_user": "gotchas_user.NOT-FORMAT.txt",
	} {
		if got, want := sha256.Sum256([]byte(p.prompts[name])), sha256.Sum256(shared(t, "prompts/"+file)); got != want {
			t.Errorf("prompt %s is not %s", name, file)
		}
		notice, err := os.ReadFile("../../../NOTICE")
		if hash := fmt.Sprintf("%x", sha256.Sum256([]byte(p.prompts[name]))); err != nil || !strings.Contains(string(notice), hash) {
			t.Errorf("NOTICE does not name the prompt %s with SHA-256 %s, error %v", name, hash, err)
		}
	}
}
