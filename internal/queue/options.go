package queue

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"deem/internal/store"
	"deem/model"
)

// Options are what a run was told that its workers have to know, beside what the run
// itself keeps. There is no secret in them: keys and headers are the workers' own.
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

// queueOf returns the River queue of a run. Runs share one when every worker that can
// judge the one can judge the other: a worker listens only where it can serve, so that
// it takes no ticket away from those who can.
func queueOf(run store.Run, o Options) (string, error) {
	what, err := json.Marshal(struct {
		Judge  string  `json:"judge"`
		Models []Model `json:"models"`
	}{run.Judge.Hash, o.Models})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(what)
	return "judge_" + hex.EncodeToString(sum[:8]), nil
}
