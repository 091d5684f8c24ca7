package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"deem"
	"deem/internal/labels"
	"deem/internal/reports"
	"deem/internal/server"
	"deem/internal/store"
	"deem/internal/usage"
)

// A labelsOut is the response of getLabels.
type labelsOut struct {
	Labels []store.Label `json:"labels"`
}

// getLabels sends the human labels of the items of a run.
func (s *Server) getLabels(w http.ResponseWriter, r *http.Request, run store.Run) error {
	out := labelsOut{Labels: []store.Label{}}
	for l, err := range s.Store.Labels(r.Context(), store.LabelQuery{Dataset: run.Dataset.Hash}) {
		if err != nil {
			return err
		}
		out.Labels = append(out.Labels, l)
	}
	return writeAnswer(w, http.StatusOK, out)
}

// A sentLabels is a request with human labels.
type sentLabels struct {
	Annotator string      `json:"annotator"`
	Labels    []sentLabel `json:"labels"`
}

// A sentLabel is the label of one item.
type sentLabel struct {
	ID    string   `json:"id"`
	Label string   `json:"label,omitempty"`
	Score *float64 `json:"score,omitempty"`
	Note  string   `json:"note,omitempty"`
	Drawn string   `json:"drawn,omitempty"` // how the plan drew the item, in the plan's format
}

// A keptLabels is the response of postLabels.
type keptLabels struct {
	Kept int `json:"kept"`
}

// postLabels stores human labels of items of a run: all of them or none.
func (s *Server) postLabels(w http.ResponseWriter, r *http.Request, run store.Run) error {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	var sent sentLabels
	if err := usage.Mark(decodeStrictly(text, &sent, "the body")); err != nil {
		return err
	}
	list, err := s.sentLabelsOf(r.Context(), run, sent)
	if err != nil {
		return err
	}
	if err := s.Store.PutLabels(r.Context(), list); err != nil {
		return err
	}
	return writeAnswer(w, http.StatusOK, keptLabels{Kept: len(list)})
}

// sentLabelsOf parses labels in the same way as label files, and assigns them to items by
// item hash.
func (s *Server) sentLabelsOf(ctx context.Context, run store.Run, sent sentLabels) ([]store.Label, error) {
	if len(sent.Labels) == 0 {
		return nil, server.BadRequest("there are no labels")
	}
	who := server.CleanName(sent.Annotator)
	if who == "" && sent.Annotator != "" {
		return nil, server.BadRequest("annotator is a name of at most %d letters", server.MaxAnnotator)
	}
	var file bytes.Buffer
	enc := json.NewEncoder(&file)
	at, ids := map[string]int{}, make([]string, 0, len(sent.Labels))
	for i, l := range sent.Labels {
		row := map[string]any{"id": l.ID, "reason": l.Note}
		if l.Drawn != "" {
			row["drawn"] = l.Drawn
		}
		if l.Label != "" || l.Score == nil {
			row["label"] = l.Label
		}
		if l.Score != nil {
			row["score"] = *l.Score
		}
		if err := enc.Encode(row); err != nil {
			return nil, err
		}
		at[l.ID] = i
		ids = append(ids, l.ID)
	}
	set, err := labels.Read(ctx, labels.Source{Names: []string{"-"}, Stdin: &file, Format: "jsonl", Annotator: who, Labels: reports.LabelsOf(run, false)})
	if ps, ok := errors.AsType[*deem.Problems](err); ok {
		bad := &badItems{total: ps.Total, hint: deem.HintOf(err)}
		for _, p := range ps.List {
			i := max(0, p.Line-1) // Clients know the index of a label, and not its line.
			bad.list = append(bad.list, itemProblem{i, sent.Labels[min(i, len(sent.Labels)-1)].ID, p.Message})
		}
		return nil, server.WithStatus(http.StatusBadRequest, bad)
	}
	if err != nil {
		return nil, usage.Mark(err)
	}
	items := map[string]string{}
	for rec, err := range s.Store.Records(ctx, run.ID, store.Query{IDs: ids, Trial: new(int)}) {
		if err != nil {
			return nil, err
		}
		items[rec.Item.ID] = rec.Item.Hash()
	}
	var bad badItems
	var list []store.Label
	now := time.Now()
	for _, l := range set.Labels {
		hash, ok := items[l.Item]
		if !ok {
			bad.add(at[l.Item], l.Item, fmt.Errorf("run %s has no record of this item", run.ID))
			continue
		}
		list = append(list, store.Label{
			Item: hash, ID: l.Item, Dataset: run.Dataset.Hash, Annotator: l.Annotator,
			Yes: l.Yes, Label: l.Label, Score: l.Score, Note: l.Reason, Drawn: l.Drawn.String(), Labelled: now,
		})
	}
	switch {
	case bad.total > 0:
		return nil, server.WithStatus(http.StatusBadRequest, &bad)
	case set.Blank > 0:
		return nil, server.BadRequest("%d of the labels say nothing: a label is yes or no, or a score", set.Blank)
	}
	return list, nil
}
