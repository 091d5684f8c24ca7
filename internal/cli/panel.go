package cli

import (
	"deem/internal/catalog"
	"deem/internal/usage"
)

// joinPanel applies the flags for repetition and ties to a judge.
func (o runOptions) joinPanel(c catalog.Choice) (catalog.Choice, error) {
	if o.repeat != 0 {
		if o.repeat < 2 {
			return c, usage.Errorf("--repeat is %d; asking once is what is done without it", o.repeat)
		}
		return catalog.Repeated(c, o.repeat, o.tie)
	}
	if o.tie == "" {
		return c, nil
	}
	return c.WithTie(o.tie)
}
