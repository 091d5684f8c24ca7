package plan

import (
	"hash/maphash"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// A vocabulary cuts text into the tokens of a model.
type vocabulary struct {
	name string
	load func() *codec.Codec

	mu    sync.Mutex
	known map[uint64]int32 // the counts of lines that were cut before, by hash
}

// maxKnown is how many lines are remembered before all are forgotten: some 2 MB.
const maxKnown = 1 << 16

// seed makes the hashes of lines. They are random in each process, so nobody can write a
// text whose lines collide; by chance it happens once in some billions of runs.
var seed = maphash.MakeSeed()

// The vocabularies are those of chat models. Older ones are left out, so that the linker
// leaves out their tables, which are megabytes.
var (
	o200k  = &vocabulary{name: "o200k_base", load: sync.OnceValue(codec.NewO200kBase)}
	cl100k = &vocabulary{name: "cl100k_base", load: sync.OnceValue(codec.NewCl100kBase)}
)

// families are the beginnings of names and what their models use. The first that fits
// counts.
var families = []struct {
	prefix string
	v      *vocabulary
	exact  bool
}{
	{"gpt-oss", o200k, false}, // Its server puts a page of its own before the prompt.
	{"gpt-4o", o200k, true},
	{"chatgpt-4o", o200k, true},
	{"gpt-4.", o200k, true},
	{"gpt-5", o200k, true},
	{"o1", o200k, true},
	{"o3", o200k, true},
	{"o4", o200k, true},
	{"gpt-4", cl100k, true},
	{"gpt-3.5", cl100k, true},
	{"gpt-35", cl100k, true}, // as Azure spells it
	{"text-embedding-3", cl100k, true},
	{"text-embedding-ada-002", cl100k, true},
}

// vocabularyOf returns the vocabulary of the named model, nil if it is not known, and
// whether nothing else is needed to count its tokens.
func vocabularyOf(model string) (*vocabulary, bool) {
	name := bare(model)
	for _, f := range families {
		rest, ok := strings.CutPrefix(name, f.prefix)
		if ok && (rest == "" || strings.HasSuffix(f.prefix, ".") || !isLetterOrDigit(rest[0])) {
			return f.v, f.exact
		}
	}
	return nil, false
}

func isLetterOrDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z'
}

// count returns the tokens of s, a group of lines at a time. The prompts of a run have most of
// their lines in common, so most are found among those counted before.
func (v *vocabulary) count(s string) int {
	if !utf8.ValidString(s) {
		s = string([]rune(s)) // as it will be in JSON
	}
	n := 0
	for s != "" {
		end := lineEnd(s)
		n += v.line(s[:end])
		s = s[end:]
	}
	return n
}

// lineEnd returns where the first line of s ends that can be cut by itself. A token never
// goes from a line break on to a character that is neither white space nor a slash: every
// rule by which the vocabularies cut words ends there at the latest, and none looks back.
func lineEnd(s string) int {
	for i := 0; ; {
		j := strings.IndexByte(s[i:], '\n')
		if j < 0 {
			return len(s)
		}
		i += j + 1
		if i == len(s) {
			return i
		}
		if r, _ := utf8.DecodeRuneInString(s[i:]); r != '/' && !unicode.IsSpace(r) {
			return i
		}
	}
}

// line returns the tokens of one line.
func (v *vocabulary) line(s string) int {
	h := maphash.String(seed, s)
	v.mu.Lock()
	n, ok := v.known[h]
	v.mu.Unlock()
	if ok {
		return int(n)
	}
	n = int32(v.cut(s))
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil || len(v.known) >= maxKnown {
		v.known = make(map[uint64]int32)
	}
	v.known[h] = n
	return int(n)
}

// cut counts without looking among the known lines.
func (v *vocabulary) cut(s string) int {
	n, err := v.load().Count(s)
	if err != nil {
		// The library's matcher can time out, though no limit is set. A plan is better off
		// with an estimate than without a number.
		return rateOf("").count(s)
	}
	return max(n, 1) // A line is not empty, but the library drops a DEL that stands alone.
}
