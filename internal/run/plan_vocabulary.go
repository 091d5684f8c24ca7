package run

import (
	"hash/maphash"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// A vocabulary splits text into the tokens of a model.
type vocabulary struct {
	name string
	load func() *codec.Codec

	mu    sync.Mutex
	known map[uint64]int32 // cached token counts of lines, by hash
}

// maxKnown is the number of cached lines at which the cache is cleared, about 2 MB.
const maxKnown = 1 << 16

// seed is the seed of the line hashes. It is random in each process, so that texts with
// colliding lines cannot be prepared; a collision by chance happens once in billions of
// runs.
var seed = maphash.MakeSeed()

// The vocabularies of chat models. Older ones are omitted, so that the linker can drop
// their tables, which are megabytes.
var (
	o200k  = &vocabulary{name: "o200k_base", load: sync.OnceValue(codec.NewO200kBase)}
	cl100k = &vocabulary{name: "cl100k_base", load: sync.OnceValue(codec.NewCl100kBase)}
)

// families maps prefixes of model names to vocabularies. The first match counts.
var families = []struct {
	prefix string
	v      *vocabulary
	exact  bool
}{
	{"gpt-oss", o200k, false}, // Its server adds a page of text before the prompt.
	{"gpt-4o", o200k, true},
	{"chatgpt-4o", o200k, true},
	{"gpt-4.", o200k, true},
	{"gpt-5", o200k, true},
	{"o1", o200k, true},
	{"o3", o200k, true},
	{"o4", o200k, true},
	{"gpt-4", cl100k, true},
	{"gpt-3.5", cl100k, true},
	{"gpt-35", cl100k, true}, // Azure's spelling
	{"text-embedding-3", cl100k, true},
	{"text-embedding-ada-002", cl100k, true},
}

// vocabularyOf returns the vocabulary of a model, or nil if it is unknown, and whether
// counts with it are exact.
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

// count returns the tokens of s, a group of lines at a time. The prompts of a run have most
// lines in common, so most counts come from the cache.
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

// lineEnd returns the end of the shortest prefix of lines of s that can be tokenized
// separately. A token never continues from a line break to a character that is neither
// white space nor a slash: every splitting rule of the vocabularies ends there at the
// latest, and none looks back.
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

// line returns the tokens of one group of lines.
func (v *vocabulary) line(s string) int {
	h := maphash.String(seed, s)
	v.mu.Lock()
	n, ok := v.known[h]
	v.mu.Unlock()
	if ok {
		return int(n)
	}
	count, err := v.load().Count(s)
	if err != nil {
		// The library's matcher can time out, although no timeout is set. An estimate is
		// better than no number.
		count = rateOf("").count(s)
	}
	n = int32(max(count, 1)) // A line is not empty, but the library drops a DEL on its own.
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil || len(v.known) >= maxKnown {
		v.known = make(map[uint64]int32)
	}
	v.known[h] = n
	return int(n)
}
