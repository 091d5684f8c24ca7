package rule_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/judge/rule"
)

// An embedder is a function of one text.
type embedder func(text string) ([]float32, error)

func (f embedder) Name() string { return "test:1" }

func (f embedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	var vectors [][]float32
	for _, text := range texts {
		v, err := f(text)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, v)
	}
	return vectors, nil
}

// angles embeds a text with one number as the direction of that many degrees, and the empty
// text as 90 degrees.
func angles(text string) ([]float32, error) {
	degrees := 90.0
	if text != "" {
		if _, err := fmt.Sscan(text, &degrees); err != nil {
			return nil, err
		}
	}
	s, c := math.Sincos(degrees * math.Pi / 180)
	return []float32{float32(3 * c), float32(3 * s)}, nil
}

func TestSemantic(t *testing.T) {
	for _, tt := range []struct {
		response   string
		references []string
		label      string
		score      float64
		reason     string
	}{
		{"10", []string{"10"}, "similar", 1, "cosine 1.0000 with the reference, pass mark 0.75"},
		{"0", []string{"60"}, "different", .5, "cosine 0.5000 with the reference, below the pass mark 0.75"},
		{"0", []string{"60", "20", "90"}, "similar", .9396926, "cosine 0.9397 with reference 2 of 3, pass mark 0.75"},
		{"0", []string{"120"}, "different", 0, "cosine -0.5000 with the reference, below the pass mark 0.75"},
		{"", []string{"90"}, "similar", 1, "cosine 1.0000 with the reference, pass mark 0.75"},
	} {
		v, err := rule.Semantic(embedder(angles)).Judge(t.Context(), deem.Item{References: tt.references, Response: tt.response})
		if err != nil || v.Label != tt.label || math.Abs(v.Score-tt.score) > 1e-6 || v.Reason != tt.reason {
			t.Errorf("semantic of %q with %q = %+v, %v, want %s %v %q", tt.response, tt.references, v, err, tt.label, tt.score, tt.reason)
			continue
		}
		if v.Pass == nil || *v.Pass != (tt.label == "similar") {
			t.Errorf("semantic of %q: label %s and pass %v disagree", tt.response, v.Label, v.Pass)
		}
	}
}

// TestSemanticKeepsTheSign checks that clamping the score loses nothing.
func TestSemanticKeepsTheSign(t *testing.T) {
	v, err := rule.Semantic(embedder(angles)).Judge(t.Context(), deem.Item{References: []string{"180"}, Response: "0"})
	if err != nil || v.Score != 0 || math.Abs(v.Aspects["cosine"]+1) > 1e-6 {
		t.Errorf("verdict on the opposite = %+v, %v, want score 0 and cosine -1", v, err)
	}
}

func TestSemanticPass(t *testing.T) {
	it := deem.Item{References: []string{"60"}, Response: "0"}
	for mark, want := range map[float64]string{.4999: "similar", .51: "different", 0: "similar", 1: "different"} {
		v, err := withPass(t, rule.Semantic(embedder(angles)), mark).Judge(t.Context(), it)
		if err != nil || v.Label != want {
			t.Errorf("with pass mark %v: %+v, %v, want %s", mark, v, err, want)
		}
	}
	// The mark is inclusive, and every negative cosine has the score 0.
	v, err := withPass(t, rule.Semantic(embedder(angles)), 0).Judge(t.Context(), deem.Item{References: []string{"120"}, Response: "0"})
	if err != nil || v.Score != 0 || v.Label != "similar" {
		t.Errorf("score 0 with pass mark 0: %+v, %v, want similar", v, err)
	}
	for _, mark := range []float64{-.1, 1.1, math.NaN()} {
		if _, err := rule.WithPass(rule.Semantic(embedder(angles)), mark); err == nil {
			t.Errorf("WithPass(semantic, %v) has no error", mark)
		}
	}
	if _, err := rule.WithPass(rule.Exact(), .5); !strings.Contains(deem.HintOf(err), "semantic") {
		t.Errorf("hint %q does not name semantic among the graded", deem.HintOf(err))
	}
}

// TestSemanticIdentity checks that a different embedder or pass mark is a different judge.
func TestSemanticIdentity(t *testing.T) {
	const want = `{"kind":"rule","name":"semantic","options":{"embedder":"test:1"},"pass":0.75,"version":1}`
	id, ok := rule.Semantic(embedder(angles)).(deem.Identified)
	if !ok {
		t.Fatal("semantic does not say what it is")
	}
	got, err := deem.Canonical(id.Identity())
	if err != nil || string(got) != want {
		t.Errorf("identity = %s, %v, want %s", got, err, want)
	}
	one, _ := deem.JudgeHash(rule.Semantic(embedder(angles)))
	two, _ := deem.JudgeHash(withPass(t, rule.Semantic(embedder(angles)), .8))
	none, _ := deem.JudgeHash(rule.Semantic(nil))
	if one == two || one == none {
		t.Errorf("hashes %s, with another mark %s, without an embedder %s", one, two, none)
	}
}

func TestSemanticNamed(t *testing.T) {
	if !slices.Contains(rule.Names(), "semantic") {
		t.Errorf("Names() = %q, without semantic", rule.Names())
	}
	it := deem.Item{References: []string{"1"}, Response: "1"}
	for _, name := range rule.Names() {
		j, ok := rule.Named(name)
		if rule.NeedsEmbedder(name) {
			j = rule.Semantic(embedder(angles))
		}
		if !ok || j.Name() != name {
			t.Errorf("Named(%q) = %v, %t", name, j, ok)
			continue
		}
		if _, err := j.Judge(t.Context(), it); err != nil {
			t.Errorf("%s with an embedder: %v", name, err)
		}
		if got, want := rule.NeedsEmbedder(name), name == "semantic"; got != want {
			t.Errorf("NeedsEmbedder(%q) = %t, want %t", name, got, want)
		}
	}
}

