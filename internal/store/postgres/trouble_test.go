package postgres_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/test/storetest"
)

func begin(t testing.TB, s *postgres.Store) store.Run {
	t.Helper()
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// read returns every record of a run with its calls.
func read(t testing.TB, s store.Store, runID string) []deem.Record {
	t.Helper()
	var list []deem.Record
	for rec, err := range s.Records(t.Context(), runID, store.Query{WithCalls: true}) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, rec)
	}
	return list
}

// TestAppendAtOnce checks that workers in several processes can append to one run
// concurrently, even the same items, and that nothing is lost, counted twice or refused.
func TestAppendAtOnce(t *testing.T) {
	t.Parallel()
	url := storetest.Database(t)
	var stores []*postgres.Store
	for range 3 {
		stores = append(stores, open(t, url, postgres.Options{}))
	}
	run := begin(t, stores[0])
	const workers, groups, size, items = 8, 12, 20, 60
	var failed atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			s := stores[w%len(stores)]
			for g := range groups {
				var recs []deem.Record
				for k := range size {
					// Each worker goes through the items in a different order, and shares
					// texts with the others.
					i := (w*17 + (g*size+k)*(2*w+1)) % items
					rec := storetest.Record(i)
					if (w+g+k)%5 == 0 {
						rec = storetest.Failed(i, deem.Timeout)
					}
					rec.Item.Fields = map[string]string{"dialogue": storetest.Text(fmt.Sprint("dialogue ", i%7), 3000)}
					rec.Calls = []deem.Call{storetest.Call(fmt.Sprint("shared ", i)), storetest.Call(fmt.Sprint(w, " ", g, " ", k))}
					recs = append(recs, rec)
				}
				if err := s.Append(t.Context(), run.ID, recs); err != nil {
					failed.Add(1)
					t.Errorf("Append: %v", err)
				}
			}
		})
	}
	wg.Wait()
	got, err := stores[1].Run(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	recs, unjudged, calls := read(t, stores[2], run.ID), 0, 0
	for _, rec := range recs {
		calls += len(rec.Calls)
		if rec.Failure != nil {
			unjudged++
		}
	}
	const made = workers * groups * size * 2
	if len(recs) != items || calls != made {
		t.Errorf("%d records with %d calls, want %d with %d", len(recs), calls, items, made)
	}
	if got.Records != items || got.Unjudged != unjudged || got.CostMicros != made*40 {
		t.Errorf("Records, Unjudged, CostMicros = %d, %d, %d, want %d, %d, %d",
			got.Records, got.Unjudged, got.CostMicros, items, unjudged, made*40)
	}
	if n := deadlocks(t, stores[0]); n != 0 {
		t.Errorf("the server broke up %d deadlocks, want none", n)
	}
}

