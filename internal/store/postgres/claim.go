package postgres

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/internal/store"
)

// claims are advisory locks held by one connection of the store. The server releases them
// when the connection ends, so they end with the process, in whatever way.
//
// A connection may also break: the server restarts, or something in between closes idle
// connections. A goroutine checks it, reconnects and takes the locks again. If another
// process was faster, the claim is lost, and an append to its run returns an error. The
// goroutine starts with the first claim; close ends it.
type claims struct {
	config *pgx.ConnConfig
	every  time.Duration // how often the connection is checked
	name   string        // of our connection, to recognize it

	mu   sync.Mutex
	conn *pgx.Conn        // nil before the first claim, and while disconnected
	held map[int64]*claim // by lock
	runs map[string]*claim

	stop    context.CancelFunc
	stopped chan struct{} // closed when the goroutine has ended; nil if there was none
}

// A claim is the right to judge the runs with one key.
type claim struct {
	lock int64
	lost bool // guarded by claims.mu
}

func newClaims(config *pgx.ConnConfig, every time.Duration) *claims {
	config = config.Copy()
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	// A name has at most 63 bytes.
	name := fmt.Sprintf("deem %d@%.36s %s", os.Getpid(), host, rand.Text()[:10])
	config.RuntimeParams["application_name"] = name
	return &claims{config: config, every: every, name: name, held: map[int64]*claim{}, runs: map[string]*claim{}}
}

// take claims the runs with a key. The error is [store.ErrBusy] if another process has it.
func (c *claims) take(ctx context.Context, key string) (*claim, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// If two keys had the same lock, of which there are 2^64, they would wait for each other
	// and do no harm.
	sum := sha256.Sum256([]byte("deem run " + key))
	lock := int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // All bits count.
	if _, ok := c.held[lock]; ok {
		return nil, busy("this process")
	}
	if err := c.connect(ctx); err != nil {
		return nil, err
	}
	got, err := c.try(ctx, lock)
	if err != nil {
		c.drop()
		return nil, err
	}
	if !got {
		name, _, err := c.holder(ctx, lock)
		if err != nil {
			return nil, err
		}
		// The name is like "deem 12@host 7Q2M...".
		var pid int
		var host string
		if _, err := fmt.Sscanf(strings.Replace(name, "@", " ", 1), "deem %d %s", &pid, &host); err != nil {
			return nil, busy("another process")
		}
		return nil, busy(fmt.Sprintf("process %d on %s", pid, host))
	}
	cl := &claim{lock: lock}
	c.held[lock] = cl
	if c.stopped == nil {
		ctx, cancel := context.WithCancel(context.Background())
		c.stop, c.stopped = cancel, make(chan struct{})
		go c.watch(ctx)
	}
	return cl, nil
}

func busy(who string) error {
	return deem.WithHint(store.ErrBusy, "%s is at it; wait for it, or stop it and run the command again to continue", who)
}

// connect connects unless there is a connection. It uses TCP keepalive, so that the server
// notices soon if this machine is gone.
func (c *claims) connect(ctx context.Context) error {
	if c.conn != nil && !c.conn.IsClosed() {
		return nil
	}
	conn, err := pgx.ConnectConfig(ctx, c.config)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `SELECT set_config('tcp_keepalives_idle', '15', false),
		set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false),
		set_config('idle_session_timeout', '0', false)`)
	if err != nil {
		return errors.Join(err, conn.Close(ctx))
	}
	c.conn = conn
	return nil
}

// drop closes a connection that is no longer usable.
func (c *claims) drop() {
	if c.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.conn.Close(ctx) // It is broken, so an error is expected.
	c.conn = nil
}

func (c *claims) try(ctx context.Context, lock int64) (got bool, err error) {
	err = c.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, lock).Scan(&got)
	return got, err
}

// holder returns the connection that has a lock: its name and its process at the server.
// Both are zero if the lock was released since.
func (c *claims) holder(ctx context.Context, lock int64) (name string, pid int, err error) {
	err = c.conn.QueryRow(ctx, `SELECT a.application_name, a.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
		AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND (l.classid::bigint << 32 | l.objid::bigint) = $1`, lock).Scan(&name, &pid)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", 0, nil
	}
	return name, pid, err
}

// watch checks the connection from time to time.
func (c *claims) watch(ctx context.Context) {
	defer close(c.stopped)
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.check(ctx)
		}
	}
}

// check makes sure that all claims are held. If that fails because the server is down, it
// is repeated the next time.
func (c *claims) check(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.held) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if c.conn != nil && c.conn.Ping(ctx) == nil {
		return
	}
	c.drop()
	if c.connect(ctx) != nil {
		return
	}
	for _, cl := range c.held {
		if !c.relock(ctx, cl) {
			c.drop() // Next time all of them are taken again.
			return
		}
	}
}

// relock takes the lock of a claim again. It returns false if it could not determine who
// has it.
func (c *claims) relock(ctx context.Context, cl *claim) bool {
	got, err := c.try(ctx, cl.lock)
	if err != nil {
		return false
	}
	if got {
		cl.lost = false
		return true
	}
	name, pid, err := c.holder(ctx, cl.lock)
	if err != nil || pid == 0 {
		return false
	}
	if name == c.name {
		// It is our own old connection, whose end the server has not noticed yet. The next
		// check shows whether this helped.
		_, _ = c.conn.Exec(ctx, `SELECT pg_terminate_backend($1)`, pid)
		return false
	}
	cl.lost = true
	return true
}

// giveUp unlocks. A broken connection holds nothing.
func (c *claims) giveUp(cl *claim) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held, cl.lock)
	if c.conn == nil || c.conn.IsClosed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	_, err := c.conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, cl.lock)
	if passing(err) {
		c.drop()
		return nil
	}
	return err
}

// lostRun returns an error if the claim on a run was lost to another process.
func (c *claims) lostRun(runID string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cl := c.runs[runID]; cl == nil || !cl.lost {
		return nil
	}
	return deem.WithHint(fmt.Errorf("the connection that held run %s broke, and another process took it over: %w", runID, store.ErrBusy),
		"everything committed so far is kept; wait for the other process, and run the command again to continue")
}

// close releases all claims and ends the goroutine.
func (c *claims) close() error {
	c.mu.Lock()
	stop, stopped := c.stop, c.stopped
	c.mu.Unlock()
	if stopped != nil {
		stop()
		<-stopped
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.held)
	clear(c.runs)
	if c.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	// The server closes a connection asynchronously. Unlocking first releases the claims
	// before this returns; an error here means that the connection is broken.
	_, _ = c.conn.Exec(ctx, `SELECT pg_advisory_unlock_all()`)
	err := c.conn.Close(ctx)
	c.conn = nil
	if passing(err) {
		return nil
	}
	return err
}
