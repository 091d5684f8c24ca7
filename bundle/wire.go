package bundle

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"deem"
)

// The types below are those of package deem with their fields in the order of their
// JSON keys: so they are written as canonical JSON in one pass, where [deem.Canonical]
// needs three. A test fills every field of a [deem.Record] and holds the two together.

type wireRecord struct {
	Calls    []wireCall   `json:"calls,omitempty"`
	Failure  *wireFailure `json:"failure,omitempty"`
	Item     string       `json:"item"` // hash of the item on the last line of that kind
	Judge    string       `json:"judge"`
	Position int          `json:"position"`
	Trial    int          `json:"trial"`
	Verdict  *wireVerdict `json:"verdict,omitempty"`
}

type wireVerdict struct {
	Aspects    map[string]float64 `json:"aspects,omitempty"`
	Confidence *float64           `json:"confidence,omitempty"`
	Label      string             `json:"label"`
	Parts      []wirePart         `json:"parts,omitempty"`
	Pass       *bool              `json:"pass,omitempty"`
	Reason     string             `json:"reason,omitempty"`
	Score      float64            `json:"score"`
}

type wirePart struct {
	Failure *wireFailure `json:"failure,omitempty"`
	Label   string       `json:"label,omitempty"`
	Name    string       `json:"name"`
	Reason  string       `json:"reason,omitempty"`
	Score   *float64     `json:"score,omitempty"`
}

type wireFailure struct {
	Detail      string    `json:"detail,omitempty"`
	Kind        deem.Kind `json:"kind"`
	Probability *float64  `json:"probability,omitempty"`
}

type wireCall struct {
	Attempts int        `json:"attempts,omitempty"`
	Error    string     `json:"error,omitempty"`
	Model    string     `json:"model"`
	Reply    *wireReply `json:"reply,omitempty"`
	Request  string     `json:"request"`
	Started  time.Time  `json:"started"`
}

type wireReply struct {
	Attempts    int           `json:"attempts"`
	Batch       string        `json:"batch,omitempty"`
	Cached      bool          `json:"cached,omitempty"`
	CostMicros  int64         `json:"cost_micros,omitempty"`
	Dropped     string        `json:"dropped,omitempty"`
	Fingerprint string        `json:"fingerprint,omitempty"`
	Key         string        `json:"key,omitempty"`
	Latency     time.Duration `json:"latency_ns"`
	Logprobs    []wireLogprob `json:"logprobs,omitempty"`
	Model       string        `json:"model,omitempty"`
	Refusal     string        `json:"refusal,omitempty"`
	RequestID   string        `json:"request_id,omitempty"`
	Sent        string        `json:"sent,omitempty"`
	Stop        deem.Stop     `json:"stop"`
	Text        string        `json:"text"`
	Unpriced    bool          `json:"unpriced,omitempty"`
	Usage       wireUsage     `json:"usage"`
}

type wireUsage struct {
	CachedInput int  `json:"cached_input,omitempty"`
	Estimated   bool `json:"estimated,omitempty"`
	Input       int  `json:"input"`
	Output      int  `json:"output"`
	Reasoning   int  `json:"reasoning,omitempty"`
}

type wireLogprob struct {
	Logprob float64       `json:"logprob"`
	Token   string        `json:"token"`
	Top     []wireLogprob `json:"top,omitempty"`
}

// clean returns s with U+FFFD for each byte that is not UTF-8, as JSON has it.
func clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func toRecord(rec deem.Record, item string) wireRecord {
	w := wireRecord{Item: item, Judge: clean(rec.Judge), Position: rec.Position, Trial: rec.Trial}
	if v := rec.Verdict; v != nil {
		w.Verdict = &wireVerdict{
			Aspects: cleanKeys(v.Aspects), Confidence: v.Confidence, Label: clean(v.Label),
			Parts: toParts(v.Parts), Pass: v.Pass, Reason: clean(v.Reason), Score: v.Score,
		}
	}
	w.Failure = toFailure(rec.Failure)
	for _, c := range rec.Calls {
		w.Calls = append(w.Calls, toCall(c))
	}
	return w
}

func toFailure(f *deem.Failure) *wireFailure {
	if f == nil {
		return nil
	}
	return &wireFailure{Detail: clean(f.Detail), Kind: f.Kind, Probability: f.Probability}
}

func toParts(list []deem.Part) []wirePart {
	var w []wirePart
	for _, p := range list {
		w = append(w, wirePart{Failure: toFailure(p.Failure), Label: clean(p.Label), Name: clean(p.Name), Reason: clean(p.Reason), Score: p.Score})
	}
	return w
}

// cleanKeys returns m with clean keys.
func cleanKeys(m map[string]float64) map[string]float64 {
	for k := range m {
		if utf8.ValidString(k) {
			continue
		}
		cleaned := make(map[string]float64, len(m))
		for k, v := range m {
			cleaned[clean(k)] = v
		}
		return cleaned
	}
	return m
}

