package command

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"time"

	"deem"
	"deem/internal/wire"
	"deem/internal/words"
)

// ServerOptions configure which server is called and how.
type ServerOptions struct {
	hidden
	URL      string            `json:"-"` // may contain a password
	Headers  map[string]string `json:"-"` // sent with each call; secret, because they may contain keys
	Timeout  time.Duration     // of one call; 0 means 2 minutes
	MaxReply int               // maximum bytes of a reply; 0 means 1 MiB
	Proxy    string            `json:"-"` // a URL; "" means the environment's
	CAFile   string            // a PEM file of certificate authorities, trusted in addition to the system's; "" means none
}

type hidden = words.Hidden

// A server is a judge or a model behind HTTP. GET returns its hello. The body of each POST
// is one request without an id, and the answer is the reply. It is safe for concurrent use.
type server struct {
	client *wire.Client
	target wire.Target
	hello  hello
}

var _ deem.Tuned = (*server)(nil)

// Dial requests the server's hello.
func Dial(ctx context.Context, o ServerOptions) (deem.Model, error) {
	base, err := wire.ParseBase(o.URL, "http://127.0.0.1:8000/judge")
	if err != nil {
		return nil, err
	}
	if o.MaxReply <= 0 {
		o.MaxReply = defaultMaxReply
	}
	client, err := wire.New(wire.Options{
		Vendor: "http", Base: base, Headers: o.Headers, Timeout: o.Timeout, MaxReply: o.MaxReply, Proxy: o.Proxy, CAFile: o.CAFile,
	})
	if err != nil {
		return nil, err
	}
	s := &server{client: client, target: base.To("")}
	a, err := client.Get(ctx, s.target)
	if err == nil && !a.OK() {
		err = client.StatusError(a)
	}
	if err == nil {
		s.hello, err = parseHello(a.Text)
	}
	if err != nil {
		return nil, deem.WithHint(fmt.Errorf("ask %s for its hello: %w", client.Endpoint(), err), "%s",
			cmp.Or(deem.HintOf(err), "GET of this address must return the hello as JSON"))
	}
	return s, nil
}

// Name returns "http:" and the name in the hello, or the address. A server with a name is
// the same wherever it runs.
func (s *server) Name() string {
	if s.hello.Name != "" {
		return "http:" + s.hello.Name
	}
	return s.client.Endpoint()
}

// Settings returns the version in the hello.
func (s *server) Settings() string { return s.hello.settings(url.Values{}) }

// Complete calls the server.
func (s *server) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if err := s.hello.check(req); err != nil {
		return deem.Reply{}, deem.WithHint(&deem.ModelError{Kind: deem.Provider, Fatal: true, Err: fmt.Errorf("%s: %w", s.Name(), err)}, "%s", deem.HintOf(err))
	}
	body, err := encode(0, req)
	if err != nil {
		return deem.Reply{}, bad(deem.Input, "%v", err)
	}
	var object object
	a, err := s.client.Complete(ctx, s.target, req, body)
	if err := s.client.Read(a, err, &object); err != nil {
		return deem.Reply{}, err
	}
	return parseReply(s.hello.Kind, object)
}

// Close closes idle connections.
func (s *server) Close() error { return s.client.Close() }
