package server

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/store"
)

// noCategory is the name for items without a category, as in reports.
const noCategory = "(none)"

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
	f := Filter{Order: store.Order(q.Get("sort")), Descending: q.Get("desc") != ""}
	for name, to := range f.texts() {
		*to = q.Get(name)
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

// texts returns the text fields by their names in the query of an address.
func (f *Filter) texts() map[string]*string {
	return map[string]*string{
		"category": &f.Category, "label": &f.Label, "kind": &f.Kind, "verdict": &f.Verdict, "trial": &f.Trial, "q": &f.Text, "against": &f.Against,
	}
}

// Active reports whether the filter excludes any items.
func (f Filter) Active() bool {
	f.Order, f.Descending = "", false
	return f != Filter{}
}

// Link returns a path with the filter and further names and values as its query.
func (f Filter) Link(path string, more ...string) string {
	q := url.Values{"sort": {string(f.Order)}}
	if f.Descending {
		q.Set("desc", "1")
	}
	for name, text := range f.texts() {
		q.Set(name, *text)
	}
	return Link(path, q, more...)
}

// Link returns a path with a query, in which further names and values replace earlier ones.
// A value "" removes a name.
func Link(path string, q url.Values, more ...string) string {
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	maps.DeleteFunc(q, func(_ string, values []string) bool { return strings.Join(values, "") == "" })
	switch {
	case len(q) == 0:
		return path
	case strings.Contains(path, "?"):
		return path + "&" + q.Encode()
	}
	return path + "?" + q.Encode()
}

// View returns the filter as a query of the store.
func (f Filter) View() store.View {
	v := store.View{Text: f.Text, Against: f.Against, Order: f.Order, Descending: f.Descending}
	if f.Category != "" {
		v.Categories = []string{f.Category}
		if f.Category == noCategory {
			v.Categories = []string{"", noCategory}
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
	p := &store.Place{}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, p)
	}
	if err != nil {
		return nil, BadRequest("there is no such place in the items")
	}
	return p, nil
}
