// Package postgres stores runs in a Postgres database, for work on several machines: any
// number of processes can read and append to the same run concurrently.
//
// All tables are in a separate schema named deem, unless the URL has a search_path; other
// programs may share the database. A connection pooler in front of it must use session
// pooling, because a claim is a session lock.
//
// If Postgres restarts, or cannot be reached for a while, appends and reads are retried
// until they succeed or [Options.Wait] is over. An append whose acknowledgement was lost is
// not made twice.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"deem"
	"deem/internal/store"
)

// Options configure a store. The zero value of each field means the default.
type Options struct {
	// Wait is how long to wait for a server that restarts or cannot be reached; 2 min.
	Wait time.Duration

	// Conns is the maximum number of connections, in addition to one for claims; the
	// default is that of pgxpool, which is 4 or the number of cores.
	Conns int

	// Check is how often the connection that holds the claims is checked; 2 s.
	Check time.Duration

	// Now returns the time; nil means time.Now.
	Now func() time.Time
}

// A Store stores runs in one database. [Open] and [OpenReadOnly] return one.
type Store struct {
	path     string // the URL without its secrets
	opts     Options
	readOnly bool
	pool     *pgxpool.Pool
	claims   *claims
	known    texts

	// numbers maps the id of a run to its key n. Neither ever changes.
	numbers sync.Map

	// holders maps the id of a run to the holder of money that appends its records.
	holders sync.Map

	closing  sync.Once
	closeErr error
}

var _ store.Database = (*Store)(nil)

// Open opens the database at a URL, such as "postgres://user@host:5432/database", for
// reading and writing. It creates missing tables, and migrates those of an older deem. A
// password may also come from PGPASSWORD or ~/.pgpass.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	s, err := connect(ctx, url, o, false)
	if err != nil {
		return nil, err
	}
	err = s.retryIf(ctx, starting, func(ctx context.Context) error { return migrate(ctx, s.pool) })
	if err == nil {
		err = s.forget(ctx)
	}
	if err != nil {
		return nil, errors.Join(s.explain("open", err), s.Close())
	}
	return s, nil
}

// OpenReadOnly opens the database at a URL for reading. It changes nothing: if the database
// has no tables of runs, it returns an error.
func OpenReadOnly(ctx context.Context, url string, o Options) (*Store, error) {
	s, err := connect(ctx, url, o, true)
	if err != nil {
		return nil, err
	}
	err = s.retryIf(ctx, starting, func(ctx context.Context) error {
		version, err := identify(ctx, s.pool)
		if err != nil {
			return err
		}
		if version == 0 {
			return deem.WithHint(fmt.Errorf("it holds no runs: %w", fs.ErrNotExist),
				"judge something first, with `deem run --data FILE` or `deem demo`, or name another database with --db")
		}
		return runTables.refuseOlder(version)
	})
	if err != nil {
		return nil, errors.Join(s.explain("open", err), s.Close())
	}
	return s, nil
}

// schema is the schema of our tables.
const schema = "deem"

// connectTimeout limits the wait for a host that does not answer at all.
const connectTimeout = 10 * time.Second

// connect returns a store whose database was not checked yet.
func connect(ctx context.Context, url string, o Options, readOnly bool) (*Store, error) {
	cfg, err := parse(url)
	if err != nil {
		return nil, err
	}
	if o.Wait <= 0 {
		o.Wait = 2 * time.Minute
	}
	if o.Check <= 0 {
		o.Check = 2 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Conns > 0 {
		cfg.MaxConns = int32(min(o.Conns, 1000)) //nolint:gosec // It is small.
	}
	// Migrating takes one connection for the lock and one for the work.
	cfg.MaxConns = max(cfg.MaxConns, 2)
	params := cfg.ConnConfig.RuntimeParams
	params["search_path"] = cmp.Or(params["search_path"], schema)
	params["application_name"] = cmp.Or(params["application_name"], "deem")
	// A plan that was made while a table was empty would be kept when it is large. Planning
	// again takes less time than a statement for a hundred records.
	params["plan_cache_mode"] = cmp.Or(params["plan_cache_mode"], "force_custom_plan")
	params["jit"] = cmp.Or(params["jit"], "off")
	if readOnly {
		params["default_transaction_read_only"] = "on"
	}
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = connectTimeout
	}
	s := &Store{path: redacted(cfg), opts: o, readOnly: readOnly}
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, s.explain("open", err)
	}
	s.claims = newClaims(cfg.ConnConfig, o.Check)
	return s, nil
}

// IsURL reports whether a store name is a Postgres URL, and not a file.
func IsURL(store string) bool {
	return strings.HasPrefix(store, "postgres://") || strings.HasPrefix(store, "postgresql://")
}

// parse parses a URL. The error for an invalid URL must not contain the password, and in an
// invalid URL any part may be the password.
func parse(raw string) (*pgxpool.Config, error) {
	bad := func(reason string) error {
		return deem.WithHint(fmt.Errorf("open store: %s", reason),
			"a store is named as postgres://user@host:5432/database; characters like / # ? in a password are written as %%2F %%23 %%3F, or the password is given by PGPASSWORD")
	}
	u, err := url.Parse(raw)
	if err != nil || !IsURL(raw) {
		return nil, bad("this is not a URL of a Postgres database")
	}
	if strings.Contains(u.EscapedPath(), "@") {
		// The name of the database is shown, and this one may contain half a password.
		return nil, bad("this URL of a Postgres database has an @ behind the host, where it is written as %40")
	}
	cfg, err := pgxpool.ParseConfig(raw)
	if err != nil {
		reason := "this URL of a Postgres database cannot be read"
		if secret, _ := u.User.Password(); secret == "" && !u.Query().Has("password") {
			_, why, _ := strings.Cut(err.Error(), "`: ")
			reason += ": " + why
		}
		return nil, bad(reason)
	}
	return cfg, nil
}

// redacted returns the URL of the database without secrets.
func redacted(cfg *pgxpool.Config) string {
	c := cfg.ConnConfig
	u := url.URL{Scheme: "postgres", Host: fmt.Sprintf("%s:%d", c.Host, c.Port), Path: "/" + c.Database}
	if c.User != "" {
		u.User = url.User(c.User)
	}
	if strings.HasPrefix(c.Host, "/") { // A socket.
		u.Host, u.RawQuery = "", url.Values{"host": {c.Host}, "port": {fmt.Sprint(c.Port)}}.Encode()
	}
	return u.String()
}

// Path returns the URL of the database, without a password.
func (s *Store) Path() string { return s.path }

// Pool returns the connections of the store, for work that has to commit together with
// records. Callers must release connections, because the store needs them too.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Close releases all claims and closes the connections. Closing it again does nothing.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.closeErr = s.claims.close()
		s.pool.Close()
	})
	return s.explain("close", s.closeErr)
}
