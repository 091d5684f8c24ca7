package queue

import (
	"time"

	"deem/internal/store"
	"deem/model"
)

// Options are what workers have to know of a run besides what the store keeps of it. They
// hold no secret: keys and headers are the workers' own.
type Options struct {
	Models []Model `json:"models,omitempty"` // that the judge asks

	Concurrency int           `json:"concurrency,omitempty"` // calls of all workers at once; 0 is any number
	RPM         int           `json:"rpm,omitempty"`         // requests a minute of all workers
	TPM         int           `json:"tpm,omitempty"`         // tokens a minute of all workers
	MaxMicros   *int64        `json:"max_micros,omitempty"`  // what the run may cost, earlier parts included
	Retries     int           `json:"retries"`
	Timeout     time.Duration `json:"timeout,omitempty"` // of one call
	Prices      model.Prices  `json:"prices,omitzero"`

	Fresh         bool     `json:"fresh,omitempty"` // what was asked before is asked again
	RetryUnjudged bool     `json:"retry_unjudged,omitempty"`
	Priority      Priority `json:"priority"`
	Version       string   `json:"version,omitempty"` // the deem that queued it
}

// A Model is one that the judge of a run asks, and how it was reached. A worker reaches
// it with its own settings, and refuses the run when that is another place: its key goes
// nowhere else.
type Model struct {
	Name     string            `json:"name"`
	Settings string            `json:"settings,omitempty"` // as they are part of the judge
	Endpoint string            `json:"endpoint,omitempty"`
	Options  map[string]string `json:"options,omitempty"` // of the vendor's own
}

// CleanEndpoint returns an address as it is kept, without what may be secret in it.
func CleanEndpoint(endpoint string) string {
	s, err := store.Spec{Judge: store.JudgeSpec{Hash: "any"}, Dataset: store.DatasetSpec{Hash: "any"}, Trials: 1, Endpoint: endpoint}.Clean()
	if err != nil {
		panic(err) // It lacks nothing.
	}
	return s.Endpoint
}

// queueOf returns the River queue of a run. Each has its own, so that a worker listens
// only where it can judge, and runs take turns in each worker.
func queueOf(runID string) string { return "run_" + runID }
