package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"deem"
	"deem/internal/store"
)

// watchSignals makes the first interrupt close the returned channel and the second
// cancel the returned context.
func (a *app) watchSignals(ctx context.Context) (context.Context, <-chan struct{}, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals, stop, over := make(chan os.Signal, 2), make(chan struct{}), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-over:
				return
			case <-signals:
			}
			if n == 0 {
				a.say("stopping: calls in flight finish and are kept; again to cancel them")
				close(stop)
			} else {
				cancel()
			}
		}
	}()
	return ctx, stop, func() {
		signal.Stop(signals)
		close(over)
		cancel()
	}
}

// unfinished says how far a run came that ended early, and how to go on.
func (a *app) unfinished(ctx context.Context, st store.Store, run store.Run, err error) error {
	interrupted := errors.Is(err, deem.ErrStopped) || errors.Is(err, context.Canceled)
	now, rerr := st.Run(context.WithoutCancel(ctx), run.ID)
	if rerr == nil {
		a.say("%s of %s judged and kept in %s as run %s", thousands(now.Records), thousands(run.Dataset.Items*run.Trials), a.db, run.ID)
	}
	if !interrupted {
		return err
	}
	return deem.WithHint(errInterrupted, "go on with: %s", commandLine(a.args))
}

// commandLine returns the command that continues, ready to be pasted. What starts
// over is left out.
func commandLine(args []string) string {
	words := []string{"deem"}
	for _, arg := range args {
		if arg == "--fresh" || arg == "--fresh=true" {
			continue
		}
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'\\$`*?[]{}()<>|&;#~!") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}
