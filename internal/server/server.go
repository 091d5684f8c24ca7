// Package server has what the HTTP API (package api) and the web pages (package web) share:
// checks of requests, tokens and sessions, routes, errors, filters of records, and the search
// index. A command makes a [Server], and adds the parts to it.
//
// # Cross-site requests
//
// A request with a method other than GET is rejected unless it comes from one of our pages.
// The server checks the headers in which browsers send the origin, and a form must also
// contain the value of [Guard.CSRF]. Routes under /api/ do not need it, since browsers let
// a foreign page send neither JSON nor an Authorization header without a preflight request.
//
// # Access
//
// Without a token the server accepts only host names of this machine, which prevents DNS
// rebinding. With a token it requires the token everywhere except at /login, /healthz,
// /readyz and the static files. [CheckListen] checks whether a server may listen on an
// address.
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
	s.Add(Part{Routes: []Route{
		{Pattern: "GET /healthz", Handle: healthz},
		{Pattern: "GET /readyz", Handle: s.readyz},
		{Pattern: "POST /login", Handle: s.login},
		{Pattern: "POST /logout", Handle: s.logout},
	}})
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

// APIRoot is the path prefix of this version of the API.
const APIRoot = "/api/v1"

// A HandleFunc answers a request. An error that it returns before it writes anything becomes
// an error response.
type HandleFunc func(w http.ResponseWriter, r *http.Request) error

// A Route is a pattern of [http.ServeMux] with its handler.
type Route struct {
	Pattern string
	Handle  HandleFunc
	MaxBody int64 // of the request, in bytes; 0 means 1 MiB
}

// A Part is a part of a server: the API or the pages.
type Part struct {
	Routes []Route

	// Fail writes the errors of all requests whose path begins with Path, also of those
	// that fail a check of the server.
	Path string
	Fail func(w http.ResponseWriter, r *http.Request, status int, err error)

	Wait func() // waits for background work when the server is closed; nil if there is none
}

// Add adds a part. It is called before the first request.
func (s *Server) Add(p Part) {
	s.parts = append(s.parts, p)
	for _, rt := range p.Routes {
		s.Mux.HandleFunc(rt.Pattern, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, cmp.Or(rt.MaxBody, defaultBody))
			if err := rt.Handle(w, r); err != nil {
				s.fail(w, r, err)
			}
		})
	}
}

// defaultBody is the maximum size of a request body in bytes.
const defaultBody = 1 << 20

// healthz reports that the server is running.
func healthz(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := w.Write([]byte("ok\n"))
	return err
}

// readyz reports whether the store can be reached.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) error {
	for _, err := range s.Store.Runs(r.Context()) {
		if err != nil {
			s.Logger.Error("not ready", "error", err)
			return WithStatus(http.StatusServiceUnavailable, errors.New("the database cannot be reached"))
		}
		break
	}
	return healthz(w, r)
}
