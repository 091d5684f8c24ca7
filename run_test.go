package deem_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deem"
)

// judgeFunc is a judge made of a function.
type judgeFunc func(ctx context.Context, it deem.Item) (deem.Verdict, error)

func (f judgeFunc) Name() string { return "test" }
func (f judgeFunc) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	return f(ctx, it)
}

func right(context.Context, deem.Item) (deem.Verdict, error) {
	return deem.Verdict{Label: "right", Score: 1}, nil
}

// items yields n items with the ids "0", "1", ...
func items(n int) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for i := range n {
			if !yield(deem.Item{ID: strconv.Itoa(i)}, nil) {
				return
			}
		}
	}
}

// collect runs the loop to its end.
func collect(seq iter.Seq2[deem.Record, error]) (recs []deem.Record, err error) {
	for rec, e := range seq {
		if e != nil {
			err = e
			continue
		}
		recs = append(recs, rec)
	}
	return recs, err
}

func TestRunGivesEveryTrialOneRecord(t *testing.T) {
	recs, err := collect(deem.Run(t.Context(), items(100), judgeFunc(right), deem.Options{Trials: 3, Concurrency: 7}))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, rec := range recs {
		seen[fmt.Sprint(rec.Item.ID, " ", rec.Trial)]++
		if strconv.Itoa(rec.Position) != rec.Item.ID {
			t.Errorf("item %s has position %d", rec.Item.ID, rec.Position)
		}
	}
	if len(seen) != 300 || len(recs) != 300 {
		t.Errorf("%d records of %d trials, want 300 of 300", len(recs), len(seen))
	}
}

func TestRunKeepsAtMostSoManyInFlight(t *testing.T) {
	for _, c := range []struct{ given, want int }{{0, 8}, {1, 1}, {64, 64}} {
		synctest.Test(t, func(t *testing.T) {
			var now, high atomic.Int64
			j := judgeFunc(func(ctx context.Context, it deem.Item) (deem.Verdict, error) {
				for n, h := now.Add(1), high.Load(); n > h && !high.CompareAndSwap(h, n); h = high.Load() {
				}
				time.Sleep(time.Second)
				now.Add(-1)
				return right(ctx, it)
			})
			start := time.Now()
			if _, err := collect(deem.Run(t.Context(), items(128), j, deem.Options{Concurrency: c.given})); err != nil {
				t.Fatal(err)
			}
			if high.Load() != int64(c.want) {
				t.Errorf("Concurrency %d: %d in flight, want %d", c.given, high.Load(), c.want)
			}
			if got, want := time.Since(start), time.Duration(128/c.want)*time.Second; got != want {
				t.Errorf("Concurrency %d took %v, want %v", c.given, got, want)
			}
		})
	}
}

func TestRunTakesItemsOnlyAsFastAsTheyAreJudged(t *testing.T) {
	taken := 0
	counted := func(yield func(deem.Item, error) bool) {
		for it := range items(1000) {
			taken++
			if !yield(it, nil) {
				return
			}
		}
	}
	n := 0
	for range deem.Run(t.Context(), counted, judgeFunc(right), deem.Options{Concurrency: 4}) {
		if n++; n == 10 {
			break
		}
	}
	// Ten records were taken; 32 more may wait to be, four may be at work, four may
	// be read ahead, and one is in the feeder's hand.
	if taken > 10+32+4+4+1 {
		t.Errorf("%d items taken for 10 records", taken)
	}
}

// TestRunBeginsNothingThatWasReadAhead stops while items wait for a worker.
func TestRunBeginsNothingThatWasReadAhead(t *testing.T) {
	broken := errors.New("wrong key")
	for _, c := range []struct {
		name string
		end  func(stop func()) error // what the first judgment does and returns
		want error
	}{
		{"the gentle stop", func(stop func()) error { stop(); return nil }, deem.ErrStopped},
		{"an error of the judge", func(func()) error { return broken }, broken},
		{"both", func(stop func()) error { stop(); return broken }, broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stop := make(chan struct{})
				var judged atomic.Int64
				j := judgeFunc(func(ctx context.Context, it deem.Item) (deem.Verdict, error) {
					judged.Add(1)
					time.Sleep(time.Second) // Until then all that may be read ahead is.
					if err := c.end(func() { close(stop) }); err != nil {
						return deem.Verdict{}, err
					}
					return right(ctx, it)
				})
				// Of two items the second is read, and the stream is at its end.
				_, err := collect(deem.Run(t.Context(), items(2), j, deem.Options{Concurrency: 1, Stop: stop}))
				if !errors.Is(err, c.want) || judged.Load() != 1 {
					t.Errorf("%d judged, error %v, want 1 and %v", judged.Load(), err, c.want)
				}
			})
		})
	}
}

