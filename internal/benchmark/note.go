package benchmark

import (
	"fmt"
	"strings"

	"deem/internal/words"
)

// FirstTen lists the first ten ids: enough to find a pattern, but not a whole page.
func FirstTen(ids []string) string {
	const most = 10
	list := strings.Join(ids[:min(len(ids), most)], ", ")
	if len(ids) > most {
		list += ", ..."
	}
	return list
}

// Note appends a note about ids: their number and the first ten. Without ids it adds
// nothing.
func Note(notes, ids []string, noun, what string) []string {
	if len(ids) == 0 {
		return notes
	}
	return append(notes, fmt.Sprintf("%s %s: %s", words.Count(len(ids), noun), what, FirstTen(ids)))
}
