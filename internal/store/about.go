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

// An About is what people note about a run. It is not part of what the run is, so it can
// change at any time.
type About struct {
	Name string   `json:"name,omitempty"`
	Tags []string `json:"tags,omitempty"` // sorted, each once
	Note string   `json:"note,omitempty"`

	// Deleted is when the run was deleted, zero if it was not. A deleted run is kept until
	// [Editor.Purge], but only [Editor] finds it.
	Deleted time.Time `json:"deleted,omitzero"`
}

// Clean returns the notes as stores keep them: a name on one line, tags sorted and without
// repetitions, and nothing but spaces counts as nothing.
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

// Editor is a store whose runs can be named, tagged, annotated and deleted. Callers ask a
// [Store] whether it is one. Its methods take whole ids.
type Editor interface {
	// Edit changes what is noted about a run, deleted or not, and returns the run as it is
	// then. It may call change more than once. To delete a run that is being judged is
	// [ErrBusy].
	Edit(ctx context.Context, runID string, change func(*About)) (Run, error)

	// Deleted returns the runs that are deleted and not purged, newest first.
	Deleted(ctx context.Context) iter.Seq2[Run, error]

	// Purge removes a deleted run for good: its records, their calls and its batches.
	// Items, texts and replies stay, because other runs may share them.
	Purge(ctx context.Context, runID string) error
}

// NotDeleted returns the error of [Editor.Purge] for a run that was not deleted first.
func NotDeleted(runID string) error {
	return deem.WithHint(fmt.Errorf("run %s is not deleted", runID), "delete it before you purge it")
}
