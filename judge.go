package deem

import "context"

// A Judge gives verdicts. Rules, prompts for a model, panels and people are all judges.
type Judge interface {
	// Name identifies the judge in records and reports.
	Name() string

	// Judge returns a verdict on the item. If the judge could not decide, the error is
	// a [*Failure], and the item is unjudged, which is not the same as wrong. If ctx is
	// done, the error is that of ctx, and the item has no record yet. Any other error
	// means that no further item can be judged.
	Judge(ctx context.Context, it Item) (Verdict, error)
}

// An Identified judge can describe itself completely: prompt, reading, parameters, model.
type Identified interface {
	Judge

	// Identity returns a value whose canonical JSON distinguishes this judge from every
	// other judge. Its [Hash] is the judge's hash.
	Identity() any
}

// JudgeHash returns the hash of the judge's identity, or of its name if the judge is not
// [Identified].
func JudgeHash(j Judge) (string, error) {
	if ij, ok := j.(Identified); ok {
		return Hash(ij.Identity())
	}
	return Hash(j.Name())
}
