package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// A Label is a person's judgment of one item. It belongs to the item and not to a run: any
// judge of the same item can be compared with it.
type Label struct {
	// Item is the hash of the item, [deem.Item.Hash]. An item with another response is
	// another item, and has no label.
	Item string `json:"item"`
	ID   string `json:"id"` // of the item in its dataset

	Dataset   string `json:"dataset,omitempty"` // hash of the dataset in which it was labelled
	Annotator string `json:"annotator,omitempty"`

	Yes   bool    `json:"yes"`
	Label string  `json:"label"` // as the person spelled it
	Score float64 `json:"score"` // its value, from 0 to 1
	Note  string  `json:"note,omitempty"`

	// Drawn says how a plan drew the item, for example "8c1f-2 5/340": the stratum, and how
	// many of its items were drawn. It is "" without a plan.
	Drawn string `json:"drawn,omitempty"`

	Labelled time.Time `json:"labelled"`
}

// A LabelQuery selects labels. The zero value selects all of them.
type LabelQuery struct {
	Dataset    string   // only of items labelled in the dataset with this hash
	Annotators []string // only of these people
	IDs        []string // only of items with these ids
}

// Labels is a store that keeps human labels.
type Labels interface {
	// PutLabels stores labels, all or none. A second label of the same item by the same
	// annotator replaces the first.
	PutLabels(ctx context.Context, list []Label) error

	// DropLabel removes an annotator's label of the item with this hash. It does nothing if
	// there is none.
	DropLabel(ctx context.Context, item, annotator string) error

	// Labels returns the labels that q selects, by id, then by item and annotator.
	Labels(ctx context.Context, q LabelQuery) iter.Seq2[Label, error]
}

// CheckLabel returns an error for a label that no store can keep. Stores call it before
// they write anything.
func CheckLabel(l Label) error {
	switch {
	case l.Item == "":
		return errors.New("a label has no item")
	case l.Label == "":
		return fmt.Errorf("the label of item %q is empty", l.ID)
	case !finite(l.Score) || l.Score < 0 || l.Score > 1:
		return fmt.Errorf("the label of item %q has score %v", l.ID, l.Score)
	}
	return nil
}
