package model

import (
	"context"
	"errors"
	"fmt"

	"deem"
	"deem/internal/money"
	"deem/internal/words"
)

// A budgeted model starts no call that its budget cannot pay for. See newBudgeted.
type budgeted struct {
	decorator
	budget *money.Budget
	price  Price
	priced bool
	tier   string
	room   int // tokens added to the limit of a request for thinking
}

// newBudgeted returns a model that reserves the cost of each request before the request is made. A request that cannot be paid for, or to a model with an unknown price, ends in
// a fatal error of kind budget.
//
// The maximum cost of a request is one token for each byte of its input, which no vendor's
// tokenizer exceeds, MaxTokens of output, and the room for thinking. A request without
// MaxTokens is assumed to get the longest reply of its model (see [MostUsage]); bounded
// replies allow many calls in flight on a small budget.
//
// One reservation covers all attempts of a request, since vendors do not charge for errors.
// They may charge for an attempt whose reply was lost: it timed out or was interrupted, or
// the reply was truncated or could not be read. Such an attempt counts as spent at its
// maximum cost, although no record shows it, and another reservation is made before the
// next attempt. The budget thus never counts less than the vendor's bill.
//
// The model inside has a meter, which sees the attempts and computes their cost.
func newBudgeted(m deem.Model, b *money.Budget, prices Prices) deem.Model {
	tier := TierOf(m)
	price, ok := prices.Of(m.Name(), tier)
	return &budgeted{decorator: decorator{m}, budget: b, price: price, priced: ok, tier: tier, room: RoomOf(m)}
}

// Complete reserves the maximum cost, calls the model inside, and settles.
func (b *budgeted) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if !b.priced {
		return deem.Reply{}, &deem.ModelError{Kind: deem.Budget, Fatal: true, Err: Unpriced(b.Name(), b.tier)}
	}
	bounded := req
	if req.MaxTokens > 0 {
		bounded.MaxTokens += b.room
	}
	call, hold, err := b.budget.Begin(ctx, deem.Stopping(ctx), b.price.Cost(MostUsage(b.Name(), bounded)))
	if errors.Is(err, money.ErrStopped) {
		return deem.Reply{}, deem.ErrStopped
	}
	if err != nil {
		return deem.Reply{}, refusal(err)
	}
	cost := int64(0)
	defer func() { hold.End(ctx, cost) }() // A panic in the wire must not keep the money.
	reply, err := b.inner.Complete(call, req)
	if err != nil {
		return deem.Reply{}, err
	}
	cost = reply.CostMicros
	return reply, nil
}

// refusal explains the error of a call that the budget cannot pay for. It returns other errors
// unchanged.
func refusal(err error) error {
	e, ok := errors.AsType[*money.RefusedError](err)
	if !ok {
		return err
	}
	says := fmt.Sprintf("the budget of %s is used up: %s spent", words.ExactDollars(e.Sum), words.ExactDollars(e.Spent))
	hint := "what was judged is kept; with a higher --max-cost the same command resumes and repeats nothing"
	if e.Aside > 0 {
		says += fmt.Sprintf(", %s set aside for calls whose cost is not known", words.ExactDollars(e.Aside))
		hint = "what was judged is kept; the same command resumes with a higher --max-cost, or once `deem queue settle RUN` releases what the vendor did not charge"
	}
	says += ", and the next call may cost " + words.ExactDollars(e.Need)
	if e.Factor > 1 {
		says += fmt.Sprintf(", because a reply cost %s times what its request allows", words.Comma(int(e.Factor)))
	} else if e.Need > e.Sum {
		says = fmt.Sprintf("one call may cost %s, more than the whole budget of %s", words.ExactDollars(e.Need), words.ExactDollars(e.Sum))
		hint = "raise --max-cost, or bound the length of replies with --max-tokens, which bounds what a call may cost"
	}
	return &deem.ModelError{Kind: deem.Budget, Fatal: true, Err: deem.WithHint(errors.New(says), "%s", hint)}
}

// Unpriced returns the error of a budget for a model whose price is unknown, in general or
// for the requested service tier.
func Unpriced(name, tier string) error {
	full := name
	if tier != "" {
		full += " with service-tier=" + tier
	}
	return deem.WithHint(fmt.Errorf("the price of %s is not known, so no budget can hold", full),
		`give its price for a million tokens with --prices prices.json, a file with {"prices": [{"model": %q, "input": 0.50, "output": 1.50}]}, or leave --max-cost out`, name)
}

// billed reports whether a vendor may charge for an attempt that ended in err although no
// reply arrived.
func billed(err error) bool {
	if me, ok := errors.AsType[*deem.ModelError](err); ok {
		return me.Billed || me.Kind == deem.Timeout && me.Status == 0
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