// deadlocks returns the number of deadlocks that the server saw in the database.
func deadlocks(t *testing.T, s *postgres.Store) (n int) {
	t.Helper()
	err := s.Pool().QueryRow(t.Context(), `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestAppendMissing checks that if two processes judge the same item, the first record
// stays, with its calls and its cost, and that only records to be judged again are
// replaced.
func TestAppendMissing(t *testing.T) {
	t.Parallel()
	s := open(t, storetest.Database(t), postgres.Options{})
	run := begin(t, s)
	verdict := storetest.Record(1)
	failure := func(kind deem.Kind) deem.Record {
		rec := storetest.Record(1)
		rec.Verdict, rec.Failure = nil, deem.Failf(kind, "no")
		return rec
	}
	for _, c := range []struct {
		name     string
		rec      deem.Record
		failures bool
		kept     bool
		calls    int // of the record afterwards
	}{
		{"one that is unfinished", failure(store.Unfinished), false, true, 1},
		{"a failure in its place", failure(deem.Unparseable), false, true, 2},
		{"another failure", failure(deem.Truncated), false, false, 2},
		{"another failure, which is wanted", failure(deem.Truncated), true, true, 3},
		{"a verdict, which is wanted", verdict, true, true, 4},
		{"a failure after the verdict", failure(deem.Unparseable), true, false, 4},
		{"the verdict again", verdict, true, false, 4},
	} {
		if err := s.AppendMissing(t.Context(), run.ID, []deem.Record{c.rec}, c.failures); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := read(t, s, run.ID)
		if len(got) != 1 || len(got[0].Calls) != c.calls*len(verdict.Calls) {
			t.Fatalf("%s: %d records with %d calls, want 1 with %d", c.name, len(got), len(got[0].Calls), c.calls*len(verdict.Calls))
		}
		if kept := cmp.Equal(got[0].Failure, c.rec.Failure) && cmp.Equal(got[0].Verdict, c.rec.Verdict); kept != (c.kept || c.name == "the verdict again") {
			t.Errorf("%s: the record is %+v, %+v", c.name, got[0].Verdict, got[0].Failure)
		}
		if r, err := s.Run(t.Context(), run.ID); err != nil || r.Records != 1 || r.CostMicros != int64(c.calls)*storetest.Record(1).Calls[0].Reply.CostMicros {
			t.Errorf("%s: the run has %d records for %d micros, %v, want 1 for %d calls", c.name, r.Records, r.CostMicros, err, c.calls)
		}
	}
	if err := s.Finish(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendMissing(t.Context(), run.ID, []deem.Record{verdict}, false); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Run(t.Context(), run.ID); err != nil || r.State != store.Done {
		t.Errorf("the run is %s, %v after a record that was dropped, want done", r.State, err)
	}
}

// waitForAll waits until each worker has appended a group that it began after now: the
// current one may have begun before.
func waitForAll(t *testing.T, done *[3]atomic.Int64, appended <-chan struct{}) {
	t.Helper()
	var want [3]int64
	for w := range done {
		want[w] = done[w].Load() + 2
	}
	patience := time.After(5 * time.Minute)
	for w := 0; w < len(done); {
		if t.Failed() {
			return // A worker that failed appends nothing more.
		}
		if done[w].Load() >= want[w] {
			w++
			continue
		}
		select {
		case <-appended:
		case <-patience:
			t.Fatalf("worker %d appended %d groups, want %d", w, done[w].Load(), want[w])
		}
	}
}

// TestRestart restarts the server while workers append, once gracefully and once as if
// killed, and checks that nothing is lost or duplicated.
func TestRestart(t *testing.T) {
	t.Parallel()
	c := storetest.Start(t, storetest.Options{Template: migrated})
	url := c.Database(t)
	stores := []*postgres.Store{open(t, url, postgres.Options{Check: 50 * time.Millisecond}), open(t, url, postgres.Options{})}
	run := begin(t, stores[0])
	var stop atomic.Bool
	var done [3]atomic.Int64
	appended := make(chan struct{}, 1)
	var wg sync.WaitGroup
	end := func() {
		stop.Store(true)
		wg.Wait()
	}
	defer end()
	for w := range done {
		wg.Go(func() {
			s := stores[w%2]
			for n := 0; !stop.Load(); n++ {
				var recs []deem.Record
				for k := range 8 {
					recs = append(recs, storetest.Record((n*len(done)+w)*8+k))
				}
				err := s.Append(t.Context(), run.ID, recs)
				if err == nil {
					done[w].Add(1)
				} else {
					t.Errorf("Append: %v", err)
				}
				select {
				case appended <- struct{}{}:
				default: // The signal is already pending.
				}
				if err != nil {
					return
				}
				if status, err := s.Status(t.Context(), run.ID, recs[0].Item.ID, 0); status != store.Judged || err != nil {
					t.Errorf("Status of what was just appended = %v, %v, want judged", status, err)
				}
			}
		})
	}
	waitForAll(t, &done, appended)
	for _, atOnce := range []bool{false, true} {
		c.Restart(t, atOnce)
		waitForAll(t, &done, appended)
	}
	end()
	want := 0
	for w := range done {
		want += int(done[w].Load()) * 8
	}
	recs := read(t, stores[1], run.ID)
	for _, rec := range recs {
		if d := cmp.Diff(storetest.Record(rec.Position), rec); d != "" {
			t.Fatalf("record differs (-want +got):\n%s", d)
		}
	}
	got, err := stores[0].Run(t.Context(), run.ID)
	if err != nil || len(recs) != want || got.Records != want || got.CostMicros != int64(want)*40 {
		t.Errorf("%d records, counted %d at a cost of %d, %v, want %d at %d", len(recs), got.Records, got.CostMicros, err, want, want*40)
	}
	// The claim that was lost with the server was taken again.
	waitFor(t, "the claim is held again", func() bool { return holder(t, stores[1]) != 0 })
	if _, _, err := stores[1].Begin(t.Context(), storetest.Spec(""), false); !errors.Is(err, store.ErrBusy) {
		t.Errorf("Begin of a run that is held: %v, want ErrBusy", err)
	}
}

// waitFor waits until a condition is true.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("20 s later it is still not so that %s", what)
		}
	}
}

// TestDown checks that a server that stays down is an error in the end, with a hint, and
// that the store works when it is back.
func TestDown(t *testing.T) {
	t.Parallel()
	c := storetest.Start(t, storetest.Options{Template: migrated})
	s := open(t, c.Database(t), postgres.Options{Wait: 300 * time.Millisecond})
	run := begin(t, s)
	c.Shutdown(t, false)
	err := s.Append(t.Context(), run.ID, []deem.Record{storetest.Record(0)})
	if err == nil || !strings.Contains(deem.HintOf(err), "kept") {
		t.Errorf("Append without a server: %v with the hint %q, want one that says what is kept", err, deem.HintOf(err))
	}
	c.Resume(t)
	if err := s.Append(t.Context(), run.ID, []deem.Record{storetest.Record(0)}); err != nil {
		t.Errorf("Append when the server is back: %v", err)
	}
	if got := read(t, s, run.ID); len(got) != 1 || len(got[0].Calls) != 1 {
		t.Errorf("%d records, want 1 with 1 call", len(got))
	}
}

// A lossy proxy is between a store and its server. On demand, it forwards the next
// statements, discards the answer, and closes the connection.
type lossy struct {
	net.Listener
	server string // path of the socket
	lose   atomic.Bool
	lost   atomic.Int64
}

func newLossy(t *testing.T, socket string) *lossy {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &lossy{Listener: l, server: socket}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.serve(t, client) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	return p
}

func (p *lossy) serve(t *testing.T, client net.Conn) {
	defer client.Close() //nolint:errcheck // Losing it does no harm.
	server, err := (&net.Dialer{}).DialContext(t.Context(), "unix", p.server)
	if err != nil {
		return
	}
	defer server.Close() //nolint:errcheck // Losing it does no harm.
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	buf := make([]byte, 1<<16)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		if p.lose.CompareAndSwap(true, false) {
			p.lost.Add(1)
			return // The server has finished: it answers after the commit.
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}

// TestAnswerLost checks that a commit whose acknowledgement was lost is not made twice:
// otherwise the calls of a record would be stored and paid for twice.
func TestAnswerLost(t *testing.T) {
	t.Parallel()
	c := storetest.Shared(t)
	url := storetest.Database(t)
	_, rest, _ := strings.Cut(url, "@/")
	db, params, _ := strings.Cut(rest, "?host=")
	folder, port, _ := strings.Cut(params, "&port=")
	p := newLossy(t, fmt.Sprintf("%s/.s.PGSQL.%s", folder, port))
	s := open(t, fmt.Sprintf("postgres://deem:%s@%s/%s?sslmode=disable", c.Password(), p.Addr(), db), postgres.Options{})
	run := begin(t, s)
	var want []deem.Record
	for i := range 6 {
		rec := storetest.Record(i)
		want = append(want, rec)
		p.lose.Store(i >= 2) // The first two prepare the statements.
		if err := s.Append(t.Context(), run.ID, []deem.Record{rec}); err != nil {
			t.Fatalf("Append: %v", err)
		}
	}
	if p.lost.Load() != 4 {
		t.Fatalf("%d answers were lost, want 4: the test proves nothing", p.lost.Load())
	}
	if d := cmp.Diff(want, read(t, s, run.ID)); d != "" {
		t.Errorf("records differ (-want +got):\n%s", d)
	}
	got, err := s.Run(t.Context(), run.ID)
	if err != nil || got.Records != 6 || got.CostMicros != 240 {
		t.Errorf("Records, CostMicros = %d, %d, %v, want 6, 240", got.Records, got.CostMicros, err)
	}
	// The same for beginning a run.
	p.lose.Store(true)
	if err := s.Release(run.ID); err != nil {
		t.Fatal(err)
	}
	for _, fresh := range []bool{false, true} {
		p.lose.Store(true)
		run, _, err := s.Begin(t.Context(), storetest.Spec(fmt.Sprint("other ", fresh)), fresh)
		if err != nil {
			t.Fatalf("Begin: %v", err)
		}
		if err := s.Release(run.ID); err != nil {
			t.Fatal(err)
		}
	}
	runs := 0
	for range s.Runs(t.Context()) {
		runs++
	}
	if runs != 3 {
		t.Errorf("%d runs, want 3", runs)
	}
}
