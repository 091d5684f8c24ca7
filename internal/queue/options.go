package queue

import (
	"time"

	"deem/model"
)

// Options are the settings of a run that workers need and the store does not keep. They
// contain no secrets: workers use their own keys and headers.
type Options struct {
	Models []Model `json:"models,omitempty"` // used by the judge

	Concurrency int           `json:"concurrency,omitempty"` // concurrent calls of all workers; 0 means no limit
	RPM         int           `json:"rpm,omitempty"`         // requests per minute of all workers
	TPM         int           `json:"tpm,omitempty"`         // tokens per minute of all workers
	MaxMicros   *int64        `json:"max_micros,omitempty"`  // budget of the run, including earlier parts
	Retries     int           `json:"retries"`
	Timeout     time.Duration `json:"timeout,omitempty"` // of one call
	Prices      model.Prices  `json:"prices,omitzero"`

	Fresh         bool     `json:"fresh,omitempty"` // do not use cached replies
	RetryUnjudged bool     `json:"retry_unjudged,omitempty"`
	Priority      Priority `json:"priority"`
	Version       string   `json:"version,omitempty"` // of the deem that queued it
}

// A Model is a model that the judge of a run uses, and its address. A worker opens it with
// its own configuration and refuses the run if that leads to a different address, so that
// its key is sent nowhere else.
type Model struct {
	Name     string            `json:"name"`
	Settings string            `json:"settings,omitempty"` // part of the judge's identity
	Endpoint string            `json:"endpoint,omitempty"`
	Options  map[string]string `json:"options,omitempty"` // vendor-specific
}

// queueOf returns the name of the River queue of a run. Each run has its own queue, so that
// a worker listens only to runs it can judge, and runs take turns in each worker.
func queueOf(runID string) string { return "run_" + runID }
