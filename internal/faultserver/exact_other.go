//go:build !linux

package faultserver

import (
	"context"
	"time"
)

// exactly waits with a Go timer, unless the caller or the server ends.
func exactly(caller, server context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-caller.Done():
		return caller.Err()
	case <-server.Done():
		return server.Err()
	}
}
