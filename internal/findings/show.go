package findings

import (
	"deem"
	"deem/internal/store"
	"deem/judge"
)

// A Shown is one record as "deem show" has it.
type Shown struct {
	Run    string      `json:"run"`
	Record deem.Record `json:"record"`

	// Prompt is rendered again; Verified says that its hash is that of the request
	// that was sent.
	Prompt   []deem.Message `json:"prompt,omitempty"`
	Verified bool           `json:"prompt_verified"`

	// Other is what the judge's other reading makes of the same reply.
	Other *ShownReading `json:"other_reading,omitempty"`
}

// A ShownReading is what another reading of a judge makes of a reply.
type ShownReading struct {
	Reading string        `json:"reading"`
	Verdict *deem.Verdict `json:"verdict,omitempty"`
	Failure *deem.Failure `json:"failure,omitempty"`
}

// Show renders the prompt of a record again and reads its reply both ways.
func Show(run store.Run, p judge.Readable, rec deem.Record) Shown {
	s := Shown{Run: run.ID, Record: rec}
	if p == nil {
		return s
	}
	req, err := p.Request(rec.Item)
	if err != nil {
		return s
	}
	req.Trial = rec.Trial
	s.Prompt = req.Messages
	for _, c := range rec.Calls {
		s.Verified = c.Request == req.Hash()
	}
	if other := p.Reread(); other != nil {
		if reply, ok := LastReply(rec); ok {
			v, f := Reread(other, rec.Item, reply)
			s.Other = &ShownReading{other.Reading(), v, f}
		}
	}
	return s
}
