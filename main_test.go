package deem_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No goroutine outlives the loop over a run, however it ends.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
