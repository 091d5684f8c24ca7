package rule

import (
	"context"
	"errors"
	"fmt"
	"math"

	"deem"
)

// An Embedder turns texts into vectors that lie near each other when the texts
// mean something alike. deem/internal/minilm is one that runs on this machine, and
// the model of deem/model/openai asks a server. It must be safe for concurrent
// use.
type Embedder interface {
	// Name identifies the embedder, weights included: two embedders of one name
	// give the same vectors.
	Name() string

	// Embed returns a vector for each text, in their order, all of one length.
	// The error is a *[deem.ModelError], or wraps that of ctx once ctx is done;
	// any other error means that no further text can be embedded.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// semanticPass is the pass mark of the program that this judge follows.
const semanticPass = 0.75

// semanticDoc is printed at the head of each report, so it says what the number is
// worth before anybody sees the number.
const semanticDoc = `the cosine of the embeddings of the response and its best reference; ` +
	`it cannot tell "3" from "4" or "allergic" from "not allergic" (cosine .95), ` +
	`and it agrees with human labels less well than token recall (AUC .80 against .94)`

// semantic scores the angle between two embeddings.
type semantic struct {
	embedder Embedder // nil has the judge explain what it lacks
	pass     float64
}

var _ deem.Identified = (*semantic)(nil)

// Semantic returns the judge "semantic". Its score is the cosine of the embeddings
// of the response and of the reference nearest to it, and 0 where that is
// negative. The label is "similar" when the score reaches the pass mark, 0.75
// unless [WithPass] sets another, and "different" when it does not. The aspect
// "cosine" keeps the sign.
//
// Embeddings know what a text is about and hardly what it says: "You own 3
// instruments" and "You own 4 instruments" have a cosine of .95, and so have "She
// is allergic to peanuts" and its negation. On 300 answers of EVOUNA that people
// have labelled its AUC was .79, where the recall of the reference's words had .93;
// and since it finds a short reference unlike a long response, at its pass mark it
// agreed with people on 40% of them. Set this judge beside others, not in their
// place.
//
// An empty response is embedded as it is, as the published programs do; it has a
// vector like any other text.
func Semantic(e Embedder) deem.Judge { return &semantic{embedder: e, pass: semanticPass} }

// Name returns "semantic".
func (j *semantic) Name() string { return "semantic" }

// Identity returns the name and the version of the rule, the embedder and the pass
// mark.
func (j *semantic) Identity() any {
	if j.embedder == nil {
		return spec(j.Name(), &j.pass, nil)
	}
	return spec(j.Name(), &j.pass, map[string]string{"embedder": j.embedder.Name()})
}

func (j *semantic) withPass(mark float64) deem.Judge {
	return &semantic{embedder: j.embedder, pass: mark}
}

// Judge embeds the response and the references in one call and takes the nearest
// reference.
func (j *semantic) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := ready(ctx, it); err != nil {
		return deem.Verdict{}, err
	}
	if j.embedder == nil {
		return deem.Verdict{}, deem.WithHint(errors.New(`judge "semantic" has no embedder to ask`),
			"name a folder with the files of all-MiniLM-L6-v2, or a server's embedding model")
	}
	vectors, err := j.embed(ctx, append([]string{it.Response}, it.References...))
	if err != nil {
		return deem.Verdict{}, err
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
	return j.verdict(best, which, len(it.References)), nil
}

// embed returns a vector for each text. What is wrong with one text is a failure of
// the item, and what is wrong with the embedder ends the run.
func (j *semantic) embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := j.embedder.Embed(ctx, texts)
	if err != nil {
		return nil, embedFailure(ctx, err)
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("%s gave %d vectors for %d texts", j.embedder.Name(), len(vectors), len(texts))
	}
	return vectors, nil
}

// embedFailure makes a failure of an error that ends the item alone, by the rules
// that hold for a judge with a model.
func embedFailure(ctx context.Context, err error) error {
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || me.Fatal || ctx.Err() != nil {
		return err
	}
	kind := me.Kind
	if kind == "" {
		kind = deem.Provider
	}
	return &deem.Failure{Kind: kind, Detail: me.Error()}
}

// verdict makes a verdict of the cosine with the nearest reference.
func (j *semantic) verdict(c float64, which, of int) deem.Verdict {
	score := min(max(c, 0), 1)
	pass := score >= j.pass
	v := deem.Verdict{
		Label:   "different",
		Score:   score,
		Pass:    &pass,
		Aspects: map[string]float64{"cosine": c},
		Reason:  fmt.Sprintf("cosine %.4f with %s, below the pass mark %v", c, referenceNo(which, of), j.pass),
	}
	if pass {
		v.Label = "similar"
		v.Reason = fmt.Sprintf("cosine %.4f with %s, pass mark %v", c, referenceNo(which, of), j.pass)
	}
	return v
}

// referenceNo names a reference, by its number when there are several.
func referenceNo(which, of int) string {
	if of == 1 {
		return "the reference"
	}
	return fmt.Sprintf("reference %d of %d", which+1, of)
}

// cosine returns the cosine of the angle between a and b. The sums are made in
// float64, so that they add no error to that of the vectors.
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
	// Rounding can carry the cosine of a vector with itself past 1.
	return min(max(c, -1), 1), nil
}
