package metric

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/neurosnap/sentences/data"
)

// params are the parameters of Punkt, trained on English newspapers.
type params struct {
	abbreviations map[string]bool  // without the final period
	collocations  map[pair]bool    // pairs of words before and after a period that belong together
	starters      map[string]bool  // words that often begin a sentence
	context       map[string]ortho // where a word was seen, and with which case of its first letter
}

// A pair is two consecutive words.
type pair struct{ first, second string }

// ortho is the set of positions in which a word was seen, by case of its first letter, one
// bit for each. The values are those of NLTK.
type ortho uint8

const (
	beginsUpper  ortho = 1 << (iota + 1) // at the beginning of a sentence, in upper case
	insideUpper                          // inside a sentence
	unknownUpper                         // position unknown
	beginsLower                          // the same in lower case
	insideLower                          //
	unknownLower                         //
	anyUpper     = beginsUpper | insideUpper | unknownUpper
	anyLower     = beginsLower | insideLower | unknownLower
)

// english returns the parameters for English. They are read on first use, because that
// takes a moment.
var english = sync.OnceValue(func() *params {
	raw, err := data.Asset("data/english.json")
	if err != nil {
		panic("nltk: " + err.Error()) // Cannot happen: the file is embedded.
	}
	var file struct {
		AbbrevTypes, Collocations, SentStarters map[string]int
		OrthoContext                            map[string]ortho
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		panic("nltk: english.json: " + err.Error())
	}
	p := &params{
		abbreviations: keys(file.AbbrevTypes),
		collocations:  map[pair]bool{},
		starters:      keys(file.SentStarters),
		context:       file.OrthoContext,
	}
	// The module has one word more than the files punkt_tab, in which NLTK ships the
	// parameters. Otherwise abbreviations, collocations and starters are equal, and the
	// contexts have the same number of bytes.
	delete(p.starters, "she")
	for c := range file.Collocations {
		first, second, _ := strings.Cut(c, ",")
		p.collocations[pair{first, second}] = true
	}
	return p
})

// keys returns the keys of a map as a set.
func keys(m map[string]int) map[string]bool {
	set := make(map[string]bool, len(m))
	for k := range m {
		set[k] = true
	}
	return set
}
