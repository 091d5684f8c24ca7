package rule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"deem"
)

// An Embedder converts texts to vectors that are close to each other if the texts have a
// similar meaning. deem/internal/minilm runs locally, and the model of deem/model/openai
// calls a server. It must be safe for concurrent use.
type Embedder interface {
	// Name identifies the embedder and its weights: two embedders with the same name
	// give the same vectors.
	Name() string

	// Embed returns a vector for each text, in order, all of the same length. The error
	// is a *[deem.ModelError], or wraps that of ctx once ctx is done; any other error
	// means that no further text can be embedded.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// semanticPass is the pass mark of the published program.
const semanticPass = 0.75

// semanticDoc is printed at the top of each report, so it states the limits of the score.
const semanticDoc = `the cosine of the embeddings of the response and its best reference; ` +
	`it cannot tell "3" from "4" or "allergic" from "not allergic" (cosine .95), ` +
	`and it agrees with human labels less well than token recall (AUC .80 against .94)`

// semantic scores the cosine of two embeddings.
type semantic struct {
	embedder Embedder // if nil, the judge returns an error that says what is missing
	pass     float64
}

var _ deem.Identified = (*semantic)(nil)

// Semantic returns the judge "semantic". Its score is the cosine of the embeddings of the
// response and the nearest reference, or 0 if that is negative. The label is "similar" if
// the score reaches the pass mark, which is 0.75 unless [WithPass] sets another, and
// "different" otherwise. The aspect "cosine" keeps the sign.
//
// Embeddings represent the topic of a text rather than its statement: "You own 3
// instruments" and "You own 4 instruments" have a cosine of .95, and so do "She is allergic
// to peanuts" and its negation. On 300 human-labelled answers of EVOUNA the AUC was .79,
// versus .93 for the recall of the reference's words. A short reference is unlike a long
// response, so at the pass mark the judge agreed with people on only 40% of them. Use this
// judge in addition to others, not instead of them.
//
// An empty response is embedded unchanged, as in the published programs; it has a vector
// like any other text.
func Semantic(e Embedder) deem.Judge { return &semantic{embedder: e, pass: semanticPass} }

// Name returns "semantic".
func (j *semantic) Name() string { return "semantic" }

// Identity returns the name and version of the rule, the embedder and the pass mark.
func (j *semantic) Identity() any {
	if j.embedder == nil {
		return spec(j.Name(), &j.pass, nil)
	}
	return spec(j.Name(), &j.pass, map[string]string{"embedder": j.embedder.Name()})
}

func (j *semantic) withPass(mark float64) deem.Judge {
	return &semantic{embedder: j.embedder, pass: mark}
}

// Judge embeds the response and the references in one call and uses the nearest reference.
func (j *semantic) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := ready(ctx, it); err != nil {
		return deem.Verdict{}, err
	}
	if j.embedder == nil {
		return deem.Verdict{}, deem.WithHint(errors.New(`judge "semantic" has no embedder to ask`),
			"name a folder with the files of all-MiniLM-L6-v2, or a server's embedding model")
	}
	texts := append([]string{it.Response}, it.References...)
	vectors, err := j.embedder.Embed(ctx, texts)
	me, ok := errors.AsType[*deem.ModelError](err)
	switch {
	case ok && !me.Fatal && ctx.Err() == nil: // It concerns this item alone, as with a model.
		return deem.Verdict{}, &deem.Failure{Kind: cmp.Or(me.Kind, deem.Provider), Detail: me.Error()}
	case err != nil:
		return deem.Verdict{}, err
	case len(vectors) != len(texts):
		return deem.Verdict{}, fmt.Errorf("%s gave %d vectors for %d texts", j.embedder.Name(), len(vectors), len(texts))
	}
	best, which := math.Inf(-1), 0
	for i, v := range vectors[1:] {
		c, err := cosine(vectors[0], v)
		if err != nil {
			return deem.Verdict{}, deem.Failf(deem.Provider, "%s: reference %d: %v", j.embedder.Name(), i+1, err)
		}
		if c > best {
			best, which = c, i
		}
	}
	reference := "the reference"
	if n := len(it.References); n > 1 {
		reference = fmt.Sprintf("reference %d of %d", which+1, n)
	}
	score := min(max(best, 0), 1)
	pass := score >= j.pass
	v := deem.Verdict{
		Label:   "different",
		Score:   score,
		Pass:    &pass,
		Aspects: map[string]float64{"cosine": best},
		Reason:  fmt.Sprintf("cosine %.4f with %s, below the pass mark %v", best, reference, j.pass),
	}
	if pass {
		v.Label = "similar"
		v.Reason = fmt.Sprintf("cosine %.4f with %s, pass mark %v", best, reference, j.pass)
	}
	return v, nil
}

// cosine returns the cosine of the angle between a and b. It sums in float64 to avoid
// further rounding errors.
func cosine(a, b []float32) (float64, error) {
	if len(a) != len(b) {
		return 0, fmt.Errorf("vectors of length %d and %d", len(a), len(b))
	}
	var ab, aa, bb float64
	for i, x := range a {
		x, y := float64(x), float64(b[i])
		ab += x * y
		aa += x * x
		bb += y * y
	}
	c := ab / math.Sqrt(aa*bb)
	if math.IsNaN(c) || math.IsInf(c, 0) {
		return 0, errors.New("an embedding without a direction")
	}
	// Rounding can make the cosine of a vector with itself exceed 1.
	return min(max(c, -1), 1), nil
}
