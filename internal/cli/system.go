package cli

import (
	"github.com/spf13/pflag"
)

// systemOptions are what a run is told about the system under test. A report needs the
// model to see whether the judge is of its family.
type systemOptions struct {
	name, model string
}

func (o *systemOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.name, "system", "", "the `name` of the system under test, for reports")
	f.StringVar(&o.model, "system-model", "", "the `model` behind the system under test, for example openai:gpt-4o: reports point out a judge of the same family")
}
