package model_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No decorator leaks a goroutine, whatever the outcome of its calls.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
