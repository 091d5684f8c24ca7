package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
)

// An item is one thing to judge, the same for every contestant.
type item struct {
	ID        string `json:"id"`
	Question  string `json:"question"`
	Reference string `json:"reference"`
	Response  string `json:"response"`
}

// What the items are about. The numbers of words have no common divisor, so a thousand
// items have no two alike before their numbers are looked at.
var (
	people  = []string{"Ada", "Bruno", "Chiara", "Dmitri", "Esther", "Farid", "Greta"}
	hobbies = []string{"rowing", "pottery", "chess", "bread", "birds", "maps", "violins", "orchids", "radios", "tea", "stamps"}
	towns   = []string{"Bergen", "Cadiz", "Ghent", "Graz", "Izmir", "Lviv", "Porto", "Riga", "Split", "Tartu", "Turku", "Vilnius", "York"}
)

// makeItems returns n items of about the size that a memory system answers with.
func makeItems(n int) []item {
	items := make([]item, n)
	for i := range items {
		who, what, where := people[i%len(people)], hobbies[i%len(hobbies)], towns[i%len(towns)]
		items[i] = item{
			ID:        markOf(i),
			Question:  fmt.Sprintf("How many years has %s of %s been interested in %s?", who, where, what),
			Reference: fmt.Sprintf("%d years", 2+i%17),
			Response: fmt.Sprintf("We have talked about %[2]s several times. %[1]s first mentioned %[2]s after moving to %[3]s, and came back to it "+
				"when a neighbour asked for advice. In a later conversation %[1]s said that it had begun with a gift, and that there has been no week "+
				"without it since. Counting from that gift until our last conversation, %[1]s has been interested in %[2]s for %[4]d years. (note %[5]s)",
				who, what, where, 2+i%19, markOf(i)),
		}
	}
	return items
}

// markOf is the text by which the server knows an item again. It is part of the
// response, because that is what every contestant puts into its prompt.
func markOf(i int) string { return fmt.Sprintf("item-%05d", i) }

// mostItems is how many have marks of one length.
const mostItems = 100_000

var mark = regexp.MustCompile(`item-(\d{5})`)

// itemIn returns which item a request is about. A prompt that shows two items cannot be
// counted as either.
func itemIn(body []byte) (int, bool) {
	found := mark.FindAllSubmatch(body, -1)
	if len(found) == 0 {
		return 0, false
	}
	for _, m := range found[1:] {
		if !bytes.Equal(m[1], found[0][1]) {
			return 0, false
		}
	}
	i, err := strconv.Atoi(string(found[0][1]))
	return i, err == nil
}

// writeLines writes one line of JSON for each item.
func writeLines[T any](name string, items []item, line func(item) T) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for _, it := range items {
		if err := enc.Encode(line(it)); err != nil {
			return err
		}
	}
	return os.WriteFile(name, buf.Bytes(), 0o600)
}
