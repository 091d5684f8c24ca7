package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/test/storetest"
)

// childURL is set in a child process that holds a claim until it is killed.
const childURL = "DEEM_TEST_CHILD_POSTGRES"

// holdForever begins a run and reports it.
func holdForever(url string) error {
	ctx := context.Background()
	s, err := postgres.Open(ctx, url, postgres.Options{})
	if err != nil {
		return err
	}
	run, _, err := s.Begin(ctx, storetest.Spec(""), false)
	if err != nil {
		return err
	}
	if err := s.Append(ctx, run.ID, []deem.Record{storetest.Record(0)}); err != nil {
		return err
	}
	fmt.Println("claimed", run.ID)
	time.Sleep(time.Hour)
	return nil
}

// TestKill kills a process that holds a claim with SIGKILL, and checks that the claim ends
// and the appended records stay.
func TestKill(t *testing.T) {
	t.Parallel()
	url := storetest.Database(t)
	s := open(t, url, postgres.Options{})
	child := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // This very test.
	child.Env = append(os.Environ(), childURL+"="+url)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(out).ReadString('\n')
	id, ok := strings.CutPrefix(strings.TrimSpace(said), "claimed ")
	if err != nil || !ok {
		t.Fatalf("the process said %q, %v", said, err)
	}
	_, _, err = s.Begin(t.Context(), storetest.Spec(""), false)
	if want := fmt.Sprintf("process %d on ", child.Process.Pid); !errors.Is(err, store.ErrBusy) || !strings.Contains(deem.HintOf(err), want) {
		t.Errorf("Begin = %v with the hint %q, want ErrBusy and %q", err, deem.HintOf(err), want)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // The error says that it was killed.
	waitFor(t, "the claim is free", func() bool {
		run, resumed, err := s.Begin(t.Context(), storetest.Spec(""), false)
		if err != nil && !errors.Is(err, store.ErrBusy) {
			t.Fatal(err)
		}
		return err == nil && resumed && run.ID == id && run.Records == 1
	})
}

// TestClaimStolen checks that a store whose claim was taken over while its connection was
// broken returns an error, instead of judging what another process judges.
func TestClaimStolen(t *testing.T) {
	t.Parallel()
	url := storetest.Database(t)
	s, thief := open(t, url, postgres.Options{Check: 30 * time.Millisecond}), open(t, url, postgres.Options{})
	run := begin(t, s)
	waitFor(t, "the claim is stolen", func() bool {
		storetest.Execute(t, url, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
		_, _, err := thief.Begin(t.Context(), storetest.Spec(""), false)
		return err == nil
	})
	waitFor(t, "the holder has noticed", func() bool {
		err := s.Append(t.Context(), run.ID, []deem.Record{storetest.Record(0)})
		return errors.Is(err, store.ErrBusy) && strings.Contains(deem.HintOf(err), "run the command again")
	})
	if err := thief.Release(run.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Release(run.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := thief.Begin(t.Context(), storetest.Spec(""), false); err != nil {
		t.Errorf("Begin after both gave it up: %v", err)
	}
}

// holder returns the server process that holds the claim in the database of s, or 0.
func holder(t *testing.T, s *postgres.Store) (pid int) {
	t.Helper()
	err := s.Pool().QueryRow(t.Context(), `SELECT coalesce(max(l.pid), 0) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
		WHERE l.locktype = 'advisory' AND a.datname = current_database()`).Scan(&pid)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// TestClaimKept checks that a lost connection does no harm if no other process wants the
// run.
func TestClaimKept(t *testing.T) {
	t.Parallel()
	url := storetest.Database(t)
	s, other := open(t, url, postgres.Options{Check: 10 * time.Millisecond}), open(t, url, postgres.Options{})
	run := begin(t, s)
	for range 3 {
		before := holder(t, other)
		storetest.Execute(t, url, fmt.Sprintf(`SELECT pg_terminate_backend(%d)`, before))
		waitFor(t, "the claim is held again", func() bool {
			now := holder(t, other)
			return now != 0 && now != before
		})
	}
	if _, _, err := other.Begin(t.Context(), storetest.Spec(""), false); !errors.Is(err, store.ErrBusy) {
		t.Errorf("Begin of a run that is held: %v, want ErrBusy", err)
	}
	if err := s.Append(t.Context(), run.ID, []deem.Record{storetest.Record(0)}); err != nil {
		t.Errorf("Append: %v", err)
	}
}
