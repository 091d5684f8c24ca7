package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net"
	"net/http"
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

	// API configures the HTTP API.
	API API

	// Queue passes runs to workers; nil if there are none.
	Queue Queue

	// ReadOnly refuses all changes.
	ReadOnly bool

	Title   string       // of the site; "" means "deem"
	Version string       // of deem, shown at the foot of the pages
	Logger  *slog.Logger // nil means slog.Default
}

// A Server serves the web pages and the HTTP API. [Server.Close] ends its background work.
type Server struct {
	store   store.Database
	title   string
	version string
	log     *slog.Logger

	queue    Queue
	api      API
	models   *models
	spool    *spool
	jobs     *runJobs
	router   *http.ServeMux
	readOnly bool
	static   bool // the pages are written to files

	assets  *assets
	pages   map[string]*template.Template
	guard   *guard
	reports *reportCache
	indexer *indexer
	facets  *facets
	bench   *bench
	streams chan struct{} // a slot for each page that watches a run
	poll    time.Duration // the interval at which a watched run is read

	labelling *labelling

	// background ends with the server. Work started by one request may serve others
	// after that request has ended, so it does not use the context of the request.
	background context.Context
	stop       context.CancelFunc

	handler http.Handler
}

// New returns a server for the runs in a store.
func New(o Options) (*Server, error) {
	if o.Store == nil {
		return nil, errors.New("a server needs a store")
	}
	s := &Server{
		store: o.Store, title: cmp.Or(o.Title, "deem"), version: o.Version,
		log: cmp.Or(o.Logger, slog.Default()), queue: o.Queue,
	}
	var err error
	if s.assets, err = newAssets(); err != nil {
		return nil, err
	}
	if s.pages, err = s.parseTemplates(); err != nil {
		return nil, err
	}
	s.guard = newGuard(o.Token, o.BehindProxy)
	s.background, s.stop = context.WithCancel(context.Background())
	s.reports = newReports(s.background, o.Store)
	s.indexer = newIndexer(s.background, o.Store, s.log)
	s.facets, s.streams, s.poll = newFacets(), make(chan struct{}, maxStreams), pollEvery
	s.bench, s.labelling = newBench(s.background), newLabelling()
	if err := s.openAPI(o); err != nil {
		s.stop()
		return nil, err
	}
	s.router = s.mux()
	s.handler = s.wrap(s.router)
	return s, nil
}

// Handler returns the HTTP handler of the server.
func (s *Server) Handler() http.Handler { return s.handler }

// Close ends the background work of the server and waits for it. The store stays open. Runs
// that are being judged start no new items; calls in flight have ten seconds to finish, or
// less if [Server.Kill] is called.
func (s *Server) Close() {
	s.stop()
	s.jobs.close()
	s.reports.wait()
	s.indexer.wait()
	s.bench.wait()
}

// The timeouts and limits of a connection. Streamed answers extend the write timeout as they
// proceed.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = time.Minute
	writeTimeout  = time.Minute
	idleTimeout   = 2 * time.Minute
	graceTimeout  = 5 * time.Second
	maxHeader     = 64 << 10
)

// Serve answers requests on a listener until ctx is done. Then it accepts no new requests,
// gives those in progress a few seconds to finish, and closes the server. It returns an
// error if the address requires a token and there is none.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer s.Close()
	if err := CheckListen(l.Addr().String(), s.guard.token); err != nil {
		return errors.Join(err, l.Close())
	}
	hs := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
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
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTimeout)
	defer cancel()
	err := hs.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = hs.Close()
	}
	<-failed
	return err
}
