package deem

import "context"

// A Judge decides. Rules, models, panels and people are all judges.
type Judge interface {
	// Name identifies the judge in records and reports.
	Name() string

	// Judge returns its verdict on it. If the judge was asked but gave nothing
	// usable, the error is a [*Failure]; such an item is unjudged, which is not
	// the same as wrong. Once ctx is done the error is that of ctx, and the item
	// is simply not done yet. Any other error means that no further item can be
	// judged.
	Judge(ctx context.Context, it Item) (Verdict, error)
}

// An Identified judge can say exactly what it is: prompt, reading, parameters,
// model.
type Identified interface {
	Judge

	// Identity returns a value whose canonical JSON tells this judge from every
	// other. [Hash] of it is the judge's hash.
	Identity() any
}

// JudgeHash returns the hash of the judge's identity. A judge that does not say
// what it is has the hash of its name.
func JudgeHash(j Judge) (string, error) {
	if ij, ok := j.(Identified); ok {
		return Hash(ij.Identity())
	}
	return Hash(j.Name())
}
