package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"deem"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/test/storetest"
)

// childPath is set in a child process that judges until it is killed.
const childPath = "DEEM_TEST_CHILD_DB"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		if err := judgeForever(path); err != nil {
			fmt.Println("error:", err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// judgeForever appends records through a writer. It prints the position of each committed
// record.
func judgeForever(path string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	run, _, err := s.Begin(ctx, storetest.Spec(""), false)
	if err != nil {
		return err
	}
	w := store.NewWriter(s, run.ID, store.WriterOptions{Committed: func(recs []deem.Record) {
		var lines strings.Builder
		for _, rec := range recs {
			fmt.Fprintln(&lines, rec.Position)
		}
		fmt.Print(lines.String()) // In one write, straight to the pipe.
	}})
	for i := 0; ; i++ {
		rec := longRecord(i)
		status, err := s.Status(ctx, run.ID, rec.Item.ID, 0)
		if err != nil {
			return err
		}
		if status != store.Missing {
			continue
		}
		if err := w.Put(ctx, rec); err != nil {
			return err
		}
	}
}

// longRecord returns a record with a unique text, and one that it shares with its
// neighbours.
func longRecord(i int) deem.Record {
	rec := storetest.Record(i)
	rec.Item.Response = storetest.Text(fmt.Sprint("response ", i), 800)
	rec.Item.Fields = map[string]string{"dialogue": storetest.Text(fmt.Sprint("dialogue ", i/20), 1200)}
	return rec
}

// TestKill repeatedly kills a judging process with SIGKILL, and checks that every record it
// reported as committed is there.
func TestKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deem.db")
	committed := 0
	for round := range 3 {
		committed += killOne(t, path, 200*round+1)
		s := open(t, path)
		run, resumed, err := s.Begin(t.Context(), storetest.Spec(""), false)
		if err != nil || !resumed {
			t.Fatalf("Begin after the kill = %v, %v: the claim did not die with its process", resumed, err)
		}
		n := 0
		for rec, err := range s.Records(t.Context(), run.ID, store.Query{WithCalls: true}) {
			if err != nil {
				t.Fatal(err)
			}
			if rec.Position != n || len(rec.Calls) != 1 || rec.Calls[0].Reply == nil ||
				!reflect.DeepEqual(rec.Item, longRecord(n).Item) {
				t.Fatalf("round %d: record %d has position %d and %d calls, or other texts", round, n, rec.Position, len(rec.Calls))
			}
			n++
		}
		// A commit may have completed whose report the kill cut off, but every reported
		// commit has completed.
		if n < committed || run.Records != n {
			t.Fatalf("round %d: %d records, the run counts %d, and %d were committed", round, n, run.Records, committed)
		}
		committed = n
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		var says string
		if err := raw(t, path).QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&says); err != nil || says != "ok" {
			t.Fatalf("round %d: integrity_check says %q, %v", round, says, err)
		}
	}
}

// killOne starts a judging process, kills it once it has committed enough, and returns how
// many records it reported as committed.
func killOne(t *testing.T, path string, enough int) int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childPath+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n, lines := 0, bufio.NewScanner(out)
	for lines.Scan() {
		if _, err := strconv.Atoi(lines.Text()); err != nil {
			t.Errorf("the process says %q", lines.Text())
			break
		}
		if n++; n == enough {
			if enough == 1 {
				wantBusy(t, path, cmd.Process.Pid)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Wait reports the kill itself as an error.
	if err := cmd.Wait(); err == nil || n < enough {
		t.Fatalf("the process ended by itself after %d records: %v", n, err)
	}
	return n
}

// wantBusy checks that a run that another process judges cannot be begun, and that the hint
// names the process.
func wantBusy(t *testing.T, path string, pid int) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Errorf("Open while another process writes: %v", err)
		return
	}
	defer s.Close() //nolint:errcheck // Nothing was written.
	_, _, err = s.Begin(t.Context(), storetest.Spec(""), false)
	if want := fmt.Sprintf("process %d ", pid); !errors.Is(err, store.ErrBusy) || !strings.Contains(deem.HintOf(err), want) {
		t.Errorf("Begin while another process judges: %v with hint %q, want ErrBusy and %q", err, deem.HintOf(err), want)
	}
}
