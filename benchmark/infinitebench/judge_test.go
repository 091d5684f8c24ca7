package infinitebench_test

import (
	"errors"
	"testing"

	"deem"
	"deem/benchmark/infinitebench"
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

func judge(tb testing.TB, reading string) deem.Judge {
	tb.Helper()
	j, err := infinitebench.Judge(reading)
	if err != nil {
		tb.Fatal(err)
	}
	return j
}
