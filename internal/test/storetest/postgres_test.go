package storetest_test

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

	"github.com/jackc/pgx/v5"

	"deem/internal/test/storetest"
)

// childEnv is set in a process that starts a cluster and waits to be killed.
const childEnv = "DEEM_TEST_PGTEST_CHILD"

func TestMain(m *testing.M) {
	os.Exit(storetest.Main(m, storetest.Options{Template: func(ctx context.Context, url string) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		_, err = conn.Exec(ctx, "CREATE TABLE marks (n INT); INSERT INTO marks VALUES (7)")
		return errors.Join(err, conn.Close(ctx))
	}}))
}

// ask connects and returns the number that a query returns.
func ask(t *testing.T, url, query string) int {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // Losing it does no harm.
	var n int
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// TestDatabase checks that every test has its own copy of the template.
func TestDatabase(t *testing.T) {
	first, second := storetest.Database(t), storetest.Database(t)
	if first == second {
		t.Fatalf("two databases are at %s", first)
	}
	if got := ask(t, first, "UPDATE marks SET n = 8 RETURNING n"); got != 8 {
		t.Errorf("first database has %d, want 8", got)
	}
	if got := ask(t, second, "SELECT n FROM marks"); got != 7 {
		t.Errorf("second database has %d, want the template's 7", got)
	}
}

// TestTCP checks that TCP requires a password.
func TestTCP(t *testing.T) {
	c := storetest.Shared(t)
	if got := ask(t, c.TCP("postgres"), "SELECT 1"); got != 1 {
		t.Errorf("SELECT 1 = %d", got)
	}
	wrong := strings.Replace(c.TCP("postgres"), c.Password(), "wrong", 1)
	if conn, err := pgx.Connect(t.Context(), wrong); err == nil {
		t.Errorf("a wrong password is good enough: %v", conn.Close(t.Context()))
	}
}

// TestRestart checks that a cluster keeps its address and committed data.
func TestRestart(t *testing.T) {
	c := storetest.Start(t, storetest.Options{})
	url := c.Database(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "CREATE TABLE kept AS SELECT 5 AS n"); err != nil {
		t.Fatal(err)
	}
	for _, atOnce := range []bool{false, true} {
		c.Restart(t, atOnce)
		if got := ask(t, url, "SELECT n FROM kept"); got != 5 {
			t.Errorf("after a restart (at once: %v) the table has %d, want 5", atOnce, got)
		}
	}
}

// TestKilled checks that a killed test leaves neither a server nor a folder.
func TestKilled(t *testing.T) {
	if os.Getenv(childEnv) != "" {
		c := storetest.Start(t, storetest.Options{})
		fmt.Println("url", c.URL("postgres"))
		time.Sleep(time.Hour)
	}
	storetest.Shared(t)                                                                      // Skips or fails if there is no Postgres.
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$", "-test.v") //nolint:gosec // This very test.
	cmd.Env = append(os.Environ(), childEnv+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url := ""
	for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
		url, _ = strings.CutPrefix(lines.Text(), "url ")
		if !strings.HasPrefix(url, "postgres://") {
			url = ""
		}
	}
	if got := ask(t, url, "SELECT 1"); got != 1 {
		t.Fatalf("the cluster of the other process says %d", got)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // The error says that it was killed.
	_, socket, _ := strings.Cut(url, "host=")
	socket, _, _ = strings.Cut(socket, "&")
	deadline := time.Now().Add(20 * time.Second)
	for {
		if _, err := os.Stat(socket); errors.Is(err, os.ErrNotExist) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there", socket)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
