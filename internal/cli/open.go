package cli

import (
	"context"
	"strings"

	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/usage"
)

// defaultJudge needs no key, so that the first command works.
const defaultJudge = "match"

// openStore opens the store for writing and creates it where there is none.
func (a *app) openStore(ctx context.Context) (store.Store, error) {
	if err := a.checkDB(); err != nil {
		return nil, err
	}
	return sqlite.Open(ctx, a.db, sqlite.Options{})
}

// readStore opens a store that is there already.
func (a *app) readStore(ctx context.Context) (store.Store, error) {
	if err := a.checkDB(); err != nil {
		return nil, err
	}
	return sqlite.OpenReadOnly(ctx, a.db, sqlite.Options{})
}

func (a *app) checkDB() error {
	if strings.Contains(a.db, "://") {
		return usage.Errorf("--db %s: a database is a file", a.db)
	}
	return nil
}
