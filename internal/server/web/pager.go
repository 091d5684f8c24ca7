package web

// A pager links the pages of a list of known length.
type pager struct {
	Page, Pages int
	Prev, Next  string // paths, "" for none
}

// newPager returns the pager at a page. A page out of range is clamped.
func newPager(page, items, perPage int, link func(page int) string) pager {
	p := pager{Pages: max(1, (items+perPage-1)/perPage)}
	p.Page = min(max(page, 1), p.Pages)
	if p.Page > 1 {
		p.Prev = link(p.Page - 1)
	}
	if p.Page < p.Pages {
		p.Next = link(p.Page + 1)
	}
	return p
}

// span returns the range of items on the page.
func (p pager) span(items, perPage int) (from, to int) {
	from = min((p.Page-1)*perPage, items)
	return from, min(from+perPage, items)
}
