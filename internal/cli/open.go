package cli

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"deem"
	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/store/sqlite"
	"deem/internal/usage"
)

// dbVariable names the database if --db is not given. A URL with a password does not belong
// on a command line.
const dbVariable = "DEEM_DB"

// openStore opens the store for writing and creates it if necessary.
func (a *app) openStore(ctx context.Context) (store.Database, error) {
	if err := a.checkDB(); err != nil {
		return nil, err
	}
	if postgres.IsURL(a.db) {
		return storeOrNil(postgres.Open(ctx, a.db, postgres.Options{}))
	}
	if _, err := os.Stat(filepath.Dir(a.db)); a.db != defaultDB && errors.Is(err, fs.ErrNotExist) {
		a.say("new store %s, in a new folder", a.db) // It may be a typo.
	}
	return storeOrNil(sqlite.Open(ctx, a.db, sqlite.Options{}))
}

// readStore opens an existing store.
func (a *app) readStore(ctx context.Context) (store.Database, error) {
	if err := a.checkDB(); err != nil {
		return nil, err
	}
	if postgres.IsURL(a.db) {
		return storeOrNil(postgres.OpenReadOnly(ctx, a.db, postgres.Options{}))
	}
	return storeOrNil(sqlite.OpenReadOnly(ctx, a.db, sqlite.Options{}))
}

// storeOrNil prevents a nil pointer from becoming a non-nil store.
func storeOrNil[S store.Database](st S, err error) (store.Database, error) {
	if err != nil {
		return nil, err
	}
	return st, nil
}

// checkDB rejects a database that is neither a file nor a Postgres.
func (a *app) checkDB() error {
	scheme, _, isURL := strings.Cut(a.db, "://")
	if !isURL || postgres.IsURL(a.db) {
		return nil
	}
	return usage.Mark(deem.WithHint(usage.Errorf("--db %s://...: a database is a file, or a Postgres", scheme),
		"a Postgres is named as postgres://user@host:5432/database"))
}

// dbName returns the database without a password.
func (a *app) dbName() string { return withoutPassword(a.db) }

// redactArg removes the password from an argument that names a database, such as
// --db=postgres://user:password@host/database.
func redactArg(arg string) string {
	flag, db := "", arg
	if name, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
		flag, db = name+"=", value
	}
	if !postgres.IsURL(db) {
		return arg
	}
	return flag + withoutPassword(db)
}

// withoutPassword removes the password from the URL of a database. If a URL cannot be
// parsed, any part of it may be the password.
func withoutPassword(db string) string {
	scheme, _, isURL := strings.Cut(db, "://")
	if !isURL {
		return db
	}
	u, err := url.Parse(db)
	if err != nil || strings.Contains(u.EscapedPath()+u.RawQuery+u.Fragment, "@") {
		// An @ this late ends a password that contains a slash or the like.
		return scheme + "://..."
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	q := u.Query()
	for name := range q {
		if strings.Contains(strings.ToLower(name), "pass") {
			q.Del(name)
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}
