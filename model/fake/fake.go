// Package fake provides models that make no calls: for our tests, for users' tests, and for
// trying deem without a key.
//
// A fake is named by a spec, which follows "fake:" on the command line:
//
//	say=yes                  always says yes
//	labels=yes|no?p=0.8      says yes to about four prompts of five
//	mixed?latency=50ms       some of everything, each after 50 ms
//
// [Names] lists them all. The reply of a fake depends only on the prompt, so the same run
// gives the same records.
package fake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deem"
)

// A Name is a kind of fake with its description.
type Name struct {
	Spec string // as written after "fake:"
	Doc  string // one line
}

// Names returns the available fakes.
func Names() []Name {
	names := make([]Name, len(kinds))
	for i, k := range kinds {
		names[i] = Name{Spec: k.spec, Doc: k.doc}
	}
	return names
}

// Func returns a model that answers with the given function.
func Func(name string, complete func(ctx context.Context, req deem.Request) (deem.Reply, error)) deem.Model {
	return funcModel{name: name, complete: complete}
}

type funcModel struct {
	name     string
	complete func(ctx context.Context, req deem.Request) (deem.Reply, error)
}

func (f funcModel) Name() string { return f.name }

func (f funcModel) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if err := ctx.Err(); err != nil {
		return deem.Reply{}, err
	}
	return f.complete(ctx, req)
}

// New returns the fake for a spec. The prefix "fake:" is optional.
func New(spec string) (deem.Model, error) {
	f, err := parse(spec)
	if err != nil {
		return nil, fmt.Errorf("fake model %q: %w", spec, err)
	}
	return f, nil
}

// A model is a fake made from a spec.
type model struct {
	name   string
	kind   kind
	text   string   // the part after = in the spec
	labels []string // text split at |
	mods   modifiers
}

var _ deem.Model = (*model)(nil)

// Name returns "fake:" and the spec.
func (f *model) Name() string { return f.name }

// Complete answers according to the spec, after its latency.
func (f *model) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if err := ctx.Err(); err != nil {
		return deem.Reply{}, err
	}
	if f.mods.latency > 0 {
		t := time.NewTimer(f.mods.latency)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return deem.Reply{}, ctx.Err()
		}
	}
	reply, err := f.kind.answer(ctx, f, req)
	if err != nil {
		return deem.Reply{}, err
	}
	reply.Stop = cmp.Or(reply.Stop, deem.StopEnd)
	reply.Model = f.name
	reply.Attempts = 1
	// The usage is that of the spec, or one token per four bytes.
	reply.Usage = deem.Usage{Input: f.mods.input, Output: f.mods.output}
	if !f.mods.tokens {
		size := 0
		for _, m := range req.Messages {
			size += len(m.Content)
		}
		reply.Usage = deem.Usage{Input: (size + 3) / 4, Output: (len(reply.Text) + len(reply.Refusal) + 3) / 4}
	}
	return reply, nil
}

// chance returns a number from 0 up to 1 that depends on the prompt, and on the trial if
// trials vary. Different salts give unrelated numbers.
func (f *model) chance(req deem.Request, salt uint64) float64 {
	x := scramble(salt)
	for _, m := range req.Messages {
		x = absorb(x, m.Role)
		x = absorb(x, m.Content)
	}
	if f.mods.vary {
		x = scramble(x ^ uint64(req.Trial)) //nolint:gosec // trials are not negative
	}
	return float64(x>>11) / (1 << 53)
}

// absorb mixes a string and its length into x. It is our own hash because those of the
// standard library are too slow for a million prompts, copy the string, or differ between
// processes.
func absorb(x uint64, s string) uint64 {
	x ^= uint64(len(s))
	for len(s) >= 8 {
		// The compiler combines this into one load.
		word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		x = (x ^ word) * 0x9e3779b97f4a7c15
		x ^= x >> 32
		s = s[8:]
	}
	for i := range len(s) {
		x = (x ^ uint64(s[i])) * 0x9e3779b97f4a7c15
		x ^= x >> 32
	}
	return scramble(x)
}

// scramble spreads the bits of x over all of the result. It is the finalizer of the
// SplitMix64 generator by Steele, Lea and Flood (2014).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// prompt returns the content of the last user message.
func prompt(req deem.Request) string {
	for _, m := range slices.Backward(req.Messages) {
		if m.Role == "user" {
			return m.Content
		}
	}
	return ""
}

// errFake is wrapped by the errors of a fake.
var errFake = errors.New("the fake model was told to fail")
