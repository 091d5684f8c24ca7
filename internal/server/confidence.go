package server

import (
	"context"

	"deem"
	"deem/internal/agreement"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/report"
)

// maxLabelled is how many labelled items a page sets beside the judge's confidence. The
// page of agreement takes them all.
const maxLabelled = 5000

// confidence draws how sure the judge of a run is. Labels come while one looks, so they
// are read for every page; they are few.
func (s *Server) confidence(ctx context.Context, run store.Run, conf *report.Confidence) (*confidenceChart, error) {
	if conf == nil || conf.Source != report.FromVerdicts {
		return newConfidenceChart(conf, nil), nil
	}
	query := store.LabelQuery{Dataset: run.Dataset.Hash}
	ids, err := labelledIDs(ctx, s.store, query)
	if err != nil || len(ids) == 0 {
		return newConfidenceChart(conf, nil), err
	}
	people, err := reports.Kept(ctx, s.store, query)
	if err != nil {
		return nil, err
	}
	bins, err := s.reliability(ctx, run, people, ids)
	return newConfidenceChart(conf, bins), err
}

// labelledIDs returns the ids of items that people labelled.
func labelledIDs(ctx context.Context, st store.Labels, q store.LabelQuery) ([]string, error) {
	seen := map[string]bool{}
	var ids []string
	for l, err := range st.Labels(ctx, q) {
		if err != nil {
			return nil, err
		}
		if !seen[l.ID] {
			seen[l.ID] = true
			if ids = append(ids, l.ID); len(ids) == maxLabelled {
				break
			}
		}
	}
	return ids, nil
}

// reliability returns how often the judge was right when it was how sure, nothing when
// no label can tell.
func (s *Server) reliability(ctx context.Context, run store.Run, people *reports.People, ids []string) ([]agreement.Bin, error) {
	var sure []float64
	var right []bool
	for rec, err := range s.store.Records(ctx, run.ID, store.Query{IDs: ids, Trial: new(int)}) {
		if err != nil {
			return nil, err
		}
		c, yes, ok := stated(rec)
		if !ok {
			continue
		}
		if truth := people.Of(rec.Item); truth != nil && !truth.Tie {
			sure, right = append(sure, c), append(right, truth.Yes == yes)
		}
	}
	if len(sure) == 0 {
		return nil, nil // Whatever was labelled is unjudged, or people are evenly split.
	}
	return agreement.Reliability(sure, right, agreement.Binning{})
}

// stated returns how sure a verdict is and what it says, if it says how sure it is.
func stated(rec deem.Record) (sure float64, yes, ok bool) {
	v := rec.Verdict
	if v == nil || v.Confidence == nil || !(*v.Confidence >= 0 && *v.Confidence <= 1) {
		return 0, false, false
	}
	return *v.Confidence, v.Yes(), true
}
