package storetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience is the timeout for starting or stopping the server.
const patience = time.Minute

// settings make the server fast and small: its data need not survive a power cut, but
// committed data survives a restart. Everything else has Postgres's defaults.
var settings = []string{
	"fsync=off", "full_page_writes=off", "max_connections=200", "shared_buffers=64MB",
	"max_wal_size=256MB", "log_min_messages=fatal", "log_checkpoints=off",
}

// start creates a cluster and starts its server.
func start(ctx context.Context, o Options) (*Cluster, error) {
	bin, err := find()
	if err != nil {
		return nil, err
	}
	user, err := serverAccount()
	if err != nil {
		return nil, fmt.Errorf("storetest: %w", err)
	}
	// The path of a socket is limited to about a hundred characters, so the folder is not in
	// the tests' temporary directory. Only the server's user has access to it.
	folder, err := os.MkdirTemp("", "pgtest-")
	if err != nil {
		return nil, fmt.Errorf("storetest: %w", err)
	}
	c := &Cluster{bin: bin, user: user, password: rand.Text(), folder: folder}
	if user != nil {
		err = os.Chown(folder, user.uid, user.gid)
	}
	if err == nil {
		c.guard, err = newGuard(c)
	}
	if err != nil {
		return nil, fmt.Errorf("storetest: %w", errors.Join(err, os.RemoveAll(folder)))
	}
	if err := c.create(ctx, o); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// create creates the files of the cluster, starts the server and makes the template.
// Connections over the socket are trusted, since only its owner reaches it; TCP needs the
// password.
func (c *Cluster) create(ctx context.Context, o Options) error {
	secret := filepath.Join(c.folder, "password")
	if err := os.WriteFile(secret, []byte(c.password+"\n"), 0o600); err != nil {
		return err
	}
	if c.user != nil {
		if err := os.Chown(secret, c.user.uid, c.user.gid); err != nil {
			return err
		}
	}
	cmd := c.command(ctx, "initdb", "-D", c.data(), "-U", admin, "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions",
		"--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile="+secret)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("storetest: initdb: %w: %s", err, bytes.TrimSpace(said))
	}
	if err := c.startServer(ctx); err != nil || o.Template == nil {
		return err
	}
	const name = "template_deem"
	err := run(ctx, c.URL("postgres"), "CREATE DATABASE "+name)
	if err == nil {
		err = o.Template(ctx, c.URL(name))
	}
	if err != nil {
		return fmt.Errorf("storetest: make template: %w", err)
	}
	c.template = name
	return nil
}

func (c *Cluster) data() string { return filepath.Join(c.folder, "data") }

// command returns a Postgres program that runs as the server's user. Postgres refuses to
// run as root.
func (c *Cluster) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, name), args...) //nolint:gosec // Our own program, at a fixed path.
	cmd.Dir = c.folder
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC", "HOME=" + c.folder}
	detach(cmd, c.user)
	return cmd
}

// startServer starts the server and waits until it answers. Later starts use the same port,
// so that clients find the server again.
func (c *Cluster) startServer(ctx context.Context) error {
	for attempt := 0; ; attempt++ {
		keep := c.port
		if keep == 0 {
			port, err := freePort(ctx)
			if err != nil {
				return fmt.Errorf("storetest: %w", err)
			}
			c.port = port
		}
		err := c.tryServer(ctx)
		if err == nil {
			return nil
		}
		// Another process may have taken the port in the meantime.
		if keep != 0 || attempt == 3 {
			return err
		}
		c.port = 0
	}
}

func (c *Cluster) tryServer(ctx context.Context) error {
	args := []string{"-D", c.data(), "-k", c.folder, "-h", "127.0.0.1", "-p", strconv.Itoa(c.port)}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	// The server outlives the test that started it.
	cmd := c.command(context.WithoutCancel(ctx), "postgres", args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("storetest: start postgres: %w", err)
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }() // It ends with the server.
	if err := c.await(ctx, over); err != nil {
		_ = cmd.Process.Signal(syscall.SIGQUIT)
		return fmt.Errorf("storetest: start postgres: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	c.mu.Lock()
	c.server, c.over = cmd, over
	c.mu.Unlock()
	return nil
}

// await waits until the server answers.
func (c *Cluster) await(ctx context.Context, over <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, c.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case ended := <-over:
			return fmt.Errorf("it is over: %w", errors.Join(ended, err))
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// freePort returns an unused port.
func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // It listens on TCP.
	return port, l.Close()
}

// Shutdown stops the server and keeps its files. With atOnce it stops as if killed, and has
// to recover when it is started again; otherwise it disconnects its clients first, and
// rolls back what they have not committed.
func (c *Cluster) Shutdown(t testing.TB, atOnce bool) {
	t.Helper()
	signal := syscall.SIGINT
	if atOnce {
		signal = syscall.SIGQUIT
	}
	c.mu.Lock()
	server, over := c.server, c.over
	c.server = nil
	c.mu.Unlock()
	if server == nil {
		t.Fatal("storetest: the server is down already")
	}
	if err := server.Process.Signal(signal); err != nil {
		t.Fatalf("storetest: stop postgres: %v", err)
	}
	select {
	case <-over:
	case <-time.After(patience):
		t.Fatal("storetest: postgres does not stop")
	}
}

// Resume starts the server again after [Cluster.Shutdown].
func (c *Cluster) Resume(t testing.TB) {
	t.Helper()
	if err := c.startServer(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Restart stops the server as [Cluster.Shutdown] does, and starts it again.
func (c *Cluster) Restart(t testing.TB, atOnce bool) {
	t.Helper()
	c.Shutdown(t, atOnce)
	c.Resume(t)
}

// Stop stops the server and removes everything of the cluster.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	c.server = nil
	c.mu.Unlock()
	if err := c.guard.end(); err != nil {
		return fmt.Errorf("storetest: clean up: %w", err)
	}
	if _, err := os.Stat(c.folder); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("storetest: %s is still there", c.folder)
	}
	return nil
}