// TestRunHandsRecordsOver holds that a caller who is slow keeps no worker from its next
// item, and gets every record all the same.
func TestRunHandsRecordsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var judged atomic.Int64
		j := judgeFunc(func(ctx context.Context, it deem.Item) (deem.Verdict, error) {
			judged.Add(1)
			return right(ctx, it)
		})
		n := 0
		for _, err := range deem.Run(t.Context(), items(100), j, deem.Options{Concurrency: 4}) {
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // Everybody has come as far as they can.
			if n++; n == 1 && judged.Load() != 1+32+4 {
				t.Errorf("%d judged while the caller held the first record, want 32 that wait and 4 in the workers' hands beside it", judged.Load())
			}
		}
		if n != 100 {
			t.Errorf("%d records, want 100", n)
		}
	})
}

func TestRunKeepsAFailureAsData(t *testing.T) {
	j := judgeFunc(func(ctx context.Context, it deem.Item) (deem.Verdict, error) {
		if it.ID == "1" {
			return deem.Verdict{}, fmt.Errorf("reading: %w", deem.Failf(deem.Refused, "no"))
		}
		return right(ctx, it)
	})
	recs, err := collect(deem.Run(t.Context(), items(3), j, deem.Options{}))
	if err != nil || len(recs) != 3 {
		t.Fatalf("%d records, error %v", len(recs), err)
	}
	for _, rec := range recs {
		if (rec.Verdict == nil) == (rec.Failure == nil) {
			t.Errorf("item %s: verdict %v and failure %v", rec.Item.ID, rec.Verdict, rec.Failure)
		}
		if rec.Item.ID == "1" && rec.Failure.Kind != deem.Refused {
			t.Errorf("item 1: kind %s", rec.Failure.Kind)
		}
	}
}

func TestRunHoldsVerdictsToTheirPromise(t *testing.T) {
	two := 2.0
	for _, c := range []struct {
		v    deem.Verdict
		want deem.Kind
	}{
		{deem.Verdict{Label: "x", Score: math.NaN()}, deem.OutOfRange},
		{deem.Verdict{Label: "x", Score: 1.01}, deem.OutOfRange},
		{deem.Verdict{Label: "x", Score: -0.01}, deem.OutOfRange},
		{deem.Verdict{Label: "x", Score: math.Inf(1)}, deem.OutOfRange},
		{deem.Verdict{Label: "x", Confidence: &two}, deem.OutOfRange},
		{deem.Verdict{Score: 1}, deem.Unparseable},
	} {
		j := judgeFunc(func(context.Context, deem.Item) (deem.Verdict, error) { return c.v, nil })
		recs, err := collect(deem.Run(t.Context(), items(1), j, deem.Options{}))
		if err != nil || len(recs) != 1 || recs[0].Failure == nil || recs[0].Failure.Kind != c.want {
			t.Errorf("verdict %+v: records %+v, error %v, want failure %s", c.v, recs, err, c.want)
		}
	}
}

func TestRunEndsOnAnErrorOfTheJudge(t *testing.T) {
	broken := errors.New("wrong key")
	synctest.Test(t, func(t *testing.T) {
		var judged atomic.Int64
		j := judgeFunc(func(ctx context.Context, it deem.Item) (deem.Verdict, error) {
			time.Sleep(time.Second)
			if judged.Add(1) == 6 {
				return deem.Verdict{}, broken
			}
			return right(ctx, it)
		})
		recs, err := collect(deem.Run(t.Context(), items(1000), j, deem.Options{Concurrency: 4}))
		if !errors.Is(err, broken) {
			t.Errorf("error %v, want %v", err, broken)
		}
		// The others of the same second were in flight; they finish and are kept.
		if len(recs) < 7 || len(recs) > 12 {
			t.Errorf("%d records, want those in flight and no more", len(recs))
		}
	})
}