func toCall(c deem.Call) wireCall {
	w := wireCall{
		Attempts: c.Attempts, Error: clean(c.Error), Model: clean(c.Model),
		Request: clean(c.Request), Started: c.Started.UTC(),
	}
	if r := c.Reply; r != nil {
		w.Reply = &wireReply{
			Attempts: r.Attempts, Batch: clean(r.Batch), Cached: r.Cached, CostMicros: r.CostMicros,
			Fingerprint: clean(r.Fingerprint), Key: clean(r.Key), Latency: r.Latency, Logprobs: toLogprobs(r.Logprobs),
			Model: clean(r.Model), Refusal: clean(r.Refusal), RequestID: clean(r.RequestID), Stop: r.Stop, Sent: clean(r.Sent), Dropped: clean(r.Dropped),
			Text: clean(r.Text), Unpriced: r.Unpriced,
			Usage: wireUsage{r.Usage.CachedInput, r.Usage.Estimated, r.Usage.Input, r.Usage.Output, r.Usage.Reasoning},
		}
	}
	return w
}

func toLogprobs(list []deem.TokenLogprob) []wireLogprob {
	if list == nil {
		return nil
	}
	w := make([]wireLogprob, len(list))
	for i, l := range list {
		w[i] = wireLogprob{Logprob: l.Logprob, Token: clean(l.Token), Top: toLogprobs(l.Top)}
	}
	return w
}

// record returns the record with the item that it names.
func (w wireRecord) record(it deem.Item) deem.Record {
	rec := deem.Record{Item: it, Position: w.Position, Judge: w.Judge, Trial: w.Trial}
	if v := w.Verdict; v != nil {
		rec.Verdict = &deem.Verdict{
			Label: v.Label, Score: v.Score, Pass: v.Pass, Aspects: v.Aspects, Reason: v.Reason, Confidence: v.Confidence,
		}
		for _, p := range v.Parts {
			rec.Verdict.Parts = append(rec.Verdict.Parts, deem.Part{Name: p.Name, Label: p.Label, Score: p.Score, Reason: p.Reason, Failure: p.Failure.failure()})
		}
	}
	rec.Failure = w.Failure.failure()
	if len(w.Calls) > 0 {
		rec.Calls = make([]deem.Call, len(w.Calls))
	}
	for i, c := range w.Calls {
		rec.Calls[i] = c.call()
	}
	return rec
}

func (w *wireFailure) failure() *deem.Failure {
	if w == nil {
		return nil
	}
	return &deem.Failure{Kind: w.Kind, Detail: w.Detail, Probability: w.Probability}
}

func (w wireCall) call() deem.Call {
	c := deem.Call{Model: w.Model, Request: w.Request, Started: w.Started, Error: w.Error, Attempts: w.Attempts}
	if r := w.Reply; r != nil {
		c.Reply = &deem.Reply{
			Text: r.Text, Refusal: r.Refusal, Stop: r.Stop,
			Usage: deem.Usage{
				Input: r.Usage.Input, Output: r.Usage.Output, CachedInput: r.Usage.CachedInput, Reasoning: r.Usage.Reasoning,
				Estimated: r.Usage.Estimated,
			},
			Model: r.Model, Fingerprint: r.Fingerprint, RequestID: r.RequestID, Batch: r.Batch, Sent: r.Sent, Dropped: r.Dropped,
			Logprobs: fromLogprobs(r.Logprobs), Latency: r.Latency, Attempts: r.Attempts, CostMicros: r.CostMicros,
			Unpriced: r.Unpriced, Cached: r.Cached, Key: r.Key,
		}
	}
	return c
}

func fromLogprobs(list []wireLogprob) []deem.TokenLogprob {
	if len(list) == 0 {
		return nil
	}
	l := make([]deem.TokenLogprob, len(list))
	for i, w := range list {
		l[i] = deem.TokenLogprob{Token: w.Token, Logprob: w.Logprob, Top: fromLogprobs(w.Top)}
	}
	return l
}

// A wireItem is the body of a line of kind item.
type wireItem struct {
	hash     string // of the item with its texts, also in a redacted bundle
	item     deem.Item
	position int
}

// encode writes the body. An item knows its canonical JSON itself.
func (w wireItem) encode() []byte {
	text := w.item.Canonical()
	body := make([]byte, 0, len(text)+hexLen+48)
	body = append(append(append(body, `{"hash":"`...), w.hash...), `","item":`...)
	body = append(append(body, text...), `,"position":`...)
	return append(strconv.AppendInt(body, int64(w.position), 10), '}')
}

// decodeItem reads the body of an item strictly, as [decode] does.
func decodeItem(body []byte) (wireItem, error) {
	var v struct {
		Hash     string    `json:"hash"`
		Item     deem.Item `json:"item"`
		Position int       `json:"position"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return wireItem{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	w := wireItem{hash: v.Hash, item: v.Item, position: v.Position}
	if !isHash(w.hash) {
		return w, fmt.Errorf("%w: an item's hash is not a SHA-256", ErrDamaged)
	}
	return w, sameForm(body, w.encode())
}
