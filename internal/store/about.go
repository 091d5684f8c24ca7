package store

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"deem"
)

// An About is the user's notes on a run. It is not part of the run's identity, so it can
// change at any time.
type About struct {
	Name string   `json:"name,omitempty"`
	Tags []string `json:"tags,omitempty"` // sorted, without duplicates
	Note string   `json:"note,omitempty"`

	// Deleted is when the run was deleted, or zero. A deleted run is kept until
	// [Editor.Purge], but only [Editor] finds it.
	Deleted time.Time `json:"deleted,omitzero"`
}

// Clean returns the notes in the stored form: a name on one line, tags sorted and without
// duplicates. Text that is only spaces becomes empty.
func (a About) Clean() About {
	a.Name, a.Note = strings.Join(strings.Fields(a.Name), " "), strings.TrimSpace(a.Note)
	var tags []string
	for _, tag := range a.Tags {
		if tag = strings.Join(strings.Fields(tag), "-"); tag != "" {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	a.Tags = slices.Compact(tags)
	return a
}

// Editor is a store whose runs can be named, tagged, annotated and deleted. Its
// methods take full ids.
type Editor interface {
	// Edit changes the notes on a run, deleted or not, and returns the updated run. It may
	// call change more than once. Deleting a run that is being judged returns [ErrBusy].
	Edit(ctx context.Context, runID string, change func(*About)) (Run, error)

	// Deleted returns the runs that are deleted and not purged, newest first.
	Deleted(ctx context.Context) iter.Seq2[Run, error]

	// Purge removes a deleted run permanently: its records, their calls and its batches.
	// Items, texts and replies stay, because other runs may share them.
	Purge(ctx context.Context, runID string) error
}

// NotDeleted returns the error of [Editor.Purge] for a run that was not deleted first.
func NotDeleted(runID string) error {
	return deem.WithHint(fmt.Errorf("run %s is not deleted", runID), "delete it before you purge it")
}