func TestRunEndsOnAnErrorOfTheItems(t *testing.T) {
	torn := errors.New("items.jsonl:21: torn")
	seq := func(yield func(deem.Item, error) bool) {
		for it := range items(20) {
			if !yield(it, nil) {
				return
			}
		}
		yield(deem.Item{}, torn)
	}
	// What was read before the error is judged, also what waited for a worker.
	for _, at := range []int{1, 8, 64} {
		recs, err := collect(deem.Run(t.Context(), seq, judgeFunc(right), deem.Options{Concurrency: at}))
		if !errors.Is(err, torn) || len(recs) != 20 {
			t.Errorf("Concurrency %d: %d records, error %v, want 20 and %v", at, len(recs), err, torn)
		}
	}
}

func TestRunStopsInTwoStages(t *testing.T) {
	slow := judgeFunc(func(ctx context.Context, it deem.Item) (deem.Verdict, error) {
		select {
		case <-time.After(10 * time.Second):
			return right(ctx, it)
		case <-ctx.Done():
			// A careless judge calls its interruption a failure of the item.
			return deem.Verdict{}, deem.Failf(deem.Timeout, "%v", ctx.Err())
		}
	})
	t.Run("gently", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stop := make(chan struct{})
			time.AfterFunc(15*time.Second, func() { close(stop) })
			recs, err := collect(deem.Run(t.Context(), items(1000), slow, deem.Options{Concurrency: 4, Stop: stop}))
			if !errors.Is(err, deem.ErrStopped) || len(recs) != 8 {
				t.Errorf("%d records, error %v, want the 8 that were begun and ErrStopped", len(recs), err)
			}
		})
	})
	t.Run("hard", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
			defer cancel()
			recs, err := collect(deem.Run(ctx, items(1000), slow, deem.Options{Concurrency: 4}))
			if !errors.Is(err, context.DeadlineExceeded) || len(recs) != 4 {
				t.Errorf("%d records, error %v, want the 4 that were done and the context's", len(recs), err)
			}
		})
	})
	t.Run("after the last item", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stop := make(chan struct{})
			time.AfterFunc(5*time.Second, func() { close(stop) })
			recs, err := collect(deem.Run(t.Context(), items(3), slow, deem.Options{Concurrency: 4, Stop: stop}))
			if err != nil || len(recs) != 3 {
				t.Errorf("%d records, error %v: every item was begun, so nothing was stopped", len(recs), err)
			}
		})
	})
}

func TestRunJudgesOnlyWhatIsMissing(t *testing.T) {
	done := func(_ context.Context, it deem.Item, trial int) (bool, error) {
		return it.ID != "5" || trial == 0, nil
	}
	recs, err := collect(deem.Run(t.Context(), items(10), judgeFunc(right), deem.Options{Trials: 2, Done: done}))
	if err != nil || len(recs) != 1 || recs[0].Item.ID != "5" || recs[0].Trial != 1 || recs[0].Position != 5 {
		t.Errorf("records %+v, error %v, want trial 1 of item 5", recs, err)
	}
	broken := errors.New("disk")
	_, err = collect(deem.Run(t.Context(), items(10), judgeFunc(right), deem.Options{
		Done: func(context.Context, deem.Item, int) (bool, error) { return false, broken },
	}))
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

func TestRunKeepsCallsWithTheirTrial(t *testing.T) {
	j := judgeFunc(func(ctx context.Context, it deem.Item) (deem.Verdict, error) {
		for range 2 {
			deem.NoteCall(ctx, deem.Call{Request: fmt.Sprint(it.ID, "/", deem.TrialOf(ctx))})
		}
		return right(ctx, it)
	})
	recs, err := collect(deem.Run(t.Context(), items(20), j, deem.Options{Trials: 2}))
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range recs {
		want := fmt.Sprint(rec.Item.ID, "/", rec.Trial)
		got := []string{}
		for _, c := range rec.Calls {
			got = append(got, c.Request)
		}
		if !slices.Equal(got, []string{want, want}) {
			t.Errorf("calls %v, want twice %s", got, want)
		}
	}
	deem.NoteCall(t.Context(), deem.Call{}) // without a ledger nothing happens
}

func TestRunLeavesNoGoroutineBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // synctest fails when a goroutine is left
		j := judgeFunc(func(ctx context.Context, _ deem.Item) (deem.Verdict, error) {
			<-ctx.Done()
			return deem.Verdict{}, ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if recs, err := collect(deem.Run(ctx, items(10), j, deem.Options{})); err == nil || len(recs) != 0 {
			t.Errorf("records %v, error %v", recs, err)
		}
	})
}
