package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/catalog"
	"deem/internal/queue"
	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/usage"
	"deem/internal/vendors"
)

const workerHelp = `Judge for a shared database: process the runs that "deem run --detach" submitted, chunk by
chunk, until stopped. Any number of workers on any machines share the work, the limits
and the budget of a run. docs/scale.md has the details.

A worker has its own keys (OPENAI_API_KEY etc.) and addresses (OPENAI_BASE_URL etc.). It
sends a key only to the vendor's address or to an address it was given itself. A run that
needs another address is left to other workers, and the log says why.

On the first SIGTERM, SIGHUP or Ctrl-C it takes no new items, lets calls in flight finish,
and hands the rest to other workers; the second cancels the calls. A killed worker is
noticed after 30 seconds, and others take over within a minute or two. A worker waits for
a Postgres that restarts.

With --listen, /healthz answers while the process is alive, /readyz while it takes work,
and /metrics serves Prometheus metrics.

ENVIRONMENT
  DEEM_DB       the database, if --db does not name it
  DEEM_WORKER_SLOTS, DEEM_WORKER_LISTEN, DEEM_WORKER_MODELS   like -j, --listen and --models

EXIT STATUS
  0 stopped on request   1 error   2 wrong usage`

// A workerOptions is the options of "deem worker".
type workerOptions struct {
	slots     int
	models    []string
	addresses map[string]string
	model     vendors.Options
	listen    string
	grace     time.Duration
	dead      time.Duration
	log       string
}

