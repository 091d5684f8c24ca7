package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Options configure the databases of a package's tests.
type Options struct {
	// Template prepares the database at url, of which every test's database is a copy:
	// copying is far cheaper than migrating. It must close what it opens. If it is nil, the
	// databases are empty.
	Template func(ctx context.Context, url string) error
}

// shared is the cluster of the tests of one package.
var shared struct {
	mu      sync.Mutex
	options Options
	cluster *Cluster
	err     error // why there is none
}

// Main runs the tests of a package and stops the cluster if they started one. It returns
// the exit code.
func Main(m *testing.M, o Options) int {
	shared.options = o
	code := m.Run()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.cluster != nil {
		if err := shared.cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "storetest:", err)
			return max(code, 1)
		}
	}
	return code
}

// Shared returns the cluster of this package's tests, and starts it if necessary. The
// package's TestMain has to call [Main], which stops it.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	skipShort(t)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.cluster == nil && shared.err == nil {
		shared.cluster, shared.err = start(context.WithoutCancel(t.Context()), shared.options)
	}
	if shared.err != nil {
		unavailable(t, shared.err)
	}
	return shared.cluster
}

// Database creates a database for the test, a copy of the template, and returns its URL.
// The database is dropped when the test is over, even with open connections.
func Database(t testing.TB) (url string) {
	t.Helper()
	return Shared(t).Database(t)
}

// Start starts a separate cluster, for a test that stops and restarts it. It is stopped
// when the test is over.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	skipShort(t)
	c, err := start(context.WithoutCancel(t.Context()), o)
	if err != nil {
		unavailable(t, err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// errMissing means that Postgres is not installed.
var errMissing = errors.New("no Postgres found: neither initdb nor postgres is in PATH or below /usr/lib/postgresql; scripts/need.sh postgres installs it")

// skipShort skips a test if go test runs with -short, as in make quick.
func skipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("a short run starts no Postgres")
	}
}

// unavailable ends a test that cannot get a cluster.
func unavailable(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, errMissing) || required() {
		t.Fatal(err)
	}
	t.Skip(err)
}

// required reports whether a missing Postgres is a failure.
func required() bool {
	ci := os.Getenv("CI")
	return ci != "" && ci != "false" && ci != "0" || os.Getenv("DEEM_POSTGRES") == "required"
}

// A Cluster is a Postgres that this package started.
type Cluster struct {
	bin      string // folder of the programs
	folder   string // everything of the cluster
	port     int
	password string
	template string // name of the database to copy; "" for an empty one
	user     *account
	guard    *guard
	names    atomic.Int64

	mu     sync.Mutex
	server *exec.Cmd    // nil while it is down
	over   <-chan error // receives the exit of the last server
}

// admin is the role of the tests. It may do anything in its cluster.
const admin = "deem"

// find returns the folder of the newest Postgres programs.
func find() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil && isProgram(filepath.Join(filepath.Dir(path), "postgres")) {
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	slices.SortFunc(found, func(a, b string) int { return release(b) - release(a) })
	for _, path := range found {
		if isProgram(filepath.Join(filepath.Dir(path), "postgres")) {
			return filepath.Dir(path), nil
		}
	}
	return "", errMissing
}

// release returns 15 for "/usr/lib/postgresql/15/bin/initdb".
func release(path string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	if err != nil {
		return 0
	}
	return n
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// URL returns the URL of a database of the cluster, over its socket. Only this user and
// root reach the socket, so it needs no password.
func (c *Cluster) URL(database string) string {
	return fmt.Sprintf("postgres://%s@/%s?host=%s&port=%d", admin, database, c.folder, c.port)
}

// TCP returns the URL of a database over TCP, with a password.
func (c *Cluster) TCP(database string) string {
	return fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/%s?sslmode=disable", admin, c.password, c.port, database)
}

// Password returns the password in [Cluster.TCP].
func (c *Cluster) Password() string { return c.password }

// Database is [Database] in this cluster.
func (c *Cluster) Database(t testing.TB) (url string) {
	t.Helper()
	name := fmt.Sprintf("test_%d", c.names.Add(1))
	create := "CREATE DATABASE " + name
	if c.template != "" {
		create += " TEMPLATE " + c.template
	}
	c.execute(t, create)
	t.Cleanup(func() { c.execute(t, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	return c.URL(name)
}

// Execute runs statements in the database at url.
func Execute(t testing.TB, url string, statements ...string) {
	t.Helper()
	if err := run(context.WithoutCancel(t.Context()), url, statements...); err != nil {
		t.Fatal(err)
	}
}

// execute runs a statement as the administrator. It waits during a restart.
func (c *Cluster) execute(t testing.TB, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	for {
		err := run(ctx, c.URL("postgres"), statement)
		if err == nil {
			return
		}
		c.mu.Lock()
		down := c.server == nil
		c.mu.Unlock()
		if !down || ctx.Err() != nil {
			t.Errorf("storetest: %v", err)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// run connects, executes statements and disconnects.
func run(ctx context.Context, url string, statements ...string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	for _, st := range statements {
		if _, err := conn.Exec(ctx, st); err != nil {
			return fmt.Errorf("%s: %w", st, errors.Join(err, conn.Close(ctx)))
		}
	}
	return conn.Close(ctx)
}
