package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/catalog"
	"deem/internal/model"
	"deem/internal/queue"
	"deem/internal/server"
	"deem/internal/server/api"
	"deem/internal/server/web"
	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/usage"
	"deem/internal/vendors"
	"deem/internal/words"
	"deem/judge/rule"
)

const serveHelp = `Show runs in a browser, and judge over HTTP.

The pages show the runs of the database, also while they are running: scores, categories,
items, one item with its prompt and reply, comparisons, agreement with labels. People can
label items there. The HTTP API under /api/v1 takes items and returns verdicts;
/api/v1/openapi.json describes it, and docs/api.md shows how to use it.

By default the server listens on this machine only. With another --listen it requires a
token, from --token-file or the variable DEEM_TOKEN; --new-token writes one. People enter
it on the first page, and programs send it as "Authorization: Bearer TOKEN".

Clients judge with rules, and with the models that --model names; the first is the
default. Your keys stay on the server. --max-cost limits the cost of one run, and
--max-total the cost of all runs while the server is up. Built-in judges are named, and
declared judges can be sent; no client can make the server open a file.

Ctrl-C stops taking items, lets calls in flight finish, and lists the runs that are not
done; a second one cancels the calls. Items stay in the folder --spool until their run is
done: with --resume the next server resumes those runs; without it they can be resumed
over the API.

/healthz checks the server, /readyz its database, and /metrics serves Prometheus metrics.

EXIT STATUS
  0 stopped   1 error   2 wrong usage   130 stopped with unfinished runs: they are kept, and
  --resume resumes them`

const serveExample = `  deem serve
  deem serve --model openai:gpt-4o-mini --max-cost 1.00 --max-total 20.00
  deem serve --new-token ~/.deem-token
  deem serve --listen 0.0.0.0:8080 --token-file ~/.deem-token
  deem serve --db team.db --read-only
  curl -s http://127.0.0.1:8080/api/v1/verdicts -H 'Content-Type: application/json' \
    -d '{"items": [{"references": ["18 days"], "response": "It took 18 days."}]}'`

// A serveOptions is the options of "deem serve".
type serveOptions struct {
	listen, tokenFile, newToken string
	readOnly, resume, proxied   bool
	title                       string

	models     []string
	at         vendors.Options // options of the first of them
	embeddings string

	concurrency, retries, runs int
	rpm, tpm                   int

	maxCost, maxTotal catalog.Optional[int64]
	pricesFile, spool string
	log, level        string
}

func (a *app) serveCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use: "serve [flags]", Short: "web page and HTTP API", Long: serveHelp, Example: serveExample, Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.newToken != "" {
				return a.writeToken(o.newToken)
			}
			return a.serve(cmd, o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.listen, "listen", "127.0.0.1:8080", "listen on this `address`; port 0 picks a free port")
	f.StringVar(&o.tokenFile, "token-file", "", "require the token in this `file` (default: DEEM_TOKEN)")
	f.StringVar(&o.newToken, "new-token", "", "write a new token to this `file`, readable only by you, and exit")
	f.BoolVar(&o.proxied, "behind-proxy", false, "all requests come through a proxy: identify clients by the last address in X-Forwarded-For")
	f.BoolVar(&o.readOnly, "read-only", false, "do not allow judging or labelling")
	f.StringVar(&o.title, "title", "", "title of the pages (default deem)")
	f.StringArrayVar(&o.models, "model", nil, "let clients ask this `model`, for example openai:gpt-4o-mini; repeatable")
	f.StringVar(&o.embeddings, "embeddings", "", "embeddings for the judge semantic: a `folder` with a sentence model's files, openai:NAME or ollama:NAME")
	f.StringVar(&o.at.BaseURL, "base-url", "", "`address` of the first model's server")
	f.StringArrayVar(&o.at.Headers, "header", nil, "send `NAME=value` or NAME=env:VARIABLE with each call; repeatable")
	f.StringToStringVar(&o.at.Options, "model-option", nil, "an option specific to the first model's vendor, `name=value`; repeatable")
	f.StringVar(&o.at.Proxy, "proxy", "", "reach models through this proxy, a `URL` or env:VARIABLE (default: HTTPS_PROXY)")
	f.StringVar(&o.at.CAFile, "ca-file", "", "also trust the certificate authorities in this PEM `file`")
	f.DurationVar(&o.at.Timeout, "timeout", 0, "give up a call after this `time` (default 2m, longer for reasoning models)")
	f.IntVarP(&o.concurrency, "concurrency", "j", 8, "judge `n` items of a run at once, and make as many calls to a model")
	f.IntVar(&o.runs, "runs", 2, "number of large runs judged at once, `n`; others wait")
	f.IntVar(&o.retries, "retries", 5, "retry a call up to `n` times after a transient error; once after a timeout")
	f.IntVar(&o.rpm, "rpm", 0, "maximum requests per minute to a model, for all runs together")
	f.IntVar(&o.tpm, "tpm", 0, "maximum tokens per minute, for all runs together")
	f.Var(moneyFlag(&o.maxCost), "max-cost", "maximum cost of one run, in US `dollars`")
	f.Var(moneyFlag(&o.maxTotal), "max-total", "spend at most this many US `dollars` while the server runs")
	f.StringVar(&o.pricesFile, "prices", "", "use the prices in this `file` before the built-in ones")
	f.StringVar(&o.spool, "spool", "", "keep items in this `folder` until they are judged (default: api next to the database)")
	f.BoolVar(&o.resume, "resume", false, "resume the runs that an earlier server left unfinished")
	f.StringVar(&o.log, "log", "", "append log events to this `file` as JSON lines, - for standard error (default: errors, to standard error)")
	f.StringVar(&o.level, "log-level", "info", "how much to log: debug, info, warn or error")
	return cmd
}

