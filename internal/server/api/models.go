package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"deem"
	"deem/internal/catalog"
	"deem/internal/model"
	"deem/internal/money"
	"deem/internal/server"
	"deem/internal/usage"
	"deem/internal/vendors"
	"deem/judge"
)

// defaultJudge is the judge used if a client names none. It is the default of commands too.
const defaultJudge = "match"

// fakePrefix is the prefix of models that exist for tests. Clients may not use them: one of
// them hangs until it is interrupted, and all of them occupy a slot.
const fakePrefix = "fake:"

// models holds the models that clients may use. All runs that use the same model share its
// limits.
type models struct {
	options Options
	limit   model.LimitOptions

	names  []string
	opened map[string]deem.Model
	total  *money.Budget // shared by all runs; nil if there is no limit
}

// limited wraps wire with the timeout, telemetry and limits that all runs share. The timeout
// is that configured for the model, or 0.
func (ms *models) limited(wire deem.Model, timeout time.Duration) deem.Model {
	wire = timed{wire, max(cmp.Or(ms.options.CallTimeout, callTimeout), timeout)}
	return model.Shared(ms.options.Telemetry.Wire(wire), model.Options{Prices: ms.options.Prices, Limit: ms.limit})
}

// callTimeout is the default timeout of a call. It is longer than the timeout of any
// vendor's package.
const callTimeout = 15 * time.Minute

// timed is a model that applies a timeout to every call of the inner model.
type timed struct {
	inner deem.Model
	limit time.Duration
}

var _ deem.Model = timed{}

// Name returns the name of the inner model.
func (m timed) Name() string { return m.inner.Name() }

// Unwrap returns the inner model.
func (m timed) Unwrap() deem.Model { return m.inner }

// Complete calls the inner model.
func (m timed) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	call, cancel := context.WithTimeout(ctx, m.limit)
	defer cancel()
	reply, err := m.inner.Complete(call, req)
	if err != nil && call.Err() != nil && ctx.Err() == nil {
		return reply, &deem.ModelError{Kind: deem.Timeout, Passing: true, Billed: true, Err: fmt.Errorf("no answer within %v", m.limit)}
	}
	return reply, err
}

// open returns the named model for a judge. Only the models that the operator configured
// are allowed, since calls use the server's keys.
func (ms *models) open(judge, name string) (deem.Model, error) {
	if name == "" && len(ms.names) > 0 {
		name = ms.names[0]
	}
	if name == "" {
		return nil, usage.Mark(deem.WithHint(fmt.Errorf("judge %s asks a model, and this server has none", judge),
			"use a rule, such as match, or start the server with a model: deem serve --model openai:gpt-4o-mini"))
	}
	if m, ok := ms.opened[name]; ok {
		return m, nil
	}
	if strings.HasPrefix(name, fakePrefix) && ms.options.Fakes {
		wire, err := ms.options.Env.Open(vendors.Options{Name: name})
		if err != nil {
			return nil, err
		}
		return ms.limited(wire, 0), nil
	}
	if strings.HasPrefix(name, fakePrefix) {
		return nil, server.WithStatus(http.StatusForbidden, deem.WithHint(fmt.Errorf("a server does not ask %q: fake models are for the command line and for tests", name),
			"use it on the command line: deem run --data FILE --model %s", name))
	}
	err := fmt.Errorf("this server does not ask %q", name)
	if len(ms.names) > 0 {
		return nil, server.WithStatus(http.StatusForbidden, deem.WithHint(err, "this server asks %s only; its operator chooses the models", strings.Join(ms.names, ", ")))
	}
	return nil, server.WithStatus(http.StatusForbidden, deem.WithHint(err, "start the server with it: deem serve --model %s", name))
}

// judging returns the judge that a client selected, with its model.
func (s *Server) judging(sub submission) (catalog.Choice, error) {
	c, err := s.choice(sub)
	if err != nil {
		return c, err
	}
	var models []deem.Model
	for _, l := range c.Leaves() {
		m, err := s.models.open(l.Name(), cmp.Or(l.Spec.Model, sub.Model))
		if err != nil {
			return c, err
		}
		models = append(models, m)
	}
	if len(models) == 0 && sub.Model != "" {
		return c, usage.Mark(deem.WithHint(fmt.Errorf("%s is a rule and asks no model", c.Name()), "leave model out, or choose a judge that asks a model, such as grade"))
	}
	return c.WithModels(models), nil
}

// choice returns the judge of a submission. It accepts only declarations and names of known
// judges, so that a client cannot make the server open a file.
func (s *Server) choice(sub submission) (catalog.Choice, error) {
	known := catalog.JudgeNames()
	if sub.Declaration == "" {
		name := cmp.Or(sub.Judge, defaultJudge)
		if sub.Judge == "" && sub.Model != "" {
			name = "grade" // as the command chooses
		}
		if !slices.Contains(known, name) && !catalog.KnownRule(name) {
			return catalog.Choice{}, usage.Mark(usage.Unknown("judge", name, known))
		}
		o := catalog.JudgeOptions{Reading: sub.Reading, Embedder: s.options.Embedder}
		return catalog.Choose(name, o, false)
	}
	text := []byte(sub.Declaration)
	if _, ok, _ := catalog.ParseComposition(declarationName, text); ok {
		return catalog.Choice{}, usage.Mark(deem.WithHint(errors.New("a judge that consists of others cannot be sent"),
			"send the declaration of one judge, or use the file on the command line: deem run --data FILE --judge FILE"))
	}
	d, err := judge.Parse(declarationName, text, func(name string) ([]byte, error) {
		return nil, fmt.Errorf("the prompt cannot be in a file (%s): write it into the declaration", name)
	})
	if err != nil {
		return catalog.Choice{}, usage.Mark(err)
	}
	if slices.Contains(known, d.Name) {
		return catalog.Choice{}, usage.Mark(deem.WithHint(fmt.Errorf("the name %q belongs to a judge that comes with deem", d.Name), "choose another name, such as %q", "my-"+d.Name))
	}
	return catalog.Declared(d, sub.Reading)
}

// declarationName replaces the file name in errors about a declaration.
const declarationName = "declaration"
