package report

import (
	"fmt"
	"io"
	"strconv"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
)

// Items are the records that a page lists below its report.
type Items struct {
	First []deem.Record // the first records, in the order of the dataset
	All   int           // the number of items in the run

	// Redacted reports whether the texts of the items were removed.
	Redacted bool
}

// HTMLWith writes the report like [Report.HTML], followed by items. Long texts are
// shortened, and the page says how many items it omits.
func (r Report) HTMLWith(w io.Writer, items Items) error {
	d := r.Document()
	list := doc.Items{}
	for _, rec := range items.First {
		if !items.Redacted {
			list = append(list, itemOf(rec))
		}
	}
	d.Add(doc.Section{ID: "items", Title: "Items", Blocks: []doc.Block{doc.Paragraph{Text: items.words(), Tone: doc.Dim}, list}})
	return doc.HTML(w, d)
}

// itemLetters is the number of characters of a text that a page shows, and maxReferences
// the number of reference answers of an item.
const (
	itemLetters   = 600
	maxReferences = 3
)

// words says how many items are listed and how many are not.
func (items Items) words() string {
	shown, all := len(items.First), max(items.All, len(items.First))
	switch {
	case items.Redacted:
		return "The texts of the items were removed from this run, so none is listed."
	case all == 0:
		return "There are no items."
	case shown == 0:
		return fmt.Sprintf("None of %s is listed.", words.Count(all, "item"))
	case shown == all:
		return fmt.Sprintf("All %s. Texts longer than %d characters are shortened.", words.Count(all, "item"), itemLetters)
	}
	return fmt.Sprintf("The first %s of %s; %s %s left out. Texts longer than %d characters are shortened.",
		words.Comma(shown), words.Count(all, "item"), words.Comma(all-shown), words.IsAre(all-shown), itemLetters)
}

func itemOf(rec deem.Record) doc.Item {
	it := rec.Item
	side := doc.Side{Response: words.Clip(it.Response, itemLetters), Tone: doc.Warning}
	switch v := rec.Verdict; {
	case v != nil:
		side.Label, side.Tone, side.Reason = doc.Clip(doc.OrNone(v.Label), 32), doc.Bad, words.Clip(v.Reason, itemLetters)
		side.Score = "score " + strconv.FormatFloat(v.Score, 'g', 4, 64)
		if v.Yes() {
			side.Tone = doc.Good
		}
		if v.Confidence != nil {
			side.Score += ", " + doc.Percent(*v.Confidence) + " sure"
		}
	case rec.Failure != nil:
		side.Label, side.Reason = "unjudged: "+kindName(rec.Failure.Kind), words.Clip(rec.Failure.Detail, itemLetters)
	}
	item := doc.Item{ID: doc.Clip(it.ID, 48), Category: doc.Clip(it.Category, 32), Question: words.Clip(it.Question, itemLetters), Sides: []doc.Side{side}}
	for i, ref := range it.References {
		if i == maxReferences {
			item.References = append(item.References, fmt.Sprintf("and %d more", len(it.References)-i))
			break
		}
		item.References = append(item.References, words.Clip(ref, itemLetters))
	}
	return item
}
