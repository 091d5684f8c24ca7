package reports

import (
	"deem"
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

	// Other is the result of the judge's other reading for the same reply.
	Other *ShownReading `json:"other_reading,omitempty"`
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
	if p == nil {
		return s
	}
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
