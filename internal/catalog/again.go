package catalog

import (
	"context"
	"encoding/json"

	"deem"
	"deem/internal/findings"
	"deem/internal/store"
	"deem/judge"
	"deem/model"
	"deem/report/errata"
)

// Again returns the judge of a run as far as it costs nothing to ask it again: a rule,
// or a protocol whose model is what the store has of its replies. It returns nil for a
// rule that needs more than its name, as a model of embeddings.
func Again(st store.Store, run store.Run, set findings.Settings) (deem.Judge, error) {
	if run.Judge.Rule {
		return Rule(run, set), nil
	}
	p, err := findings.Protocol(run)
	if err != nil || p == nil {
		return nil, err
	}
	m := memoryOf(run)
	return &recalling{judge.New(p, model.Cache(m, st, model.CacheOptions{})), m}, nil
}

// Memory returns a model with name, endpoint and settings of the one that a run asked. It
// never says anything; a judge that is made with it has the hash of that of the run.
func Memory(run store.Run) deem.Model { return memoryOf(run) }

func memoryOf(run store.Run) *memory {
	var id struct {
		Settings string `json:"settings"`
	}
	_ = json.Unmarshal(run.Judge.Identity, &id) // A judge without an identity has no settings either.
	return &memory{name: run.Model, endpoint: run.Endpoint, settings: id.Settings}
}

// A memory is a model that says nothing new. Behind a cache it stands for the model
// whose replies the cache holds, and remembers that it was asked for one that is not
// there.
type memory struct {
	name, endpoint, settings string
	asked                    bool
}

var _ deem.Tuned = (*memory)(nil)

func (m *memory) Name() string     { return m.name }
func (m *memory) Endpoint() string { return m.endpoint }
func (m *memory) Settings() string { return m.settings }

func (m *memory) Complete(context.Context, deem.Request) (deem.Reply, error) {
	m.asked = true
	return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Err: errata.ErrUnasked}
}

// recalling is a judge that asks a memory.
type recalling struct {
	inside *judge.Judge
	memory *memory
}

func (r *recalling) Name() string { return r.inside.Name() }

// Judge returns the verdict that a reply from before gives.
func (r *recalling) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	r.memory.asked = false
	v, err := r.inside.Judge(ctx, it)
	if r.memory.asked {
		return deem.Verdict{}, errata.ErrUnasked
	}
	return v, err
}
