// Package toy implements the wire format of a server that takes a prompt and returns text.
package toy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"deem"
)

// New returns the model with the given name, behind the server at url.
func New(name, url string) (deem.Model, error) {
	if url == "" {
		return nil, fmt.Errorf("toy:%s needs a server (--base-url)", name)
	}
	return client{name, url}, nil
}

type client struct{ name, url string }

func (c client) Name() string { return "toy:" + c.name }

func (c client) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(req.Messages[len(req.Messages)-1].Content))
	if err != nil {
		return deem.Reply{}, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Err: err, Passing: true}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return deem.Reply{Text: string(text)}, err
}
