package reports

import (
	"io"
	"slices"
	"time"

	"deem/internal/doc"
	"deem/report"
)

// CardVersion is the version of the JSON form of a [Card].
const CardVersion = "deem.card/1"

// A Card is the harness card of a run. Its JSON is a contract, like that of a report.
type Card struct {
	Version string `json:"version"` // [CardVersion]
	Run     string `json:"run,omitempty"`

	Judge     string            `json:"judge"`
	JudgeHash string            `json:"judge_hash,omitempty"`
	JudgeKind string            `json:"judge_kind,omitempty"` // "rule" or "model"
	JudgeNote string            `json:"judge_note,omitempty"`
	Reading   string            `json:"reading,omitempty"`
	Prompts   []doc.Prompt      `json:"prompts"`
	Params    map[string]string `json:"params"`
	Dropped   map[string]string `json:"dropped,omitempty"` // declared by the judge but not sent, with the reason

	Model string         `json:"model,omitempty"` // as requested
	Seen  []report.Model `json:"seen"`            // as reported by vendors, with fingerprints

	System      string `json:"system,omitempty"`
	SystemModel string `json:"system_model,omitempty"`

	Dataset     string `json:"dataset,omitempty"`
	DatasetHash string `json:"dataset_hash,omitempty"`
	Items       int    `json:"items"` // of the dataset

	Categories int      `json:"categories"`                // the number of categories
	Policy     string   `json:"category_policy,omitempty"` // "" means that all count equally
	Excluded   []string `json:"excluded"`

	// Judged is the denominator of the score, and Asked that of the strict score.
	Judged   int `json:"judged"`
	Unjudged int `json:"unjudged"`
	Asked    int `json:"asked"`
	Trials   int `json:"trials"`

	Metrics  []report.Figures `json:"metrics"`
	Withheld *report.Hold     `json:"withheld"`

	Errata *doc.ErrataFile `json:"errata"`
	Lock   *doc.Lock       `json:"lock"`

	Deem     string    `json:"deem,omitempty"` // the version that judged
	Complete bool      `json:"complete"`
	Started  time.Time `json:"started,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
}

// NewCard returns the card of a report.
func NewCard(r report.Report) Card {
	h := r.Head
	c := Card{
		Version: CardVersion, Run: h.Run,
		Judge: h.Judge, JudgeHash: h.JudgeHash, JudgeKind: h.JudgeKind, JudgeNote: h.JudgeNote, Reading: h.Reading,
		Prompts: []doc.Prompt{}, Params: map[string]string{}, Excluded: []string{},
		Model: h.Model, Seen: r.Calls.Models, System: h.System, SystemModel: h.SystemModel,
		Dataset: h.Dataset, DatasetHash: h.DatasetHash, Items: max(h.Items, r.Items),
		Categories: len(r.Categories), Judged: r.Judged, Unjudged: r.Unjudged, Asked: r.Items, Trials: max(h.Trials, 1),
		Metrics: r.Metrics, Withheld: r.Hold,
		Complete: h.Complete, Started: h.Started, Ended: h.Ended,
	}
	if k := h.Harness; k != nil {
		c.Policy, c.Errata, c.Lock, c.Deem, c.Dropped = k.Policy, k.Errata, k.Lock, k.Deem, k.Dropped
		c.Prompts = append(c.Prompts, k.Prompts...)
		c.Excluded = append(c.Excluded, k.Excluded...)
		if k.Params != nil {
			c.Params = k.Params
		}
	}
	return c
}

// JSON writes the card as indented JSON.
func (c Card) JSON(w io.Writer) error { return doc.JSON(w, c) }

// CardMarkdown writes the card of a report for a README: the score and how it was produced.
func CardMarkdown(w io.Writer, r report.Report) error {
	d := r.Document()
	d.Sections = slices.DeleteFunc(d.Sections, func(s doc.Section) bool { return s.ID != "score" && s.ID != "made" })
	return doc.Markdown(w, d)
}
