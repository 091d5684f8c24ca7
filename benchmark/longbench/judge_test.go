package longbench_test

import (
	"errors"
	"testing"

	"deem"
	"deem/benchmark/longbench"
)

// failure returns the failure that an error must be.
func failure(tb testing.TB, err error) *deem.Failure {
	tb.Helper()
	f, ok := errors.AsType[*deem.Failure](err)
	if !ok {
		tb.Fatalf("error %v, want a failure", err)
	}
	return f
}

func upstream(tb testing.TB) deem.Judge {
	tb.Helper()
	j, err := longbench.Judge(longbench.Upstream)
	if err != nil {
		tb.Fatal(err)
	}
	return j
}
