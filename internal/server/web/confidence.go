package web

import (
	"context"

	"deem"
	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/report"
)

// maxLabelled is how many labelled items a page compares with the judge's confidence. The
// agreement page uses all of them.
const maxLabelled = 5000

// confidence draws how confident the judge of a run is. The labels are few and can change
// at any time, so every page reads them again.
func (s *Server) confidence(ctx context.Context, run store.Run, conf *report.Confidence) (*confidenceChart, error) {
	if conf == nil || conf.Source != doc.FromVerdicts {
		return newConfidenceChart(conf, nil), nil
	}
	query := store.LabelQuery{Dataset: run.Dataset.Hash}
	ids, err := labelledIDs(ctx, s.Store, query)
	if err != nil || len(ids) == 0 {
		return newConfidenceChart(conf, nil), err
	}
	people, err := reports.Kept(ctx, s.Store, query)
	if err != nil {
		return nil, err
	}
	bins, err := s.reliability(ctx, run, people, ids)
	return newConfidenceChart(conf, bins), err
}

// labelledIDs returns the ids of labelled items, at most maxLabelled.
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

// reliability returns how often the judge was right at each level of confidence, nil if
// there is no usable label.
func (s *Server) reliability(ctx context.Context, run store.Run, people *reports.People, ids []string) ([]agreement.Bin, error) {
	var sure []float64
	var right []bool
	for rec, err := range s.Store.Records(ctx, run.ID, store.Query{IDs: ids, Trial: new(int)}) {
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
		return nil, nil // The labelled items are unjudged or have no confidence, or people are evenly split.
	}
	return agreement.Reliability(sure, right, agreement.Binning{})
}

// stated returns the confidence of a verdict and its decision. ok is false if it has no
// valid confidence.
func stated(rec deem.Record) (sure float64, yes, ok bool) {
	v := rec.Verdict
	if v == nil || v.Confidence == nil || !(*v.Confidence >= 0 && *v.Confidence <= 1) {
		return 0, false, false
	}
	return *v.Confidence, v.Yes(), true
}
