package run

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"deem/internal/words"
)

// A Plan is the estimate for a run. Requests is the sum of Duplicates, Cached and Calls.
type Plan struct {
	Model  string `json:"model"`
	Items  int    `json:"items"`
	Trials int    `json:"trials"`

	Decided     int `json:"decided"`     // items decided without a call
	Unjudgeable int `json:"unjudgeable"` // items that fail before a call
	Done        int `json:"done"`        // records of an earlier run: items times trials

	Requests   int `json:"requests"`
	Cached     int `json:"cached"`     // replies paid for earlier
	Duplicates int `json:"duplicates"` // requests equal to another one of this run
	Calls      int `json:"calls"`      // requests to pay for

	InputTokens   int64 `json:"input_tokens"`   // expected
	InputGuessed  bool  `json:"input_guessed"`  // by bytes, not corrected by earlier replies
	LongestPrompt int   `json:"longest_prompt"` // in tokens
	Window        int   `json:"window,omitempty"`

	OutputTokens    int64 `json:"output_tokens"` // expected
	OutputTokensMax int64 `json:"output_tokens_max"`
	OutputGuessed   bool  `json:"output_guessed"` // not learnt from earlier replies
	Room            int   `json:"room,omitempty"` // tokens for reasoning in each reply

	// Costs are in millionths of a US dollar. They are nil if the price is unknown, and
	// Unpriced says why. The batch costs are nil if the vendor has no batch price.
	CostMicros         *int64 `json:"cost_micros,omitempty"`
	CostMaxMicros      *int64 `json:"cost_max_micros,omitempty"`
	BatchCostMicros    *int64 `json:"batch_cost_micros,omitempty"`
	BatchCostMaxMicros *int64 `json:"batch_cost_max_micros,omitempty"`
	Unpriced           string `json:"unpriced,omitempty"`

	Time           time.Duration `json:"time_ns"`
	Bound          Bound         `json:"bound,omitempty"` // the limit that determines Time
	Latency        time.Duration `json:"latency_ns"`
	LatencyGuessed bool          `json:"latency_guessed"`
	Concurrency    int           `json:"concurrency"`
	RPM            int           `json:"rpm,omitempty"`
	TPM            int           `json:"tpm,omitempty"`

	Warnings []string `json:"warnings,omitempty"`
}

// A Bound is the limit that determines the duration of a run.
type Bound string

// The limits of a run.
const (
	ByConcurrency Bound = "concurrency"
	ByRequests    Bound = "rpm"
	ByTokens      Bound = "tpm"
)

// Line returns the plan in one line, for example "1,000 calls, about 412,000 tokens, about
// $0.31 (at most $0.52), about 2 min at -j 8".
func (p Plan) Line() string {
	if p.Calls == 0 {
		var list []string
		for _, part := range []struct {
			n    int
			what string
		}{{p.Done, "done earlier"}, {p.Cached, "cached"}, {p.Decided, "decided without asking"}, {p.Unjudgeable, "unjudgeable"}} {
			if part.n > 0 {
				list = append(list, words.Comma(part.n)+" "+part.what)
			}
		}
		if len(list) == 0 {
			return "no calls"
		}
		return "no calls: " + strings.Join(list, ", ")
	}
	all := fmt.Sprintf("about %s tokens", words.Comma(words.Round(p.InputTokens+p.OutputTokens, 3)))
	return strings.Join([]string{words.Count(p.Calls, "call"), all, p.money(p.CostMicros, p.CostMaxMicros), p.duration() + " at " + p.limit()}, ", ")
}

// money formats the expected and the maximum cost.
func (p Plan) money(cost, most *int64) string {
	switch {
	case cost == nil:
		return "price unknown"
	case *most == 0:
		return "free"
	case words.AboutDollars(*cost) == words.AboutDollars(*most):
		return "about " + words.AboutDollars(*cost)
	}
	return fmt.Sprintf("about %s (at most %s)", words.AboutDollars(*cost), words.AboutDollars(*most))
}

// limit describes the limit that determines the time.
func (p Plan) limit() string {
	switch p.Bound {
	case ByRequests:
		return words.Count(p.RPM, "request") + " a minute"
	case ByTokens:
		return words.Count(p.TPM, "token") + " a minute"
	}
	return fmt.Sprintf("-j %d", p.Concurrency)
}

// A row is a line of the text: name, value and remark.
type row struct{ left, value, note string }

// Text writes the plan for people, one fact per line, followed by the warnings.
func (p Plan) Text(w io.Writer) error {
	items := row{"items", words.Comma(int64(p.Items)), ""}
	if p.Trials > 1 {
		items.note = fmt.Sprintf("%d trials each", p.Trials)
	}
	rows := []row{
		items,
		some("  done", p.Done, "by an earlier run"),
		some("  decided", p.Decided, "without asking"),
		some("  unjudgeable", p.Unjudgeable, ""),
		{"requests", words.Comma(int64(p.Requests)), ""},
		some("  cached", p.Cached, "paid for earlier"),
		some("  duplicates", p.Duplicates, "asked once"),
		{"calls", words.Comma(int64(p.Calls)), "of " + p.Model},
	}
	if p.Calls > 0 {
		rows = append(rows, p.costs()...)
	}
	var b strings.Builder
	for _, r := range rows {
		if r.left != "" {
			fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("%-16s%s  %s", r.left, r.value, r.note), " "))
		}
	}
	for _, text := range p.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// some returns a row, or an empty one if n is 0.
func some(left string, n int, note string) row {
	if n == 0 {
		return row{}
	}
	return row{left, words.Comma(int64(n)), note}
}

// costs returns the rows about tokens, money and time.
func (p Plan) costs() []row {
	prompts, replies, latency := "as counted in earlier replies", "as in earlier replies", seconds(p.Latency)+" a call"
	if p.InputGuessed {
		prompts = "a guess: four bytes a token"
	}
	if p.OutputGuessed {
		replies = "a guess"
	}
	if p.LatencyGuessed {
		latency += ", a guess"
	}
	if p.Room > 0 {
		replies += fmt.Sprintf(", with room of %s for thoughts in each reply", words.Comma(int64(p.Room)))
	}
	rows := []row{
		{"input tokens", about(p.InputTokens), prompts},
		{"output tokens", fmt.Sprintf("%s (at most %s)", about(p.OutputTokens), words.Comma(p.OutputTokensMax)), replies},
		{"cost", p.money(p.CostMicros, p.CostMaxMicros), ""},
	}
	if p.BatchCostMicros != nil {
		rows = append(rows, row{"  in a batch", p.money(p.BatchCostMicros, p.BatchCostMaxMicros), "within a day"})
	}
	return append(rows, row{"time", p.duration(), fmt.Sprintf("at %s, %s", p.limit(), latency)})
}

// about formats an estimated number of tokens.
func about(n int64) string { return "about " + words.Comma(words.Round(n, 3)) }

// duration formats the duration of the run in a suitable unit.
func (p Plan) duration() string {
	d := p.Time
	switch {
	case d < time.Second:
		return "less than a second"
	case d < 100*time.Second:
		return fmt.Sprintf("about %.0f s", math.Ceil(d.Seconds()))
	case d < 100*time.Minute:
		return fmt.Sprintf("about %.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("about %.1f hours", d.Hours())
	}
	return fmt.Sprintf("about %.1f days", d.Hours()/24)
}

// seconds formats a latency.
func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
