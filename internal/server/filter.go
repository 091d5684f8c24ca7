package server

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"deem"
	"deem/internal/store"
)

// NoCategory is the name for items without a category, as in reports.
const NoCategory = "(none)"

// The values of Filter.Verdict.
const (
	SaysYes  = "yes"
	SaysNo   = "no"
	Unjudged = "unjudged"
)

// A Filter says which items a page shows, and in which order. It is read from the query of
// the address, and all links between the items of a run include it.
type Filter struct {
	Category, Label, Kind string
	Verdict               string // SaysYes, SaysNo, Unjudged or ""
	Trial                 string // a number, or "" for all
	Text                  string
	Against               string // the id of another run
	Order                 store.Order
	Descending            bool
}

// readFilter reads a filter from the query of an address.
func readFilter(q url.Values) (Filter, error) {
	f := Filter{
		Category: q.Get("category"), Label: q.Get("label"), Kind: q.Get("kind"), Verdict: q.Get("verdict"),
		Trial: q.Get("trial"), Text: q.Get("q"), Against: q.Get("against"),
		Order: store.Order(q.Get("sort")), Descending: q.Get("desc") != "",
	}
	if f.Order == store.ByPosition {
		f.Order = ""
	}
	if f.Order != "" && !slices.Contains(store.Orders(), f.Order) {
		return f, BadRequest("items are not sorted by %q", f.Order)
	}
	if f.Verdict != "" && f.Verdict != SaysYes && f.Verdict != SaysNo && f.Verdict != Unjudged {
		return f, BadRequest("a verdict is yes, no or unjudged, not %q", f.Verdict)
	}
	if n, err := strconv.Atoi(f.Trial); f.Trial != "" && (err != nil || n < 0) {
		return f, BadRequest("a trial is a number from 0, not %q", f.Trial)
	}
	return f, nil
}

// values returns the filter as the query of an address.
func (f Filter) values() url.Values {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	set("category", f.Category)
	set("label", f.Label)
	set("kind", f.Kind)
	set("verdict", f.Verdict)
	set("trial", f.Trial)
	set("q", f.Text)
	set("against", f.Against)
	set("sort", string(f.Order))
	if f.Descending {
		set("desc", "1")
	}
	return q
}

// Active reports whether the filter excludes any items.
func (f Filter) Active() bool {
	f.Order, f.Descending = "", false
	return f != Filter{}
}

// Link returns a path with the filter and further names and values as its query.
func (f Filter) Link(path string, more ...string) string {
	q := f.values()
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	if len(q) == 0 {
		return path
	}
	sep := "?"
	if slices.Contains([]byte(path), '?') {
		sep = "&"
	}
	return path + sep + q.Encode()
}

// View returns the filter as a query of the store.
func (f Filter) View() store.View {
	v := store.View{Text: f.Text, Against: f.Against, Order: f.Order, Descending: f.Descending}
	if f.Category != "" {
		v.Categories = []string{f.Category}
		if f.Category == NoCategory {
			v.Categories = []string{"", NoCategory}
		}
	}
	if f.Label != "" {
		v.Labels = []string{f.Label}
	}
	if f.Kind != "" {
		v.Kinds = []deem.Kind{deem.Kind(f.Kind)}
	}
	switch f.Verdict {
	case SaysYes, SaysNo:
		yes := f.Verdict == SaysYes
		v.Pass = &yes
	case Unjudged:
		v.Unjudged = true
	}
	if n, err := strconv.Atoi(f.Trial); err == nil {
		v.Trial = &n
	}
	return v
}

// EncodePlace encodes a place for use in an address.
func EncodePlace(p *store.Place) string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // A place is a number and strings, which can always be encoded.
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// DecodePlace decodes a place. It returns an error if the text is invalid.
func DecodePlace(text string) (*store.Place, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, BadRequest("there is no such place in the items")
	}
	p := &store.Place{}
	if err := json.Unmarshal(raw, p); err != nil {
		return nil, BadRequest("there is no such place in the items")
	}
	return p, nil
}
