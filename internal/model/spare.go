package model

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"sync"

	"deem"
)

// A paramFilter model drops parameters that the vendor does not support. See newParamFilter.
type paramFilter struct {
	decorator

	mu   sync.Mutex
	gone map[string]string // unsupported parameters, and the vendor's messages
}

// newParamFilter returns a model that repeats a request without a parameter if m reports that the
// vendor does not support it and the request lists it as optional. Later requests omit it
// from the start. The reply says what was dropped and why.
func newParamFilter(m deem.Model) deem.Model {
	return &paramFilter{decorator: decorator{m}, gone: map[string]string{}}
}

// Complete calls the model inside.
func (s *paramFilter) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if len(req.Optional) == 0 {
		return s.inner.Complete(ctx, req)
	}
	for {
		asked, gone := s.without(req)
		reply, err := s.inner.Complete(ctx, asked)
		if err == nil && len(gone) > 0 {
			v, err := url.ParseQuery(reply.Dropped)
			if err != nil {
				v = url.Values{}
			}
			for param, why := range gone {
				v.Set(param, why)
			}
			reply.Dropped = v.Encode()
		}
		if err == nil {
			return reply, nil
		}
		me, ok := errors.AsType[*deem.ModelError](err)
		if !ok || !me.Unsupported || !slices.Contains(req.Optional, me.Param) || gone[me.Param] != "" {
			return deem.Reply{}, err
		}
		s.mu.Lock()
		s.gone[me.Param] = "the server rejected it: " + me.Error()
		s.mu.Unlock()
	}
}

// without returns req without the parameters known to be unsupported, as far as req allows
// it.
func (s *paramFilter) without(req deem.Request) (deem.Request, map[string]string) {
	s.mu.Lock()
	gone := maps.Clone(s.gone)
	s.mu.Unlock()
	maps.DeleteFunc(gone, func(param, _ string) bool { return !slices.Contains(req.Optional, param) })
	for param := range gone {
		switch param {
		case "temperature":
			req.Temperature = nil
		case "top_p":
			req.TopP = nil
		case "seed":
			req.Seed = nil
		case "stop":
			req.Stop = nil
		case "max_tokens":
			req.MaxTokens = 0
		case "json":
			req.JSON = false
		case "schema":
			req.Schema = nil
		case "top_logprobs":
			req.TopLogprobs = 0
		}
	}
	return req, gone
}
