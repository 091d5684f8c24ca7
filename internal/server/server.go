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

// Options say what a server shows and to whom.
type Options struct {
	Store store.Database

	// Token is what a visitor must know; "" demands nothing, and then only this
	// machine is answered.
	Token string

	// BehindProxy says that all requests come through a proxy, which names the client
	// in X-Forwarded-For. Wrong tokens are then counted by client.
	BehindProxy bool

	// API says what clients of the HTTP API may do.
	API API

	// Queue leaves runs to workers; nil where there are none.
	Queue Queue

	// ReadOnly refuses everything that would change something.
	ReadOnly bool

	Title   string       // of the site; "" means "deem"
	Version string       // of deem, shown at the foot of the pages
	Logger  *slog.Logger // nil means slog.Default
}

// A Server answers requests. [New] makes one; [Server.Close] ends what it does in the
// background.
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
	streams chan struct{} // one for each page that watches a run
	poll    time.Duration // how often it looks

	labelling *labelling

	// background ends with the server. What a visitor waits for may serve others
	// after they have gone, so it cannot hang on their request.
	background context.Context
	stop       context.CancelFunc

	handler http.Handler
}

// New returns a server of the runs in a store.
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

// Handler returns what answers requests.
func (s *Server) Handler() http.Handler { return s.handler }

// Close ends what the server does in the background and waits for it. The store stays
// open. Runs that are being judged take no new items; calls in flight have ten seconds
// to finish, and less if [Server.Kill] is called.
func (s *Server) Close() {
	s.stop()
	s.jobs.close()
	s.reports.wait()
	s.indexer.wait()
	s.bench.wait()
}

// How long a client may take. Answers that stream extend the limit as they go.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = time.Minute
	writeTimeout  = time.Minute
	idleTimeout   = 2 * time.Minute
	graceTimeout  = 5 * time.Second
	maxHeader     = 64 << 10
)

// Serve answers requests on a listener until ctx is done. Then it takes no new ones,
// lets those that are being answered finish for a few seconds, and closes the server.
// It refuses an address on which a token is missing.
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
	// Streams never end by themselves: they see the context of the server end.
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
