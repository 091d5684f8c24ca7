package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"deem"
	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/words"
)

// grace is how long calls in flight have to finish once the time of a run is over.
// Whoever gave the time, as for a job of CI, wants the process to end.
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

// watch makes the first interrupt close the returned channel and the second cancel the
// returned context. The deadline, unless it is zero, counts as the first interrupt, and
// as the second one when the calls in flight have had their grace. Enough, once closed,
// counts as the first interrupt too; it may be nil.
func (a *app) watch(ctx context.Context, deadline time.Time, enough <-chan struct{}) (context.Context, <-chan struct{}, func()) {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{app: a, stop: make(chan struct{}), cancel: cancel}
	signals, over := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, stopSignals()...)
	var timer *time.Timer
	var due <-chan time.Time
	if !deadline.IsZero() {
		timer = time.NewTimer(time.Until(deadline))
		due = timer.C
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-enough:
				enough = nil
				if w.n > 0 {
					continue // It stops already.
				}
				w.interrupt("the rule of --until holds: calls in flight finish and are kept; Ctrl-C cancels them")
			case <-signals:
				w.interrupt("stopping: calls in flight finish and are kept; again to cancel them")
			case <-due:
				w.interrupt(fmt.Sprintf("the time of --run-timeout is over: calls in flight have %v to finish", grace))
				timer.Reset(grace)
			}
		}
	})
	return ctx, w.stop, func() {
		signal.Stop(signals)
		close(over)
		wg.Wait()
		if timer != nil {
			timer.Stop()
		}
		cancel()
	}
}

// A watcher stops a run, gently and then hard. It belongs to one goroutine.
type watcher struct {
	app    *app
	n      int
	stop   chan struct{}
	cancel context.CancelFunc
}

// interrupt is gentle the first time, and says so.
func (w *watcher) interrupt(words string) {
	if w.n++; w.n > 1 {
		w.cancel()
		return
	}
	w.app.say("%s", words)
	close(w.stop)
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
	return deem.WithHint(err, "go on with: %s", commandLine(a.args))
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
