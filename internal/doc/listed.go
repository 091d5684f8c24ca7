package doc

import (
	"fmt"
	"strconv"

	"deem"
	"deem/internal/words"
)

// Listed returns a section with the first records of a run that has so many items. Long texts
// are shortened, and the section says how many items it omits. A redacted run has no texts, so
// nothing is listed.
func Listed(first []deem.Record, items int, redacted bool) Section {
	list, text := Items{}, "The texts of the items were removed from this run, so none is listed."
	if !redacted {
		for _, rec := range first {
			list = append(list, itemOf(rec))
		}
		switch shown, all := len(first), max(items, len(first)); {
		case all == 0:
			text = "There are no items."
		case shown == 0:
			text = fmt.Sprintf("None of %s is listed.", words.Count(all, "item"))
		case shown == all:
			text = fmt.Sprintf("All %s. Texts longer than %d characters are shortened.", words.Count(all, "item"), itemLetters)
		default:
			text = fmt.Sprintf("The first %s of %s; %s %s left out. Texts longer than %d characters are shortened.",
				words.Comma(shown), words.Count(all, "item"), words.Comma(all-shown), words.IsAre(all-shown), itemLetters)
		}
	}
	return Section{ID: "items", Title: "Items", Blocks: []Block{Paragraph{Text: text, Tone: Dim}, list}}
}

// itemLetters is the number of characters of a text that a page shows, and maxReferences
// the number of reference answers of an item.
const (
	itemLetters   = 600
	maxReferences = 3
)

func itemOf(rec deem.Record) Item {
	it := rec.Item
	side := Side{Response: words.Clip(it.Response, itemLetters), Tone: Warning}
	switch v := rec.Verdict; {
	case v != nil:
		side.Label, side.Tone, side.Reason = Clip(OrNone(v.Label), 32), Bad, words.Clip(v.Reason, itemLetters)
		side.Score = "score " + strconv.FormatFloat(v.Score, 'g', 4, 64)
		if v.Yes() {
			side.Tone = Good
		}
		if v.Confidence != nil {
			side.Score += ", " + Percent(*v.Confidence) + " sure"
		}
	case rec.Failure != nil:
		side.Label, side.Reason = "unjudged: "+OrNone(string(rec.Failure.Kind)), words.Clip(rec.Failure.Detail, itemLetters)
	}
	item := Item{ID: Clip(it.ID, 48), Category: Clip(it.Category, 32), Question: words.Clip(it.Question, itemLetters), Sides: []Side{side}}
	for i, ref := range it.References {
		if i == maxReferences {
			item.References = append(item.References, fmt.Sprintf("and %d more", len(it.References)-i))
			break
		}
		item.References = append(item.References, words.Clip(ref, itemLetters))
	}
	return item
}
