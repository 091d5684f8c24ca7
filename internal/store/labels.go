package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// A Label is what a person said of one item. It belongs to the item and to no run:
// whichever judge looks at the same item later can be set beside it.
type Label struct {
	// Item is the hash of the item, [deem.Item.Hash]. An item with another response is
	// another item, and has no label.
	Item string `json:"item"`
	ID   string `json:"id"` // of the item in its dataset

	Dataset   string `json:"dataset,omitempty"` // hash of the dataset in which it was labelled
	Annotator string `json:"annotator,omitempty"`

	Yes   bool    `json:"yes"`
	Label string  `json:"label"` // as the person spelt it
	Score float64 `json:"score"` // how it counts, from 0 to 1
	Note  string  `json:"note,omitempty"`

	// Drawn says how a plan drew the item, as "8c1f-2 5/340": the stratum, and how many of
	// its items were drawn. It is "" when no plan did.
	Drawn string `json:"drawn,omitempty"`

	Labelled time.Time `json:"labelled"`
}

// A LabelQuery selects labels. The zero value selects all of them.
type LabelQuery struct {
	Dataset    string   // only of items labelled in the dataset with this hash
	Annotators []string // only of these people
	IDs        []string // only of items with these ids
}

// Labels is a store that keeps what people said. A caller that needs it asks a [Store]
// whether it is one.
type Labels interface {
	// PutLabels keeps labels: all of them, or none and an error. A second label of the
	// same item by the same annotator takes the place of the first.
	PutLabels(ctx context.Context, list []Label) error

	// DropLabel takes back what an annotator said of the item with this hash. It does
	// nothing when they have said nothing.
	DropLabel(ctx context.Context, item, annotator string) error

	// Labels returns the labels that q selects, by id, then by item and annotator.
	Labels(ctx context.Context, q LabelQuery) iter.Seq2[Label, error]
}

// CheckLabel says what is wrong with a label that no store can keep. Stores call it
// before they write anything.
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