// writeToken writes a random token to a file that only the user can read.
func (a *app) writeToken(name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return usage.Mark(deem.WithHint(fmt.Errorf("%s is there already", name), "everybody who uses the token in it would lose access; name another file, or remove it"))
	}
	if err != nil {
		return usage.Mark(err)
	}
	_, err = fmt.Fprintln(f, rand.Text())
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, map[string]string{"written": name})
	}
	a.say("wrote a token to %s; serve with it: deem serve --token-file %s", name, name)
	return nil
}

// readToken returns the token that clients must send, or "" for none.
func (a *app) readToken(o serveOptions) (string, error) {
	if o.tokenFile == "" {
		return strings.TrimSpace(a.env.Get("DEEM_TOKEN")), nil
	}
	text, err := os.ReadFile(o.tokenFile)
	if err != nil {
		return "", usage.Mark(deem.WithHint(err, "deem serve --new-token %s writes one", o.tokenFile))
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", usage.Mark(deem.WithHint(fmt.Errorf("%s: there is no token in it", o.tokenFile), "deem serve --new-token FILE writes one"))
	}
	if info, err := os.Stat(o.tokenFile); err == nil && info.Mode().Perm()&0o077 != 0 {
		a.say("warning: others on this machine may read %s; chmod 600 keeps it yours", o.tokenFile)
	}
	return token, nil
}

// checkServe rejects invalid options, before anything is opened.
func (a *app) checkServe(o serveOptions, token string) error {
	switch {
	case o.concurrency < 1 || o.runs < 1:
		return usage.Errorf("-j and --runs are at least 1")
	case o.retries < 0 || o.rpm < 0 || o.tpm < 0 || o.at.Timeout < 0:
		return usage.Errorf("--retries, --rpm, --tpm and --timeout cannot be negative")
	case o.readOnly && (len(o.models) > 0 || o.resume):
		return usage.Errorf("--read-only goes with neither --model nor --resume")
	}
	err := server.CheckListen(o.listen, token)
	if errors.Is(err, server.ErrNoToken) {
		err = deem.WithHint(err, "make a token and serve with it: deem serve --new-token deem.token, then deem serve --listen %s --token-file deem.token", o.listen)
	}
	return usage.Mark(err)
}

// serve serves the database until it is stopped.
func (a *app) serve(cmd *cobra.Command, o serveOptions) error {
	token, err := a.readToken(o)
	if err != nil {
		return err
	}
	if err := a.checkServe(o, token); err != nil {
		return err
	}
	log, level, stop, err := a.startTelemetry(cmd, o.log, o.level, true, token)
	if err != nil {
		return err
	}
	defer stop()
	logger := slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelError}))
	if log != nil {
		logger = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: level}))
	}
	ctx := cmd.Context()
	served, err := a.servedAPI(o)
	if err != nil {
		return err
	}
	open := a.openStore
	if o.readOnly {
		open = a.readStore
	}
	// An empty file that the user named does not become a database: a user who serves a file
	// wants to see its content, and may have mistyped its name. At the default location an
	// empty file is ours, left by a crash before the first table was created; there, and with
	// "deem run", it becomes a database.
	if info, err := os.Stat(a.db); err == nil && info.Mode().IsRegular() && info.Size() == 0 && a.db != defaultDB && !postgres.IsURL(a.db) {
		return deem.WithHint(fmt.Errorf("open store %s: it holds no runs: the file is empty", a.db),
			"name another database with --db, or remove the empty file")
	}
	st, err := open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	shown := web.Options{Title: o.title}
	if shown.Docs, err = theManual(); err != nil {
		return err
	}
	if pg, ok := st.(*postgres.Store); ok {
		openQueue := queue.Open
		if o.readOnly {
			openQueue = queue.Look
		}
		work, err := openQueue(ctx, pg)
		if err != nil {
			return err
		}
		if work != nil {
			shown.Queue, served.Queue = work, work
		}
	}
	core, err := server.New(server.Options{
		Store: st, Token: token, BehindProxy: o.proxied, ReadOnly: o.readOnly, Version: version(), Logger: logger,
	})
	if err != nil {
		return usage.Mark(err)
	}
	served.Report = web.New(core, shown).Report
	srv, err := api.New(core, served)
	if err != nil {
		core.Close()
		return usage.Mark(err)
	}
	return a.listen(ctx, srv, st, o)
}

