// Package export writes the records of a run in formats that other programs read: CSV, JSON
// Lines, Parquet and JUnit XML.
//
// The first three have the same columns, one row for each item and trial; [Columns] lists
// them and docs/export.md explains them. An item without a verdict has a row with a failure
// and no score: the score is null if the format has null, and an empty cell in CSV. It is
// never 0, because unjudged is not wrong.
//
// Records are written as they arrive. Memory does not grow with their number.
package export

import (
	"cmp"
	"time"

	"deem"
)

// A Run describes the run of the records.
type Run struct {
	ID          string
	Judge       string
	JudgeHash   string
	Model       string // as requested, "" for a rule
	Dataset     string
	DatasetHash string
	Trials      int
	Created     time.Time
	Software    string // the deem version that judged, for example "deem v1.2.3"

	// Redacted reports whether the texts of the items were removed, so that their hashes
	// cannot be computed any more.
	Redacted bool
}

// A Writer takes the records of a run one by one. Close writes the remaining data, and does
// not close the underlying writer.
type Writer interface {
	Add(rec deem.Record) error
	Close() error
}

// A Row is a flattened record. The tags are the names of the columns.
type Row struct {
	Run       string `json:"run" parquet:"run,dict"`
	Judge     string `json:"judge" parquet:"judge,dict"`
	JudgeHash string `json:"judge_hash" parquet:"judge_hash,dict"`

	Position   int64             `json:"position" parquet:"position"`
	Trial      int64             `json:"trial" parquet:"trial"`
	ID         string            `json:"id" parquet:"id"`
	ItemHash   string            `json:"item_hash" parquet:"item_hash"`
	Category   string            `json:"category" parquet:"category,dict"`
	Cluster    string            `json:"cluster" parquet:"cluster,dict"`
	Weight     *float64          `json:"weight" parquet:"weight,optional"`
	Question   string            `json:"question" parquet:"question"`
	References []string          `json:"references" parquet:"references,list"`
	Response   string            `json:"response" parquet:"response"`
	Messages   JSON              `json:"messages" parquet:"messages"`
	Fields     map[string]string `json:"fields" parquet:"fields"`

	Label      *string            `json:"label" parquet:"label,optional,dict"`
	Score      *float64           `json:"score" parquet:"score,optional"`
	Pass       *bool              `json:"pass" parquet:"pass,optional"`
	Confidence *float64           `json:"confidence" parquet:"confidence,optional"`
	Aspects    map[string]float64 `json:"aspects" parquet:"aspects"`
	Parts      []Part             `json:"parts" parquet:"parts,list"`
	Reason     string             `json:"reason" parquet:"reason"`

	Failure       *string `json:"failure" parquet:"failure,optional,dict"`
	FailureDetail string  `json:"failure_detail" parquet:"failure_detail"`

	Model         string  `json:"model" parquet:"model,dict"`
	ModelReported string  `json:"model_reported" parquet:"model_reported,dict"`
	Fingerprint   string  `json:"fingerprint" parquet:"fingerprint,dict"`
	Reply         string  `json:"reply" parquet:"reply"`
	CallCount     int64   `json:"call_count" parquet:"call_count"`
	CachedCount   int64   `json:"cached_count" parquet:"cached_count"`
	Attempts      int64   `json:"attempts" parquet:"attempts"`
	InputTokens   int64   `json:"judge_input_tokens" parquet:"judge_input_tokens"`
	OutputTokens  int64   `json:"judge_output_tokens" parquet:"judge_output_tokens"`
	CostMicros    int64   `json:"judge_cost_micros" parquet:"judge_cost_micros"`
	LatencyMS     float64 `json:"judge_latency_ms" parquet:"judge_latency_ms"`
}

// JSON is the text of a JSON list: a value in JSON Lines, and a text in tables. "" is an
// empty list.
type JSON string

// MarshalJSON returns the text.
func (j JSON) MarshalJSON() ([]byte, error) { return []byte(cmp.Or(j, "[]")), nil }

// UnmarshalJSON keeps the text.
func (j *JSON) UnmarshalJSON(text []byte) error {
	if *j = JSON(text); *j == "[]" {
		*j = ""
	}
	return nil
}

// A Part is the flattened verdict on one criterion.
type Part struct {
	Name    string   `json:"name" parquet:"name"`
	Label   string   `json:"label,omitempty" parquet:"label"`
	Score   *float64 `json:"score" parquet:"score,optional"`
	Reason  string   `json:"reason,omitempty" parquet:"reason"`
	Failure string   `json:"failure,omitempty" parquet:"failure"`
}

// Of flattens a record.
func (run Run) Of(rec deem.Record) Row {
	it := rec.Item
	row := Row{
		Run: run.ID, Judge: rec.Judge, JudgeHash: run.JudgeHash,
		Position: int64(rec.Position), Trial: int64(rec.Trial),
		ID: it.ID, Category: it.Category, Cluster: it.Cluster,
		Question: it.Question, References: it.References, Response: it.Response, Messages: JSON(object(it.Messages)), Fields: it.Fields,
	}
	if !run.Redacted {
		row.ItemHash = it.Hash()
	}
	if it.Weight != 0 {
		row.Weight = &it.Weight
	}
	if v := rec.Verdict; v != nil && rec.Failure == nil {
		row.Label, row.Score, row.Pass, row.Confidence = &v.Label, &v.Score, v.Pass, v.Confidence
		row.Aspects, row.Reason = v.Aspects, v.Reason
		for _, p := range v.Parts {
			part := Part{Name: p.Name, Label: p.Label, Score: p.Score, Reason: p.Reason}
			if p.Failure != nil {
				part.Failure = p.Failure.Error()
			}
			row.Parts = append(row.Parts, part)
		}
	} else {
		row.Failure = new(string)
		if f := rec.Failure; f != nil {
			*row.Failure, row.FailureDetail = string(f.Kind), f.Detail
		}
	}
	for i := range rec.Calls {
		c := &rec.Calls[i]
		row.CallCount++
		row.Model = c.Model
		if c.Reply == nil {
			row.Attempts += int64(max(c.Attempts, 1))
			continue
		}
		// The last reply is the one that gave the verdict.
		row.ModelReported, row.Fingerprint, row.Reply = c.Reply.Model, c.Reply.Fingerprint, c.Reply.Text
		if c.Reply.Cached { // paid for earlier
			row.CachedCount++
			continue
		}
		row.Attempts += int64(max(c.Reply.Attempts, 1))
		row.InputTokens += int64(c.Reply.Usage.Input)
		row.OutputTokens += int64(c.Reply.Usage.Output)
		row.CostMicros += c.Reply.CostMicros
		row.LatencyMS += float64(c.Reply.Latency) / float64(time.Millisecond)
	}
	// Empty lists are easier for programs than null.
	if row.References == nil {
		row.References = []string{}
	}
	if row.Fields == nil {
		row.Fields = map[string]string{}
	}
	if row.Aspects == nil {
		row.Aspects = map[string]float64{}
	}
	if row.Parts == nil {
		row.Parts = []Part{}
	}
	return row
}

// size returns the approximate size of the texts of a row in bytes.
func (r *Row) size() int {
	n := 512 + len(r.ID) + len(r.Question) + len(r.Response) + len(r.Reason) + len(r.Reply) + len(r.FailureDetail) + len(r.Messages)
	for _, ref := range r.References {
		n += len(ref)
	}
	for k, v := range r.Fields {
		n += len(k) + len(v)
	}
	for _, p := range r.Parts {
		n += len(p.Name) + len(p.Reason) + len(p.Failure)
	}
	return n
}
