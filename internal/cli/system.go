package cli

import (
	"github.com/spf13/pflag"
)

// systemOptions describe the system under test. A report uses the model to check whether
// the judge is of the same family.
type systemOptions struct {
	name, model string
}

func (o *systemOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.name, "system", "", "the `name` of the system under test, for reports")
	f.StringVar(&o.model, "system-model", "", "the `model` behind the system under test, for example openai:gpt-4o: reports point out a judge of the same family")
}
