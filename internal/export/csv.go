package export

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"

	"deem"
)

// A column is a name and how its cell is written.
type column struct {
	name string
	cell func(r *Row) string
}

var columns = []column{
	{"run", func(r *Row) string { return r.Run }},
	{"judge", func(r *Row) string { return r.Judge }},
	{"judge_hash", func(r *Row) string { return r.JudgeHash }},
	{"position", func(r *Row) string { return integer(r.Position) }},
	{"trial", func(r *Row) string { return integer(r.Trial) }},
	{"id", func(r *Row) string { return r.ID }},
	{"item_hash", func(r *Row) string { return r.ItemHash }},
	{"category", func(r *Row) string { return r.Category }},
	{"cluster", func(r *Row) string { return r.Cluster }},
	{"weight", func(r *Row) string { return number(r.Weight) }},
	{"question", func(r *Row) string { return r.Question }},
	{"references", func(r *Row) string { return object(r.References) }},
	{"response", func(r *Row) string { return r.Response }},
	{"messages", func(r *Row) string { return string(r.Messages) }},
	{"fields", func(r *Row) string { return object(r.Fields) }},
	{"label", func(r *Row) string { return word(r.Label) }},
	{"score", func(r *Row) string { return number(r.Score) }},
	{"pass", func(r *Row) string { return truth(r.Pass) }},
	{"confidence", func(r *Row) string { return number(r.Confidence) }},
	{"aspects", func(r *Row) string { return object(r.Aspects) }},
	{"parts", func(r *Row) string { return object(r.Parts) }},
	{"reason", func(r *Row) string { return r.Reason }},
	{"failure", func(r *Row) string { return word(r.Failure) }},
	{"failure_detail", func(r *Row) string { return r.FailureDetail }},
	{"model", func(r *Row) string { return r.Model }},
	{"model_reported", func(r *Row) string { return r.ModelReported }},
	{"fingerprint", func(r *Row) string { return r.Fingerprint }},
	{"reply", func(r *Row) string { return r.Reply }},
	{"call_count", func(r *Row) string { return integer(r.CallCount) }},
	{"cached_count", func(r *Row) string { return integer(r.CachedCount) }},
	{"attempts", func(r *Row) string { return integer(r.Attempts) }},
	{"judge_input_tokens", func(r *Row) string { return integer(r.InputTokens) }},
	{"judge_output_tokens", func(r *Row) string { return integer(r.OutputTokens) }},
	{"judge_cost_micros", func(r *Row) string { return integer(r.CostMicros) }},
	{"judge_latency_ms", func(r *Row) string { return number(&r.LatencyMS) }},
}

func integer(n int64) string { return strconv.FormatInt(n, 10) }

func number(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}

func truth(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}

func word(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// object writes a list or a map as canonical JSON, and "" if it is empty.
func object[V []string | map[string]string | map[string]float64 | []Part | deem.Conversation](v V) string {
	if len(v) == 0 {
		return ""
	}
	text, err := deem.Canonical(v)
	if err != nil {
		return "" // an aspect that is not a number, which stores do not keep
	}
	return string(text)
}

// CSVOptions configures how a CSV file is written.
type CSVOptions struct {
	// Spreadsheet adds an apostrophe to text cells that a spreadsheet would treat as a
	// formula. The file is then safe to open, but its texts are no longer exact.
	Spreadsheet bool
}

// A CSV writes comma-separated values in UTF-8 with a header line, quoted according to RFC
// 4180, with LF line ends.
type CSV struct {
	run   Run
	o     CSVOptions
	w     *csv.Writer
	named bool
	cells []string
}

var _ Writer = (*CSV)(nil)

// NewCSV returns a writer of CSV.
func NewCSV(w io.Writer, run Run, o CSVOptions) *CSV {
	return &CSV{run: run, o: o, w: csv.NewWriter(w), cells: make([]string, len(columns))}
}

// Add writes one row.
func (c *CSV) Add(rec deem.Record) error {
	if err := c.names(); err != nil {
		return err
	}
	row := c.run.Of(rec)
	for i, col := range columns {
		c.cells[i] = col.cell(&row)
		if c.o.Spreadsheet {
			c.cells[i] = harmless(c.cells[i])
		}
	}
	return c.w.Write(c.cells)
}

// names writes the header line once.
func (c *CSV) names() error {
	if c.named {
		return nil
	}
	c.named = true
	for i, col := range columns {
		c.cells[i] = col.name
	}
	return c.w.Write(c.cells)
}

// Close writes the remaining data. A run without records has a header line.
func (c *CSV) Close() error {
	if err := c.names(); err != nil {
		return err
	}
	c.w.Flush()
	return c.w.Error()
}

// harmless returns a cell that no spreadsheet treats as a formula. Numbers are unchanged.
func harmless(cell string) string {
	if cell == "" {
		return cell
	}
	switch cell[0] {
	case '=', '+', '-', '@', '\t', '\r', '\n':
		if _, err := strconv.ParseFloat(cell, 64); err != nil {
			return "'" + cell
		}
	}
	return cell
}

// A JSONL writes a JSON object per line: the columns, and under "calls" every call with its
// reply, in the form of [deem.Call].
type JSONL struct {
	run Run
	enc *json.Encoder
}

var _ Writer = (*JSONL)(nil)

// NewJSONL returns a writer of JSON Lines.
func NewJSONL(w io.Writer, run Run) *JSONL {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &JSONL{run, enc}
}

// Add writes one line.
func (j *JSONL) Add(rec deem.Record) error {
	calls := rec.Calls
	if calls == nil {
		calls = []deem.Call{}
	}
	return j.enc.Encode(struct {
		Row
		Calls []deem.Call `json:"calls"`
	}{j.run.Of(rec), calls})
}

// Close does nothing: Add writes each line.
func (*JSONL) Close() error { return nil }
