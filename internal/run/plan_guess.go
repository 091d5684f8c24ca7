package run

import (
	"fmt"
	"math"
	"time"

	"deem"
	"deem/internal/words"
)

// Guessed lengths of replies, in tokens. The numbers are rounded means of judges' replies
// that we have seen: a label alone, JSON with a label and a short reason, and prose. The
// last one is what models spend on reasoning about such a question, and is the least
// certain.
const (
	labelReply = 3
	jsonReply  = 60
	proseReply = 120
	thought    = 300

	labelRoom = 16 // A request that allows at most this many tokens expects a label alone.
)

// output returns the expected number of tokens in the reply to req.
func (p *Planner) output(req deem.Request) int {
	if p.o.Output > 0 {
		return p.o.Output
	}
	n := proseReply
	switch {
	case req.MaxTokens > 0 && req.MaxTokens <= labelRoom:
		n = labelReply
	case req.JSON || len(req.Schema) > 0:
		n = jsonReply
	}
	if p.o.Room > 0 {
		n += min(thought, p.o.Room)
	}
	return n
}

// The guessed latency of a call is that of a large model under normal load.
const (
	firstToken = 600 * time.Millisecond
	nextToken  = 20 * time.Millisecond
)

// time adds how long the run takes within its limits, and which limit determines it.
func (p *Planner) time(out *Plan) {
	if out.Calls == 0 {
		return
	}
	out.Latency, out.LatencyGuessed = p.o.Latency, p.o.Latency <= 0
	if out.LatencyGuessed {
		out.Latency = firstToken + time.Duration(out.OutputTokens/int64(out.Calls))*nextToken
	}
	// The last call ends one latency after it began.
	calls := float64(out.Calls)
	out.Time, out.Bound = max(out.Latency, times(out.Latency, calls/float64(p.o.Concurrency))), ByConcurrency
	if p.o.RPM > 0 {
		out.wait(out.Latency+times(time.Minute, (calls-1)/float64(p.o.RPM)), ByRequests)
	}
	if p.o.TPM > 0 {
		out.wait(times(time.Minute, float64(out.InputTokens+out.OutputTokens)/float64(p.o.TPM)), ByTokens)
	}
}

// times returns n times d, capped to avoid overflow.
func times(d time.Duration, n float64) time.Duration {
	return time.Duration(min(math.Round(float64(d)*n), math.MaxInt64/2))
}

// wait makes a limit the one that determines the time, if it takes longer.
func (p *Plan) wait(d time.Duration, by Bound) {
	if d > p.Time {
		p.Time, p.Bound = d, by
	}
}

// warnings returns what the user should know before the run begins.
func (p *Planner) warnings(out Plan) []string {
	var list []string
	warn := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if out.Unjudgeable > 0 {
		warn("%s cannot be judged; the first: %v", words.Count(out.Unjudgeable, "item"), p.unjudgeable)
	}
	if p.tooLong > 0 {
		warn("%s not fit into the %s tokens that %s takes for prompt and reply; the longest has %s",
			words.Plural(p.tooLong, "prompt does", "prompts do"), words.Comma(int64(p.price.Window)), out.Model, about(out, int64(out.LongestPrompt)))
	}
	if p.unbounded && p.costMax > 0 {
		warn("no max_tokens set: the worst case assumes %s output tokens per call", words.Comma(int64(p.longest)))
	}
	if out.Unpriced != "" && out.Calls > 0 {
		warn("%s: give one with --prices", out.Unpriced)
	}
	return list
}
