package queue

import (
	"testing"
	"time"
)

// While a worker asks for its share, the database may give an unused slot to another
// worker, so no call may take that slot meanwhile.
func TestShareWhileAsking(t *testing.T) {
	t.Parallel()
	c, run := newTestControl(t, 1)
	if _, err := c.pool.Exec(t.Context(), `UPDATE queue_runs SET concurrency = 3 WHERE run = $1`, run); err != nil {
		t.Fatal(err)
	}
	s := c.newShare(run, "a", time.Minute)
	s.waiting = 3
	if err := s.renew(t.Context()); err != nil || s.slots != 3 {
		t.Fatalf("renew = %v with %d slots, want 3", err, s.slots)
	}
	s.waiting = 0

	tx, err := c.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT FROM queue_runs WHERE run = $1 FOR UPDATE`, run); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.renew(t.Context()) }()
	for n := 0; n == 0; time.Sleep(time.Millisecond) {
		if err := tx.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	if s.try(0) {
		t.Error("a call took a slot that the worker is about to return")
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if s.slots != 0 {
		t.Errorf("the worker has %d slots and wants none", s.slots)
	}
}
