package stat_test

import (
	"maps"
	"testing"

	"deem/internal/golden"
)

// left are the keys of vectors that are not compared on purpose, with the reason.
var left = map[string]string{}

// TestGolden holds the package to what SciPy, statsmodels, NumPy and others gave.
func TestGolden(t *testing.T) {
	metrics := metricsA()
	maps.Copy(metrics, metricsB())
	golden.Test(t, metrics, golden.Options{Relative: 1e-9, Numeric: true, Left: left})
}

// metricsA are intervals, tests, the bootstrap and quantiles.
func metricsA() map[string]golden.Metric {
	return map[string]golden.Metric{}
}
