//go:build !linux

package faultserver

import (
	"context"
	"time"
)

// exactly waits with a Go timer, unless the caller or the server ends.
func exactly(caller, server context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-caller.Done():
		return caller.Err()
	case <-server.Done():
		return server.Err()
	}
}
