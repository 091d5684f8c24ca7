package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deem"
)

// LongBytes is the length from which a text of an item is stored separately, once for all
// items that have it, such as the dialogue that all questions about a session share. A text
// that only one item has then costs one more row, so short texts, which are many and rarely
// shared, stay in their item. The design note on the store has the measurements.
const LongBytes = 512

// A LongText is a text that is stored apart from its item because it is long.
type LongText struct {
	Place string // "question", "response", "messages", "references/0" or "fields/dialogue"
	Body  string
	Hash  TextSum // of Body
}

// The places of an item that hold texts of any length. The number of the reference or the
// name of the field follows after a slash. A field may have any name, so a place is split at
// its first slash.
const (
	placeQuestion   = "question"
	placeResponse   = "response"
	placeReferences = "references"
	placeFields     = "fields"
	placeMessages   = "messages" // the JSON of a conversation as a whole
)

// takeLong returns a copy of an item without its long texts, and these texts sorted by
// place.
func takeLong(it deem.Item) (deem.Item, []LongText) {
	if !hasLong(it) {
		return it, nil
	}
	var long []LongText
	take := func(from *string, place string) {
		if len(*from) >= LongBytes {
			long = append(long, LongText{Place: place, Body: ValidText(*from)})
			*from = ""
		}
	}
	take(&it.Question, placeQuestion)
	take(&it.Response, placeResponse)
	it.References = slices.Clone(it.References)
	for i := range it.References {
		take(&it.References[i], placeReferences+"/"+strconv.Itoa(i))
	}
	if it.Messages.Size() >= LongBytes {
		if text, err := deem.Canonical(it.Messages); err == nil {
			long = append(long, LongText{Place: placeMessages, Body: string(text)})
			it.Messages = nil
		}
	}
	// Names that are not UTF-8 may become equal when they are encoded. JSON encoding decides
	// which value remains, so they stay in the JSON.
	valid := true
	for name := range it.Fields {
		valid = valid && utf8.ValidString(name)
	}
	if valid {
		it.Fields = maps.Clone(it.Fields)
		for name, value := range it.Fields {
			take(&value, placeFields+"/"+name)
			it.Fields[name] = value
		}
	}
	slices.SortFunc(long, func(a, b LongText) int { return strings.Compare(a.Place, b.Place) })
	return it, long
}

// hasLong reports whether an item has long texts. Most have none.
func hasLong(it deem.Item) bool {
	isLong := func(s string) bool { return len(s) >= LongBytes }
	if it.Messages.Size() >= LongBytes || isLong(it.Question) || isLong(it.Response) || slices.ContainsFunc(it.References, isLong) {
		return true
	}
	for _, value := range it.Fields {
		if isLong(value) {
			return true
		}
	}
	return false
}

// PutBackText sets the text of a place from which a long text was taken.
func PutBackText(it *deem.Item, place, text string) error {
	kind, name, _ := strings.Cut(place, "/")
	switch kind {
	case placeQuestion:
		it.Question = text
		return nil
	case placeResponse:
		it.Response = text
		return nil
	case placeMessages:
		return json.Unmarshal([]byte(text), &it.Messages)
	case placeReferences:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(it.References) {
			it.References[i] = text
			return nil
		}
	case placeFields:
		if _, ok := it.Fields[name]; ok {
			it.Fields[name] = text
			return nil
		}
	}
	return fmt.Errorf("there is no place %q", place)
}
