package model

import (
	"context"
	"errors"
	"time"

	"deem"
)

// An Embedder turns texts into vectors, in their order. Package judge/rule has the
// same interface, and says what it promises.
type embedder interface {
	Name() string
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// An Embedding is an embedder with the decorators that a model has. See [Embed].
type Embedding struct {
	model deem.Model
}

var _ embedder = (*Embedding)(nil)

// Embed returns an embedder that asks e with the retries, the limit, the meter, the
// budget and the breaker that [Assemble] puts around a model. There is no cache:
// vectors are larger than the texts that they stand for, and cheap.
//
// Each call is noted in the ledger of the item, so that its cost is kept with the
// run. Embedders do not say how many tokens they counted, so the cost is an estimate:
// see [Meter].
func Embed(e embedder, o Options) *Embedding {
	return &Embedding{model: resilient(embedWire{e}, o)}
}

// Name returns the name of the embedder inside.
func (e *Embedding) Name() string { return e.model.Name() }

// Model returns the decorators, in which [As] finds the meter.
func (e *Embedding) Model() deem.Model { return e.model }

// Embed returns a vector for each text.
func (e *Embedding) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	// A call for embeddings goes through the decorators as a request with a message
	// for each text. The vectors do not fit into a reply, so they come back in the
	// context.
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

// EmbedRequest returns a call for embeddings as decorators see it, with a message for each
// text, to know what it costs before it is made.
func EmbedRequest(texts []string) deem.Request {
	req := deem.Request{Messages: make([]deem.Message, len(texts)), MaxTokens: 1}
	for i, text := range texts {
		req.Messages[i].Content = text
	}
	return req
}

// An embedJob is what is embedded, and what comes of it.
type embedJob struct {
	texts   []string
	vectors [][]float32
}

type embedKey struct{}

// An embedWire is an embedder in the guise of a model.
type embedWire struct{ inner embedder }

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