func (a *app) servedAPI(o serveOptions) (api.Options, error) {
	served := api.Options{
		Env: a.env, Concurrency: o.concurrency, Retries: o.retries, RPM: o.rpm, TPM: o.tpm, Runs: o.runs,
		MaxCost: o.maxCost, MaxTotal: o.maxTotal, Spool: o.spool, Telemetry: a.telemetry,
	}
	if o.retries == 0 {
		served.Retries = -1 // 0 is the default there
	}
	if served.Spool == "" {
		db := a.db
		if strings.Contains(db, "://") {
			db = defaultDB
		}
		served.Spool = filepath.Join(filepath.Dir(db), "api")
	}
	if o.pricesFile != "" {
		prices, err := model.LoadPrices(o.pricesFile)
		if err != nil {
			return served, usage.Mark(err)
		}
		served.Prices = prices
	}
	for _, name := range o.models {
		if name == offline {
			continue // a deem.yaml may contain it
		}
		at := o.at
		if len(served.Models) == 0 {
			at.Name = name
		} else {
			at.Name = served.Models[0].Name
			at = at.Elsewhere(name)
		}
		served.Models = append(served.Models, at)
	}
	var err error
	served.Embedder, err = catalog.OpenEmbedder(a.env, o.embeddings, o.at, func(e rule.Embedder) (rule.Embedder, error) {
		return catalog.Embed(e, model.Options{Limit: model.LimitOptions{Concurrency: o.concurrency, RPM: o.rpm, TPM: o.tpm}, Prices: served.Prices}), nil
	})
	return served, usage.Mark(err)
}

// listen serves requests until the first interrupt, and resumes the runs that an earlier
// server left unfinished, or says how to. The second interrupt cancels the calls in flight.
func (a *app) listen(ctx context.Context, srv *api.Server, st store.Store, o serveOptions) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.listen)
	if err != nil {
		srv.Close()
		return deem.WithHint(err, "listen at another address, or at any free port: --listen 127.0.0.1:0")
	}
	serving, cancel := context.WithCancel(ctx)
	defer cancel()
	release := onInterrupt(func(n int) {
		if n > 1 {
			srv.Kill()
			return
		}
		a.say("stopping: calls in flight finish and are kept; again to cancel them")
		cancel()
	})
	url := "http://" + l.Addr().String() + "/"
	switch {
	case a.json: // A program that starts a server on a free port reads it.
		_ = writeJSON(a.out, map[string]string{"url": url})
	case o.readOnly:
		a.say("%s is shown at %s, only to be read; Ctrl-C stops", a.dbName(), url)
	default:
		a.say("%s is shown at %s; Ctrl-C stops", a.dbName(), url)
	}
	runs, err := srv.Resumable(ctx) // An interrupt does not make this fail.
	if len(runs) > 0 && !o.resume {
		a.say("%s not done: start with --resume to continue", words.Plural(len(runs), "run is", "runs are"))
		runs = nil
	}
	for _, run := range runs {
		if err := srv.Resume(ctx, run); err != nil {
			a.say("warning: run %s cannot be resumed: %v", run.ID, err)
			continue
		}
		a.say("run %s resumes: %s of %s done", run.ID, words.Comma(run.Records), words.Comma(run.Wanted()))
	}
	if err == nil {
		err = srv.Serve(serving, l)
	} else {
		err = errors.Join(err, l.Close())
		srv.Close()
	}
	release()
	left := srv.Interrupted()
	if err != nil || len(left) == 0 {
		return err
	}
	for _, id := range left {
		if text := kept(ctx, st, id); text != "" {
			a.say("run %s: %s", id, text)
		}
	}
	args := slices.DeleteFunc(slices.Clone(a.args), func(arg string) bool { return arg == "--resume" })
	return deem.WithHint(fmt.Errorf("%w: %s not done", errInterrupted, words.Plural(len(left), "run is", "runs are")), "resume with: %s", commandLine(append(args, "--resume")))
}
