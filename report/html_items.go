package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"deem"
	"deem/internal/words"
	"deem/report/internal/page"
)

// Items are the records that a page lists below its report.
type Items struct {
	First []deem.Record // the first of them, in the order of the dataset
	All   int           // how many the run has

	// Redacted says that the texts of the items were removed.
	Redacted bool
}

// HTMLWith writes the report as [Report.HTML] does, and items below it. Long texts are
// shortened, and how many items are left out is said.
func (r Report) HTMLWith(w io.Writer, items Items) error {
	p := newPage(r)
	p.Items = newPageItems(items)
	return p.html(w)
}

// PageItems are items as a page lists them.
type PageItems struct {
	Words string // which they are, and how many are left out
	Rows  []PageItem
}

// A PageItem is one item with what was decided about it. Its texts are shortened.
type PageItem struct {
	ID, Category, Question, Response string
	References                       []string

	Class string // "yes", "no" or "un"
	Label string // or why there is none
	Score string
	Sure  string // how sure the judge is, "" when it does not say
	Why   string // the judge's reason, or the detail of the failure
}

// itemLetters is how many characters of a text a page shows.
const itemLetters = 600

// maxReferences is how many right answers of an item a page shows.
const maxReferences = 3

func newPageItems(items Items) *PageItems {
	p := &PageItems{Words: itemsWords(items)}
	if items.Redacted {
		return p
	}
	for _, rec := range items.First {
		p.Rows = append(p.Rows, newPageItem(rec))
	}
	return p
}

// itemsWords says which items are listed and how many are not.
func itemsWords(items Items) string {
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

func newPageItem(rec deem.Record) PageItem {
	it := rec.Item
	p := PageItem{ID: page.Cell(it.ID, page.IDWidth), Category: page.Cell(it.Category, page.NameWidth), Question: itemText(it.Question), Response: itemText(it.Response), Class: "un"}
	for i, ref := range it.References {
		if i == maxReferences {
			p.References = append(p.References, fmt.Sprintf("and %d more", len(it.References)-i))
			break
		}
		p.References = append(p.References, itemText(ref))
	}
	switch v := rec.Verdict; {
	case v != nil:
		p.Label, p.Score, p.Why, p.Class = page.Cell(page.OrNone(v.Label), page.NameWidth), strconv.FormatFloat(v.Score, 'g', 4, 64), itemText(v.Reason), "no"
		if v.Yes() {
			p.Class = "yes"
		}
		if v.Confidence != nil {
			p.Sure = page.Percent(*v.Confidence) + " sure"
		}
	case rec.Failure != nil:
		p.Label, p.Why = "unjudged: "+kindName(rec.Failure.Kind), itemText(rec.Failure.Detail)
	}
	return p
}

// itemText returns the beginning of a text. What cannot be printed is written out, but
// lines stay lines.
func itemText(text string) string {
	if len(text) > 4*itemLetters+4 { // The rest need not be looked at, however long it is.
		text = strings.ToValidUTF8(text[:4*itemLetters+4], "")
	}
	if utf8.RuneCountInString(text) > itemLetters {
		text = string([]rune(text)[:itemLetters-1]) + "…"
	}
	return cleanLines(text)
}
