package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"deem"
)

// A recorder is a model that records the replies of another.
type recorder struct {
	inner deem.Model

	mu sync.Mutex
	w  io.Writer
}

var _ deem.Model = (*recorder)(nil)

// Recorder returns a model that writes a line to w for each reply of m, in the format that
// [Open] reads. Each line is written whole, one at a time, so w need not be safe for
// concurrent use. It belongs outside all other decorators, where it sees each request once.
//
// If a reply cannot be written, the error stops the run: a recording must be complete.
func Recorder(m deem.Model, w io.Writer) deem.Model {
	return &recorder{inner: m, w: w}
}

// Name returns the name of the model inside.
func (r *recorder) Name() string { return r.inner.Name() }

// Unwrap returns the model inside.
func (r *recorder) Unwrap() deem.Model { return r.inner }

// Complete calls the model inside and records its reply.
func (r *recorder) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	reply, err := r.inner.Complete(ctx, req)
	if err != nil {
		return reply, err
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err = enc.Encode(line{Request: req.Hash(), Reply: &reply}); err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		_, err = r.w.Write(buf.Bytes())
	}
	if err != nil {
		return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Fatal: true, Err: fmt.Errorf("record reply: %w", err)}
	}
	return reply, nil
}
