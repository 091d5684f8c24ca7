package main_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"deem/internal/test/storetest"
)

func TestMain(m *testing.M) {
	code := storetest.Main(m, storetest.Options{})
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
		storetest.Shared(t)
		found = true
	})
	if !found {
		t.Log("there is no Postgres: no workers in this test")
		return ""
	}
	return storetest.Database(t)
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
