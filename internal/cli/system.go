package cli

import (
	"encoding/json"

	"github.com/spf13/pflag"

	"deem/internal/store"
	"deem/report"
)

// systemOptions are what a run is told about the system under test. A report needs the
// model to see whether the judge is of its family.
type systemOptions struct {
	name, model string
}

func (o *systemOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.name, "system", "", "the `name` of the system under test, for reports")
	f.StringVar(&o.model, "system-model", "", "the `model` that the system answers with, as openai:gpt-4o: reports note a judge of the same family")
}

// addSystem puts what is known of the system under test into the head of a report.
func addSystem(h *report.Head, run store.Run) {
	var set settings
	if json.Unmarshal(run.Settings, &set) == nil { // A run without settings was told nothing.
		h.System, h.SystemModel = set.System, set.SystemModel
	}
}
