// Package soak_test runs deem for an hour, or for half a minute: the real command serves
// pages and judges runs, by itself, for workers and over HTTP, against a vendor that
// misbehaves, while processes are killed and restarted.
//
// Time is divided into rounds. A round is several concurrent runs, each over different
// items, and ends when nothing is left to do. Then every item must have exactly one record,
// no request may have been repeated beyond the cost of kills, and the store must have
// recorded the cost that the vendor counted. The long-lived processes are measured
// meanwhile: at the end they must be as large as at the beginning.
//
// The events of a round are drawn from its seed, which is printed. SOAKSEED=N begins with
// that seed, so the first round repeats one that failed.
package soak_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"deem/internal/store/pgtest"
)

func TestMain(m *testing.M) {
	code := pgtest.Main(m, pgtest.Options{})
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// built is the command that the tests built.
var built struct {
	once sync.Once
	dir  string
	name string
	err  error
}

// command returns the path of the command deem. It is built once, with the race detector if
// the tests have it; SOAKBIN names an existing binary.
func command(ctx context.Context) (string, error) {
	if name := os.Getenv("SOAKBIN"); name != "" {
		return filepath.Abs(name)
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "deem-soak"); built.err != nil {
			return
		}
		built.name = filepath.Join(built.dir, "deem")
		args := []string{"build", "-buildvcs=false", "-o", built.name}
		if raced {
			args = append(args, "-race")
		}
		out, err := exec.CommandContext(ctx, "go", append(args, "deem/cmd/deem")...).CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("build the command: %w\n%s", err, out)
		}
	})
	return built.name, built.err
}

// postgresURL returns a database for the test, or "" if there is no Postgres and none is
// required.
func postgresURL(t *testing.T) string {
	t.Helper()
	found := false
	t.Run("postgres", func(t *testing.T) {
		pgtest.Shared(t)
		found = true
	})
	if !found {
		t.Log("there is no Postgres: no workers in this test")
		return ""
	}
	return pgtest.Database(t)
}

// together calls all functions concurrently and returns their errors when all are done.
func together(do ...func() error) error {
	errs := make([]error, len(do))
	var wg sync.WaitGroup
	for i, f := range do {
		wg.Go(func() { errs[i] = f() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
