package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"deem"
	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/words"
)

// grace is how long calls in flight have to finish once the time of a run is over.
// A time limit, as of a CI job, means that the process must end.
const grace = 30 * time.Second

// stopSignals returns the signals that stop a command gently: Ctrl-C, what service managers
// send, and what a closed terminal sends, unless it is ignored, as nohup sees to.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// onInterrupt calls do with the number of each interrupt, the first being 1, until the
// function that it returns is called.
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

// A stopper stops a run: first gently, and then it cancels the calls in flight.
type stopper struct {
	app    *app
	stop   chan struct{} // closed once no further item is taken
	cancel context.CancelFunc
	n      atomic.Int32
}

// gently says why the run stops, unless it stops already.
func (s *stopper) gently(why string) {
	if s.n.CompareAndSwap(0, 1) {
		s.app.say("%s", why)
		close(s.stop)
	}
}

// watch returns what stops a run at the first interrupt, and the context that the second
// one cancels. The deadline, unless it is zero, counts as the first interrupt, and as the
// second one when the calls in flight have had their grace.
func (a *app) watch(ctx context.Context, deadline time.Time) (context.Context, *stopper, func()) {
	ctx, cancel := context.WithCancel(ctx)
	s := &stopper{app: a, stop: make(chan struct{}), cancel: cancel}
	again := func(why string) {
		if s.n.Load() > 0 {
			cancel()
		}
		s.gently(why)
	}
	release := onInterrupt(func(int) { again("stopping: calls in flight finish and are kept; again to cancel them") })
	if deadline.IsZero() {
		return ctx, s, func() { release(); cancel() }
	}
	due := time.AfterFunc(time.Until(deadline), func() {
		again(fmt.Sprintf("the time of --run-timeout is over: calls in flight have %v to finish", grace))
	})
	late := time.AfterFunc(time.Until(deadline)+grace, cancel)
	return ctx, s, func() {
		release()
		due.Stop()
		late.Stop()
		cancel()
	}
}

// unfinished says how far a run came that ended early, and how to go on.
func (a *app) unfinished(ctx context.Context, r *run.Run, o runOptions, err error) error {
	interrupted := errors.Is(err, deem.ErrStopped) || errors.Is(err, context.Canceled)
	if text := kept(context.WithoutCancel(ctx), r.Setup.Store, r.ID); text != "" {
		a.say("%s in %s as run %s", text, a.dbName(), r.ID)
	}
	switch {
	case !interrupted:
		return err
	case !o.deadline.IsZero() && !clock().Before(o.deadline):
		err = fmt.Errorf("%w by --run-timeout %v", errInterrupted, o.runTimeout)
	default:
		err = errInterrupted
	}
	return deem.WithHint(err, "resume with: %s", commandLine(a.args))
}

// kept says how far a run came, as "6 of 10 judged and kept", "" when the store does not say.
// Of its records without a verdict some may be of items that are not done.
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

// commandLine returns the command that continues, ready to be pasted. What starts
// over is left out.
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
