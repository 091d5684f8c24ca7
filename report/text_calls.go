package report

import (
	"time"

	"deem/internal/words"
	"deem/report/internal/page"
)

// calls writes what was asked and what it cost.
func (p *sheet) calls(c Calls) {
	if c.N == 0 {
		return
	}
	p.WriteByte('\n')
	p.Line("calls", words.Comma(c.N), page.Optional(c.Cached, "cached"), page.Optional(c.Failed, "failed"),
		words.Count(c.Attempts, "attempt"), retries(c.Retries))
	p.Line("cost", words.Dollars(c.CostMicros), page.Optional(c.Unpriced, "unpriced"), page.Optional(c.Estimated, "estimated"))
	p.Line("tokens", "in "+words.Comma(c.InputTokens), "out "+words.Comma(c.OutputTokens),
		"cached in "+words.Comma(c.CachedInputTokens), "reasoning "+words.Comma(c.ReasoningTokens))
	if l := c.Latency; l != nil {
		p.Line("latency", "p50 "+l.P50.String(), "p95 "+l.P95.String(), page.NEquals(l.N))
	}
	name := "replies"
	for _, m := range c.Models {
		reported := m.Reported
		if reported == m.Asked {
			reported = "" // said already
		}
		p.Line(name, words.Comma(m.Replies)+" from "+page.Cell(page.OrNone(m.Asked), page.IDWidth), page.Prefix("reported as ", page.Cell(reported, page.IDWidth)),
			page.Prefix("fingerprint ", page.Cell(m.Fingerprint, page.IDWidth)))
		name = ""
	}
}

// span returns when a run began and how long it took.
func span(started, ended time.Time) string {
	if started.IsZero() {
		return ""
	}
	text := "started " + started.UTC().Format("2006-01-02 15:04:05") + " UTC"
	if ended.After(started) {
		text += ", took " + words.Took(ended.Sub(started))
	}
	return text
}
