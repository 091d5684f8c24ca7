package cli

import (
	"context"

	"deem"
	"deem/internal/published"
)

// An answeredJudge leaves items unjudged if a result file has no response for them, which
// is not the same as an empty response.
type answeredJudge struct{ judge deem.Judge }

func (j answeredJudge) Name() string { return j.judge.Name() }

// Judge fails for items without a response, and calls the inner judge for the others.
func (j answeredJudge) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if it.Fields[published.NoResponse] != "" {
		return deem.Verdict{}, deem.Failf(deem.Input, "the file has no response here")
	}
	return j.judge.Judge(ctx, it)
}

// answered returns the items of a set that have a response: those that a batch may include,
// and that are used to test whether a judge can judge them.
func answered(data items) items {
	return view(data, changed(data, func(_ int, it deem.Item) (deem.Item, bool) { return it, it.Fields[published.NoResponse] == "" }))
}