// TestSemanticWithoutEmbedder checks that a missing embedder ends the run with a hint,
// instead of failing every item.
func TestSemanticWithoutEmbedder(t *testing.T) {
	j, _ := rule.Named("semantic")
	_, err := j.Judge(t.Context(), deem.Item{References: []string{"a"}, Response: "a"})
	if _, isFailure := errors.AsType[*deem.Failure](err); err == nil || isFailure || deem.HintOf(err) == "" {
		t.Errorf("error %v with hint %q, want one that ends the run and has a hint", err, deem.HintOf(err))
	}
}

// TestSemanticDocWarns checks that the description states the limits of the score.
func TestSemanticDocWarns(t *testing.T) {
	for _, want := range []string{`"3" from "4"`, `"allergic" from "not allergic"`, ".95", "AUC .80 against .94"} {
		if !strings.Contains(rule.Doc("semantic"), want) {
			t.Errorf("Doc(semantic) = %q, without %s", rule.Doc("semantic"), want)
		}
	}
}

func TestSemanticErrors(t *testing.T) {
	plain := errors.New("no weights")
	for _, tt := range []struct {
		name string
		err  error
		want *deem.Failure // nil if the run ends
	}{
		{"of one text", &deem.ModelError{Err: errors.New("too long")}, &deem.Failure{Kind: deem.Provider, Detail: "too long"}},
		{"of a kind", &deem.ModelError{Kind: deem.Timeout, Err: errors.New("late")}, &deem.Failure{Kind: deem.Timeout, Detail: "late"}},
		{"wrapped", fmt.Errorf("embed: %w", &deem.ModelError{Status: 400, Err: errors.New("no")}), &deem.Failure{Kind: deem.Provider, Detail: "HTTP 400: no"}},
		{"fatal", &deem.ModelError{Fatal: true, Err: errors.New("bad key")}, nil},
		{"of the embedder", plain, nil},
	} {
		j := rule.Semantic(embedder(func(string) ([]float32, error) { return nil, tt.err }))
		_, err := j.Judge(t.Context(), deem.Item{References: []string{"a"}})
		got, _ := errors.AsType[*deem.Failure](err)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("an error %s (-want +got):\n%s", tt.name, diff)
		}
		if tt.want == nil && !errors.Is(err, tt.err) {
			t.Errorf("an error %s became %v", tt.name, err)
		}
	}
}

// TestSemanticInterrupted checks that an interruption is not a failure of the item.
func TestSemanticInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	j := rule.Semantic(embedder(func(string) ([]float32, error) {
		cancel()
		return nil, &deem.ModelError{Kind: deem.Timeout, Err: context.Canceled}
	}))
	_, err := j.Judge(ctx, deem.Item{References: []string{"a"}})
	if _, isFailure := errors.AsType[*deem.Failure](err); isFailure || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

// TestSemanticBadVectors uses vectors that have no cosine.
func TestSemanticBadVectors(t *testing.T) {
	nan := float32(math.NaN())
	for _, vectors := range [][][]float32{
		{{0, 0}, {1, 0}},
		{{1, 0}, {nan, 0}},
		{{1, 0}, {1, 0, 0}},
		{{}, {}},
	} {
		n := 0
		j := rule.Semantic(embedder(func(string) ([]float32, error) { n++; return vectors[n-1], nil }))
		v, err := j.Judge(t.Context(), deem.Item{References: []string{"a"}})
		if f, ok := errors.AsType[*deem.Failure](err); !ok || f.Kind != deem.Provider || f.Detail == "" {
			t.Errorf("vectors %v: %+v, %v, want a failure of kind provider", vectors, v, err)
		}
	}
	_, err := rule.Semantic(short{}).Judge(t.Context(), deem.Item{References: []string{"a"}})
	if _, isFailure := errors.AsType[*deem.Failure](err); err == nil || isFailure {
		t.Errorf("one vector for two texts: %v, want an error that ends the run", err)
	}
}

// short is an embedder that drops a text.
type short struct{}

func (short) Name() string { return "short" }

func (short) Embed(context.Context, []string) ([][]float32, error) { return [][]float32{{1}}, nil }

// TestSemanticProperties checks properties that hold for all vectors.
func TestSemanticProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(rt, "length")
		part := rapid.SliceOfN(rapid.Float32Range(-1e3, 1e3), n, n)
		a, b := part.Draw(rt, "a"), part.Draw(rt, "b")
		j := rule.Semantic(embedder(func(text string) ([]float32, error) {
			return map[string][]float32{"a": a, "b": b}[text], nil
		}))
		ab, err := j.Judge(t.Context(), deem.Item{Response: "a", References: []string{"b"}})
		if bad := validVerdict(ab, nil); err == nil && bad != "" {
			rt.Fatalf("%v and %v: %s", a, b, bad)
		}
		ba, errBA := j.Judge(t.Context(), deem.Item{Response: "b", References: []string{"a"}})
		if ab.Score != ba.Score || (err == nil) != (errBA == nil) {
			rt.Fatalf("%v and %v: %v, the other way round %v", a, b, ab.Score, ba.Score)
		}
		if aa, err := j.Judge(t.Context(), deem.Item{Response: "a", References: []string{"a"}}); err == nil && math.Abs(aa.Score-1) > 1e-9 {
			rt.Fatalf("%v with itself: %v", a, aa.Score)
		}
	})
}
