package cli

import (
	"context"

	"deem"
	"deem/internal/published"
)

// An answeredJudge leaves items unjudged for which a file of results has no response: it
// is not an empty one.
type answeredJudge struct{ judge deem.Judge }

func (j answeredJudge) Name() string { return j.judge.Name() }

// Judge fails for items without a response, and asks the judge about the others.
func (j answeredJudge) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if it.Fields[published.NoResponse] != "" {
		return deem.Verdict{}, deem.Failf(deem.Input, "the file has no response here")
	}
	return j.judge.Judge(ctx, it)
}

// answered returns the items of a set that have a response: those that a batch may ask
// about, and by which it is tried whether a judge can judge them.
func answered(data items) items {
	return view(data, changed(data, func(_ int, it deem.Item) (deem.Item, bool) { return it, it.Fields[published.NoResponse] == "" }))
}
