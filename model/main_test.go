package model_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No decorator leaves a goroutine behind, whatever its calls come to.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
