//go:build !linux

package faultserver

import (
	"context"
	"time"
)

// exactly waits with a timer of Go, unless one of the contexts ends.
func exactly(d time.Duration, ends ...context.Context) error {
	over := make(chan error, len(ends))
	for _, ctx := range ends {
		defer context.AfterFunc(ctx, func() { over <- ctx.Err() })()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case err := <-over:
		return err
	}
}
