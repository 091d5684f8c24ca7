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

// LongBytes is from how many bytes on a text of an item is kept by itself, once,
// however many items say it: the dialogue that all questions about a session
// carry along. A text that only one item says costs a row more that way, which is
// why short ones, which are many and hardly shared, stay in their item. The
// design note on the store has the measurements.
const LongBytes = 512

// A LongText is a text that is stored apart from its item because it is long.
type LongText struct {
	Place string // "question", "response", "messages", "references/0" or "fields/dialogue"
	Body  string
	Hash  TextSum // of Body

	// Number is for stores that number texts, once it has one.
	Number int64
}

// The places of an item that hold texts of any length. Behind a slash follows
// which reference or field it is, and a field may have any name: a place is cut at
// its first slash.
const (
	placeQuestion   = "question"
	placeResponse   = "response"
	placeReferences = "references"
	placeFields     = "fields"
	placeMessages   = "messages" // the JSON of a conversation as a whole
)

// IsField reports whether the text of a place belongs to the fields or the conversation of
// an item, which are not searched.
func IsField(place string) bool {
	return place == placeMessages || strings.HasPrefix(place, placeFields+"/")
}

// takeLong returns an item without its long texts, and these by their places. The
// item it was given is left alone.
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
	// Names that are not UTF-8 may become one name when they are mended. Which of
	// their values remains is for the JSON to say, so they stay in it.
	if validNames(it.Fields) {
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

func validNames(fields map[string]string) bool {
	for name := range fields {
		if !utf8.ValidString(name) {
			return false
		}
	}
	return true
}

// PutBackText sets the text of a place from which a long one was taken.
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
