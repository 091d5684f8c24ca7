package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/words"
)

// grace is how long calls in flight may take to finish after the time limit of a run. A
// time limit, for example of a CI job, means that the process must end.
const grace = 30 * time.Second

// stopSignals returns the signals for a graceful stop: Ctrl-C, SIGTERM from service
// managers, and SIGHUP from a closed terminal, unless it is ignored, as with nohup.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// onInterrupt calls do with the number of each interrupt, from 1, until the returned
// function is called.
func onInterrupt(do func(n int)) (release func()) {
	signals, over := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, stopSignals()...)
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 1; ; n++ {
			select {
			case <-over:
				return
			case <-signals:
				do(n)
			}
		}
	})
	return func() {
		signal.Stop(signals)
		close(over)
		wg.Wait()
	}
}

// A stopper stops a run: first gracefully, and then by cancelling the calls in flight.
type stopper struct {
	app  *app
	stop chan struct{} // closed when no further item may be taken
	n    atomic.Int32
}

// stopGracefully begins a graceful stop and prints the reason, unless the run is already stopping.
func (s *stopper) stopGracefully(why string) {
	if s.n.CompareAndSwap(0, 1) {
		s.app.say("%s", why)
		close(s.stop)
	}
}

// watch returns a stopper that stops a run at the first interrupt, and a context that the
// second interrupt cancels. The deadline, unless it is zero, counts as the first interrupt,
// and as the second one after the grace period.
func (a *app) watch(ctx context.Context, deadline time.Time) (context.Context, *stopper, func()) {
	ctx, cancel := context.WithCancel(ctx)
	s := &stopper{app: a, stop: make(chan struct{})}
	again := func(why string) {
		if s.n.Load() > 0 {
			cancel()
		}
		s.stopGracefully(why)
	}
	release := onInterrupt(func(int) { again("stopping: calls in flight finish and are kept; again to cancel them") })
	var timers []*time.Timer
	if !deadline.IsZero() {
		timers = append(timers, time.AfterFunc(time.Until(deadline), func() {
			again(fmt.Sprintf("the time of --run-timeout is over: calls in flight have %v to finish", grace))
		}), time.AfterFunc(time.Until(deadline)+grace, cancel))
	}
	return ctx, s, func() {
		release()
		for _, t := range timers {
			t.Stop()
		}
		cancel()
	}
}

// kept returns the progress of a run, for example "6 of 10 judged and kept", or "" if the
// store cannot be read. Some of its records without a verdict may be of unfinished items.
func kept(ctx context.Context, st store.Store, id string) string {
	now, err := st.Run(ctx, id)
	if err != nil {
		return ""
	}
	unfinished, _ := run.Unfinished(ctx, st, now) // Without it they count as unjudged.
	judged := fmt.Sprintf("%s of %s judged", words.Comma(now.Records-now.Unjudged), words.Comma(now.Dataset.Items*now.Trials))
	if unjudged := now.Unjudged - len(unfinished); unjudged > 0 {
		return fmt.Sprintf("%s, %s unjudged, and kept", judged, words.Comma(unjudged))
	}
	return judged + " and kept"
}

// commandLine returns the command that resumes, ready to be pasted. It omits flags that
// start over.
func commandLine(args []string) string {
	words := []string{"deem"}
	for _, arg := range args {
		if arg == "--fresh" || arg == "--fresh=true" {
			continue
		}
		arg = redactArg(arg)
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'\\$`*?[]{}()<>|&;#~!") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}
