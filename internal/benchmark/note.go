package benchmark

import (
	"fmt"
	"strings"

	"deem/internal/words"
)

// FirstTen lists the first ten of ids: enough to look for what they have in common,
// and not a page.
func FirstTen(ids []string) string {
	const most = 10
	list := strings.Join(ids[:min(len(ids), most)], ", ")
	if len(ids) > most {
		list += ", ..."
	}
	return list
}

// Note returns the notes with one more, which says something of ids: how many there
// are, and the first ten. Of no ids there is nothing to say.
func Note(notes, ids []string, noun, what string) []string {
	if len(ids) == 0 {
		return notes
	}
	return append(notes, fmt.Sprintf("%s %s: %s", words.Count(len(ids), noun), what, FirstTen(ids)))
}
