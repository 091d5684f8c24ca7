package telemetry

import (
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// meters are the instruments of a run.
type meters struct {
	meter metric.Meter

	duration metric.Float64Histogram
	tokens   metric.Int64Histogram

	calls, unpriced, retries, cost, records, failures metric.Int64Counter

	inFlight, allowed metric.Int64ObservableGauge
}

// newMeters creates the instruments. It panics on errors: names and units are constants.
func newMeters(p metric.MeterProvider) meters {
	m := meters{meter: p.Meter(scope)}
	counter := func(name string) metric.Int64Counter {
		row := instruments[name]
		return must(m.meter.Int64Counter(name, metric.WithUnit(row.unit), metric.WithDescription(row.help)))
	}
	gauge := func(name string) metric.Int64ObservableGauge {
		row := instruments[name]
		return must(m.meter.Int64ObservableGauge(name, metric.WithUnit(row.unit), metric.WithDescription(row.help)))
	}
	row := instruments[metricDuration]
	m.duration = must(m.meter.Float64Histogram(metricDuration, metric.WithUnit(row.unit),
		metric.WithDescription(row.help), metric.WithExplicitBucketBoundaries(durationBounds...)))
	row = instruments[metricTokens]
	m.tokens = must(m.meter.Int64Histogram(metricTokens, metric.WithUnit(row.unit),
		metric.WithDescription(row.help), metric.WithExplicitBucketBoundaries(tokenBounds...)))
	m.calls, m.unpriced, m.retries = counter(metricCalls), counter(metricUnpriced), counter(metricRetries)
	m.cost, m.records, m.failures = counter(metricCost), counter(metricRecords), counter(metricFailures)
	m.inFlight, m.allowed = gauge(metricInFlight), gauge(metricAllowed)
	return m
}

// noMeters returns instruments that measure nothing.
func noMeters() meters { return newMeters(noop.NewMeterProvider()) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
