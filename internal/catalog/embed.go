package catalog

import (
	"context"
	"errors"
	"time"

	"deem"
	"deem/internal/minilm"
	"deem/internal/model"
	"deem/internal/usage"
	"deem/internal/vendors"
	"deem/judge/rule"
)

// OpenEmbedder opens the embedder named by --embeddings: a model on a server as
// vendor:name, or a folder with the files of a sentence model. around adds the decorators
// of a server's model, so that it gets the same retries and limits as a judge's model.
func OpenEmbedder(e vendors.Environment, name string, at vendors.Options, around func(rule.Embedder) (rule.Embedder, error)) (rule.Embedder, error) {
	if name == "" {
		return nil, nil
	}
	if !e.IsServed(name) {
		m, err := minilm.Open(name)
		if err != nil {
			return nil, usage.Mark(err)
		}
		return m, nil
	}
	at.Name = name
	m, err := e.Open(at)
	if err != nil {
		return nil, err
	}
	embedder, ok := m.(rule.Embedder)
	if !ok {
		return nil, usage.Errorf("%s gives no embeddings", name)
	}
	return around(embedder)
}

// An Embedding is an embedder with the decorators of a model. See [Embed].
type Embedding struct {
	model deem.Model
}

var _ rule.Embedder = (*Embedding)(nil)

// Embed returns an embedder that calls e with the retries, limit, meter, budget and breaker
// that [model.Assemble] puts around a model. There is no cache: vectors are larger than
// their texts, and cheap.
//
// Each call is added to the ledger of the item, so that its cost is stored with the run.
// Embedders do not report token counts, so the cost is an estimate.
func Embed(e rule.Embedder, o model.Options) *Embedding {
	o.Cache.Off = true
	return &Embedding{model: model.Assemble(embedWire{e}, o)}
}

// Name returns the name of the embedder inside.
func (e *Embedding) Name() string { return e.model.Name() }

// Model returns the decorated model, whose calls [model.TotalsOf] counts.
func (e *Embedding) Model() deem.Model { return e.model }

// Embed returns a vector for each text.
func (e *Embedding) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	// A call for embeddings passes through the decorators as a request with one message per
	// text. The vectors do not fit into a reply, so they come back in the context.
	req := EmbedRequest(texts)
	req.Trial = deem.TrialOf(ctx)
	job := &embedJob{texts: texts}
	call := deem.Call{Model: e.Name(), Request: req.Hash(), Started: time.Now().UTC()}
	reply, err := e.model.Complete(context.WithValue(ctx, embedKey{}, job), req)
	if err == nil {
		call.Reply = &reply
		deem.NoteCall(ctx, call)
		return job.vectors, nil
	}
	if me, ok := errors.AsType[*deem.ModelError](err); ok && ctx.Err() == nil {
		call.Error, call.Attempts = me.Error(), me.Attempts
		deem.NoteCall(ctx, call)
	}
	return nil, err
}

// EmbedRequest returns a call for embeddings as decorators see it, with one message per
// text, to compute its cost before it is made.
func EmbedRequest(texts []string) deem.Request {
	req := deem.Request{Messages: make([]deem.Message, len(texts)), MaxTokens: 1}
	for i, text := range texts {
		req.Messages[i].Content = text
	}
	return req
}

// An embedJob is the texts to embed and the result.
type embedJob struct {
	texts   []string
	vectors [][]float32
}

type embedKey struct{}

// An embedWire adapts an embedder to a model.
type embedWire struct{ inner rule.Embedder }

// Name returns the name of the embedder.
func (w embedWire) Name() string { return w.inner.Name() }

// Complete embeds the texts of the job in ctx.
func (w embedWire) Complete(ctx context.Context, _ deem.Request) (deem.Reply, error) {
	job := ctx.Value(embedKey{}).(*embedJob) // only Embed makes such calls
	vectors, err := w.inner.Embed(ctx, job.texts)
	if err != nil {
		return deem.Reply{}, err
	}
	job.vectors = vectors
	return deem.Reply{Stop: deem.StopEnd}, nil
}
