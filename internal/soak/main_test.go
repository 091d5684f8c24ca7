// Package soak_test lives with deem for an hour, or for half a minute: the real command
// serves pages and judges runs, by itself, for workers and over HTTP, against a vendor
// that misbehaves, while processes are killed and started again.
//
// Time goes in rounds. A round is a handful of runs at once, each over items of its own,
// and ends when nothing is left to do. Then every item must have exactly one record, no
// item may have been asked about again beyond what a kill may cost, and the store must
// have paid what the vendor counted. The processes that live through all rounds are
// measured meanwhile: in the end they must be as large as they were in the beginning.
//
// What happens in a round is drawn from its seed, which is printed. SOAKSEED=N begins
// with that seed, so the first round then repeats one that failed.
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

// built is the command that the tests made.
var built struct {
	once sync.Once
	dir  string
	name string
	err  error
}

// command returns the file of the command deem. It is built once, and with the race
// detector where the tests have it; SOAKBIN names one that was built before.
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

// postgresURL returns a database for the test, "" where there is no Postgres to be had
// and nobody demands one.
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

// together calls all functions at once and returns their errors when all are done.
func together(do ...func() error) error {
	errs := make([]error, len(do))
	var wg sync.WaitGroup
	for i, f := range do {
		wg.Go(func() { errs[i] = f() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