func (a *app) workerCommand() *cobra.Command {
	var o workerOptions
	cmd := &cobra.Command{
		Use: "worker --db postgres://... [flags]", Short: "judge for a shared database", Long: workerHelp, Args: atMost(0),
		Example: "  DEEM_DB=postgres://deem@db.example/deem deem worker -j 64\n" +
			"  deem worker --db postgres://deem@db.example/deem --models 'openai:*' --listen 127.0.0.1:9090",
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Flags that were not given come from the environment, as is usual in containers.
			for flag, variable := range map[string]string{"concurrency": "DEEM_WORKER_SLOTS", "listen": "DEEM_WORKER_LISTEN", "models": "DEEM_WORKER_MODELS"} {
				value := a.env.Get(variable)
				if value == "" || cmd.Flags().Changed(flag) {
					continue
				}
				if err := cmd.Flags().Set(flag, value); err != nil {
					return usage.Mark(fmt.Errorf("%s: %w", variable, err))
				}
			}
			return a.work(cmd, o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVarP(&o.slots, "concurrency", "j", 16, "judge `n` items at once")
	f.StringSliceVar(&o.models, "models", nil, "judge only runs whose `models` match these patterns, for example 'openai:*,ollama:llama3.2'; rules use no model")
	f.StringToStringVar(&o.addresses, "base-url", nil, "address of a vendor's server, `vendor=URL` (default: OPENAI_BASE_URL, ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL, OLLAMA_HOST, or the vendor's own)")
	f.StringArrayVar(&o.model.Headers, "header", nil, "send `NAME=value` or NAME=env:VARIABLE with each call; repeatable")
	f.StringVar(&o.model.Proxy, "proxy", "", "reach servers through this proxy, a `URL` or env:VARIABLE (default: HTTPS_PROXY)")
	f.StringVar(&o.model.CAFile, "ca-file", "", "also trust the certificate authorities in this PEM `file`")
	f.StringVar(&o.listen, "listen", "", "serve /healthz, /readyz and /metrics at this `address`, for example 127.0.0.1:9090")
	f.DurationVar(&o.grace, "grace", 30*time.Second, "`time` that calls in flight have to finish when the worker stops")
	f.DurationVar(&o.dead, "dead-after", 30*time.Second, "take over the work of a worker without a heartbeat for this `time`; use the same value for all workers")
	f.StringVar(&o.log, "log", "", "append log events to this `file` as JSON lines, - for standard error (default: none)")
	return cmd
}

// work opens the queue and runs a worker until a stop signal.
func (a *app) work(cmd *cobra.Command, o workerOptions) error {
	if o.slots < 1 {
		return usage.Errorf("-j is %d; at least one item must be judged at once", o.slots)
	}
	if o.dead < time.Second {
		return usage.Errorf("--dead-after is %v; a worker says that it is alive a few times a second at most", o.dead)
	}
	for _, pattern := range o.models {
		if _, err := path.Match(pattern, ""); err != nil || !strings.Contains(pattern, ":") {
			return usage.Mark(deem.WithHint(fmt.Errorf("--models %s: no pattern of models", pattern), "a model is vendor:name, as openai:gpt-4o-mini or 'openai:*'"))
		}
	}
	for vendor := range o.addresses {
		if _, _, err := a.env.VendorOf(vendor + ":any"); err != nil {
			return err
		}
	}
	ctx := cmd.Context()
	st, c, err := a.openQueue(ctx, postgres.Options{Conns: workerConns})
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	_, _, stop, err := a.startTelemetry(cmd, o.log, "info", o.listen != "")
	if err != nil {
		return err
	}
	defer stop()
	w, err := queue.NewWorker(c, queue.WorkerOptions{
		Slots: o.slots, Grace: o.grace, Dead: o.dead, Version: version(),
		Open: func(m queue.Model, timeout time.Duration) (deem.Model, error) {
			matches := func(pattern string) bool { ok, _ := path.Match(pattern, m.Name); return ok } // They were checked.
			if len(o.models) > 0 && !slices.ContainsFunc(o.models, matches) {
				return nil, fmt.Errorf("--models does not name %s", m.Name)
			}
			vendor, _, err := a.env.VendorOf(m.Name)
			if err != nil {
				return nil, err
			}
			at := o.model
			at.Name, at.Options, at.Timeout, at.BaseURL = m.Name, m.Options, timeout, o.addresses[vendor.Name]
			return a.env.Open(at)
		},
		Judge:     storedJudge,
		Say:       func(message string) { a.say("%s", message) },
		Telemetry: a.telemetry,
	})
	if err != nil {
		return err
	}
	unlisten, err := a.serveHealth(ctx, o.listen, w)
	if err != nil {
		return err
	}
	defer unlisten()
	a.say("worker %s judges %d items at once for %s", w.ID(), o.slots, a.dbName())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer onInterrupt(func(n int) {
		if n > 1 {
			cancel()
			return
		}
		a.say("stopping: calls in flight finish and are kept, the rest goes to other workers; again to cancel them")
		w.Drain()
	})()
	return w.Run(ctx)
}

// workerConns is the number of connections of a worker: River listens on one and fetches on
// others, and two chunks of each judge commit.
const workerConns = 10

// storedJudge builds the judge of a run with models that open returns.
func storedJudge(s store.JudgeSpec, open func(name, settings string) (deem.Model, error)) (deem.Judge, error) {
	return catalog.Stored(s, catalog.Parts{Model: open})
}

// serveHealth serves /healthz, /readyz and /metrics until the returned function is called.
func (a *app) serveHealth(ctx context.Context, address string, w *queue.Worker) (func(), error) {
	if address == "" {
		return func() {}, nil
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, usage.Mark(fmt.Errorf("--listen: %w", err))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprintln(rw, "ok") })
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, _ *http.Request) {
		if !w.Ready() {
			http.Error(rw, "not ready: draining, or the database does not answer", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(rw, "ok")
	})
	counters := a.telemetry.Handler()
	mux.HandleFunc("GET /metrics", func(rw http.ResponseWriter, r *http.Request) {
		counters.ServeHTTP(rw, r)
		w.WriteMetrics(rw)
	})
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			a.say("warning: %v", err)
		}
	})
	a.say("health and metrics are at http://%s", ln.Addr())
	return func() {
		_ = srv.Close()
		wg.Wait()
	}, nil
}
