package reports

import (
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/doc"
	"deem/internal/reader"
	"deem/internal/store"
	"deem/judge"
)

// A Shown is one record as shown by "deem show".
type Shown struct {
	Run    string      `json:"run"`
	System string      `json:"system,omitempty"` // under test
	Record deem.Record `json:"record"`

	// Prompt is rendered again, once for each call of a judge; Verified reports whether its
	// hash matches the request that was sent.
	Prompt   []deem.Message `json:"prompt,omitempty"`
	Verified bool           `json:"prompt_verified"`

	// Reader is the call that gave the answer, null if the item came with a response.
	Reader *ShownReader `json:"reader,omitempty"`

	// Other is the result of the judge's other reading for the same reply.
	Other *ShownReading `json:"other_reading,omitempty"`
}

// A ShownReader is how a reader answered the item.
type ShownReader struct {
	Name     string         `json:"name"`
	Contexts []ShownContext `json:"contexts"`
	Prompt   []deem.Message `json:"prompt"`
	Verified bool           `json:"prompt_verified"`
}

// A ShownContext is a passage that a system retrieved.
type ShownContext struct {
	reader.Context
	LeftOut  bool `json:"left_out,omitempty"` // it did not fit into the reader's budget
	Evidence bool `json:"evidence,omitempty"` // the data says that it contains the answer
}

// Content returns the text of a passage, with a line for each turn of a session.
func (c ShownContext) Content() string {
	lines := []string{c.Text}
	for _, t := range c.Turns {
		lines = append(lines, t.Role+": "+t.Text)
	}
	return strings.TrimPrefix(strings.Join(lines, "\n"), "\n")
}

// About describes a passage: its id, time and speaker, whether it is evidence, and whether it
// was left out.
func (c ShownContext) About() string {
	about := []string{c.ID, c.Time, c.Speaker}
	if c.Evidence {
		about = append(about, "evidence")
	}
	if c.LeftOut {
		about = append(about, "left out for the budget")
	}
	return doc.Join(", ", about...)
}

// A ShownReading is the result of another reading for a reply.
type ShownReading struct {
	Reading string        `json:"reading"`
	Verdict *deem.Verdict `json:"verdict,omitempty"`
	Failure *deem.Failure `json:"failure,omitempty"`
}

// Show renders the prompt of a record again and parses its reply under both readings.
func Show(run store.Run, p judge.Readable, rec deem.Record) Shown {
	s := Shown{Run: run.ID, System: SettingsOf(run.Spec).System, Record: rec}
	switch {
	case p != nil:
		return s.render(p)
	case SpecOf(run).Kind == judge.KindAnswer:
		if answered, err := showAnswered(run, rec); err == nil { // else this deem does not know the judge
			return answered
		}
	}
	return s
}

// showAnswered is Show for a run whose items were answered by a reader. It renders the
// prompt of the reader, and that of the judge if it asks a model.
func showAnswered(run store.Run, rec deem.Record) (Shown, error) {
	s := Shown{Run: run.ID, System: SettingsOf(run.Spec).System, Record: rec}
	spec := SpecOf(run)
	by, err := reader.FromSpec(spec.Members[0].Judge)
	if err != nil {
		return s, err
	}
	s.Reader = &ShownReader{Name: by.Name}
	q, err := reader.QuestionOf(rec.Item)
	if err != nil {
		return s, nil //nolint:nilerr // The retrieval failed: the record says so, and nothing was asked.
	}
	w := traced{item: rec.Item}
	w.read(by)
	for i, c := range q.Contexts {
		s.Reader.Contexts = append(s.Reader.Contexts, ShownContext{
			Context: c, LeftOut: !w.cut && i >= w.shown, Evidence: slices.Contains(w.evidence, w.contexts[i]),
		})
	}
	req, err := by.Request(q)
	if err != nil {
		return s, nil //nolint:nilerr // The record says that the item lacks something.
	}
	req.Trial = rec.Trial
	s.Reader.Prompt = req.Messages
	var others []deem.Call
	for _, c := range rec.Calls {
		if c.Request == req.Hash() {
			s.Reader.Verified = true
		} else {
			others = append(others, c)
		}
	}
	if len(spec.Members) < 2 || spec.Members[1].Judge.Kind != judge.KindModel || rec.Answer == nil {
		return s, nil
	}
	p, err := benchmark.Protocol(spec.Members[1].Judge)
	if err != nil {
		return s, err
	}
	s.Record.Calls = others
	s = s.render(p)
	s.Record.Calls = rec.Calls
	return s, nil
}

// render adds what a judge asked.
func (s Shown) render(p judge.Readable) Shown {
	rec := s.Record
	reqs, err := judge.Requests(p, rec.Item)
	if err != nil || len(reqs) == 0 {
		return s
	}
	rendered := map[string][]deem.Message{}
	for _, req := range reqs {
		req.Trial = rec.Trial
		rendered[req.Hash()] = req.Messages
	}
	for _, c := range rec.Calls {
		messages, known := rendered[c.Request]
		s.Prompt, s.Verified = append(s.Prompt, messages...), known
		rendered[c.Request] = nil // a repeated call has one prompt
		if !known {
			break
		}
	}
	if len(s.Prompt) == 0 {
		s.Prompt = reqs[0].Messages
	}
	if other := p.Reread(); other != nil {
		if v, f, ok := Reread(other, rec); ok {
			s.Other = &ShownReading{other.Reading(), v, f}
		}
	}
	return s
}
