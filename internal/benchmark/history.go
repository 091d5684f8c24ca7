package benchmark

import (
	"encoding/json"
	"slices"

	"deem"
	"deem/internal/reader"
)

// A History is what was said before a question was asked, as passages that a reader can be
// shown.
type History struct {
	Passages []reader.Context // in the order of the conversation
	Speakers []string         // of the conversation, if there are two with names
	Cut      string           // how a history that exceeds the budget is cut, see [reader.FieldCut]

	whole string // all passages, encoded: the questions about a conversation share them
}

// SetContexts gives an item the contexts of an arm: the whole history, or the passages with
// the given ids.
func (h *History) SetContexts(it *deem.Item, arm string, evidence []string) error {
	if len(h.Speakers) > 0 {
		names, err := json.Marshal(h.Speakers)
		if err != nil {
			return err
		}
		SetField(it, reader.FieldSpeakers, string(names))
	}
	if arm == reader.ArmOracle {
		shown := slices.DeleteFunc(slices.Clone(h.Passages), func(c reader.Context) bool { return !slices.Contains(evidence, c.ID) })
		text, err := reader.EncodeContexts(shown)
		SetField(it, reader.FieldContexts, text)
		return err
	}
	if h.whole == "" {
		var err error
		if h.whole, err = reader.EncodeContexts(h.Passages); err != nil {
			return err
		}
	}
	SetField(it, reader.FieldContexts, h.whole)
	if h.Cut != "" {
		SetField(it, reader.FieldCut, h.Cut)
	}
	return nil
}
