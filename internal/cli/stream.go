package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/pflag"

	"deem"
	"deem/internal/store"
	"deem/report"
)

// An event is a line that a command with --stream writes to standard output. Exactly one of
// its parts is set. docs/cli.md documents them.
type event struct {
	Event   string         `json:"event"` // run, record, report or error
	Run     *runEvent      `json:"run,omitempty"`
	Record  *deem.Record   `json:"record,omitempty"`
	Report  *report.Report `json:"report,omitempty"`
	Error   string         `json:"error,omitempty"`
	Hint    string         `json:"hint,omitempty"`
	Exit    int            `json:"exit,omitempty"`
	Problem []deem.Problem `json:"problems,omitempty"`
}

// A runEvent describes the run that begins or resumes.
type runEvent struct {
	ID    string `json:"id"`
	Judge string `json:"judge"`
	Model string `json:"model,omitempty"`
	Items int    `json:"items"`
	Done  int    `json:"done"` // records of earlier commands
}

func (a *app) streamFlag(f *pflag.FlagSet) {
	f.BoolVar(&a.stream, "stream", false, "write JSON lines to standard output: each record when it is done, then the report (docs/cli.md)")
}

// emit writes an event as one line.
func (a *app) emit(e event) {
	line, err := json.Marshal(e)
	if err != nil {
		line, _ = json.Marshal(event{Event: "error", Error: err.Error(), Exit: 1}) // can always be encoded
	}
	_, _ = a.out.Write(append(line, '\n')) // The screen keeps the error.
}

// emitKept writes the stored data of a run.
func (a *app) emitKept(ctx context.Context, st store.Store, run store.Run) error {
	a.emit(event{Event: "run", Run: &runEvent{ID: run.ID, Judge: run.Judge.Name, Model: run.Model, Items: run.Dataset.Items, Done: run.Records}})
	for rec, err := range st.Records(ctx, run.ID, store.Query{WithCalls: true}) {
		if err != nil {
			return err
		}
		a.emit(event{Event: "record", Record: &rec})
	}
	return nil
}
