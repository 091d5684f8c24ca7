package reports

import (
	"slices"

	"deem"
	"deem/internal/store"
)

// A selection applies a query to a stream of records.
type selection struct {
	q    store.Query
	ids  map[string]bool // nil means all
	left int             // how many more records are wanted; -1 means all

	passed bool // the record of the cursor was seen
}

func newSelection(q store.Query) *selection {
	s := &selection{q: q, left: -1, passed: q.After == nil}
	if q.Limit > 0 {
		s.left = q.Limit
	}
	if len(q.IDs) > 0 {
		s.ids = make(map[string]bool, len(q.IDs))
		for _, id := range q.IDs {
			s.ids[id] = true
		}
	}
	return s
}

// wants reports whether a record is selected.
func (s *selection) wants(rec deem.Record) bool {
	q := s.q
	switch {
	case !s.behind(rec):
		return false
	case s.ids != nil && !s.ids[rec.Item.ID]:
		return false
	case q.Trial != nil && rec.Trial != *q.Trial:
		return false
	case len(q.Categories) > 0 && !slices.Contains(q.Categories, rec.Item.Category):
		return false
	case len(q.Labels) > 0 && (rec.Verdict == nil || !slices.Contains(q.Labels, rec.Verdict.Label)):
		return false
	case len(q.Kinds) > 0 && (rec.Failure == nil || !slices.Contains(q.Kinds, rec.Failure.Kind)):
		return false
	case q.Unjudged && rec.Failure == nil:
		return false
	}
	return true
}

// behind reports whether a record is after the cursor. Records of several items may have
// the same position; then the one that the cursor names decides.
func (s *selection) behind(rec deem.Record) bool {
	if s.passed {
		return true
	}
	at := s.q.After
	switch {
	case rec.Position != at.Position:
		s.passed = rec.Position > at.Position
	case rec.Trial != at.Trial:
		s.passed = rec.Trial > at.Trial
	case rec.Item.ID == at.ID:
		s.passed = true
		return false
	}
	return s.passed
}

// shape omits the parts that were not requested, and counts the record.
func (s *selection) shape(rec deem.Record) deem.Record {
	if s.left > 0 {
		s.left--
	}
	if !s.q.WithCalls {
		rec.Calls = nil
	}
	if s.q.Brief {
		it := &rec.Item
		it.Question, it.References, it.Response, it.Fields, it.Messages = "", nil, "", nil, nil
	}
	return rec
}

// done reports whether the limit was reached.
func (s *selection) done() bool { return s.left == 0 }
