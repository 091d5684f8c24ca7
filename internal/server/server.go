package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"deem/internal/store"
)

// Options are the options of a server.
type Options struct {
	Store store.Database

	// Token is the token that clients must send. If it is "", none is needed, and only
	// requests to localhost are answered.
	Token string

	// BehindProxy means that all requests come through a proxy that names the client in
	// X-Forwarded-For. Wrong tokens are then counted per client.
	BehindProxy bool

	// ReadOnly refuses all changes.
	ReadOnly bool

	Version string       // of deem
	Logger  *slog.Logger // nil means slog.Default
}

// A Server checks requests and passes them to its parts: the HTTP API and the pages.
// [Server.Close] ends its background work.
type Server struct {
	Options
	Guard *Guard
	Index *Indexer
	Mux   *http.ServeMux // the routes of all parts, without the checks of requests

	// Background ends with the server. Work started by one request may serve others
	// after that request has ended, so it does not use the context of the request.
	Background context.Context //nolint:containedctx // It belongs to the server and not to a request.
	stop       context.CancelFunc

	parts []Part
	ended ended
}

// New returns a server for the runs in a store. [Server.Add] adds what it answers.
func New(o Options) (*Server, error) {
	if o.Store == nil {
		return nil, errors.New("a server needs a store")
	}
	o.Logger = cmp.Or(o.Logger, slog.Default())
	s := &Server{Options: o, Guard: newGuard(o.Token, o.BehindProxy), Mux: http.NewServeMux(), ended: ended{why: map[string]error{}}}
	s.Background, s.stop = context.WithCancel(context.Background())
	s.Index = newIndexer(s.Background, o.Store, o.Logger)
	s.Add(Part{Routes: []Route{
		{Pattern: "GET /healthz", Handle: healthz},
		{Pattern: "GET /readyz", Handle: s.readyz},
		{Pattern: "POST /login", Handle: s.login},
		{Pattern: "POST /logout", Handle: s.logout},
	}, Wait: s.Index.wait})
	return s, nil
}

// Close ends the background work of the server and waits for it. The store stays open. Runs
// that are being judged start no new items; calls in flight have ten seconds to finish.
func (s *Server) Close() {
	s.stop()
	for _, p := range slices.Backward(s.parts) { // Calls in flight have a deadline, so the API is first.
		if p.Wait != nil {
			p.Wait()
		}
	}
}

// The timeouts and limits of a connection. Streamed answers extend the write timeout as they
// proceed.
const (
	headerTimeout = 10 * time.Second
	ReadTimeout   = time.Minute
	WriteTimeout  = time.Minute
	idleTimeout   = 2 * time.Minute
	GraceTimeout  = 5 * time.Second
	maxHeader     = 64 << 10
)

// Serve answers requests on a listener until ctx is done. Then it accepts no new requests,
// gives those in progress a few seconds to finish, and closes the server. It returns an
// error if the address requires a token and there is none.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer s.Close()
	if err := CheckListen(l.Addr().String(), s.Token); err != nil {
		return errors.Join(err, l.Close())
	}
	hs := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, ReadTimeout: ReadTimeout,
		WriteTimeout: WriteTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug),
	}
	// Streams do not end by themselves: they end with the background context.
	hs.RegisterOnShutdown(s.stop)
	failed := make(chan error, 1)
	go func() { failed <- hs.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), GraceTimeout)
	defer cancel()
	err := hs.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = hs.Close()
	}
	<-failed
	return err
}
