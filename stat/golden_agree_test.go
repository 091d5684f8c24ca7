package stat_test

import "deem/internal/golden"

// metricsB are agreement, correlation, calibration and correction.
func metricsB() map[string]golden.Metric {
	return map[string]golden.Metric{}
}
