package minilm

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxTokens is the maximum number of tokens of a text, including the two around it. It is
// the setting of sentence-transformers for this model; the network itself supports 512, and
// the tokenizer's own file says 128.
const maxTokens = 256

// maxWord is the maximum number of characters of a word. A longer one is unknown.
const maxWord = 100

// maxSpecial is the maximum number of bytes of a special token, so that searching for one
// after each bracket of a long text is fast.
const maxSpecial = 64

// A tokenizer splits texts into the word pieces that the network knows.
type tokenizer struct {
	heads   map[string]int // pieces that begin a word
	tails   map[string]int // pieces that continue a word, without their "##"
	special map[string]int // special tokens, such as "[SEP]"
	unknown int
	begin   int // "[CLS]"
	end     int // "[SEP]"
}

// encode returns the tokens of text, at most limit of them.
func (t *tokenizer) encode(text string, limit int) []int {
	tokens := []int{t.begin}
	for text != "" && len(tokens) < limit {
		plain, id, rest := t.nextSpecial(text)
		for _, word := range words(plain) {
			if tokens = t.pieces(tokens, word); len(tokens) >= limit {
				break
			}
		}
		if id >= 0 {
			tokens = append(tokens, id)
		}
		text = rest
	}
	tokens = tokens[:min(len(tokens), limit-1)]
	return append(tokens, t.end)
}

// nextSpecial splits text at the first special token. The id is -1 if there is none.
// Special tokens are searched in the raw text, so a text can contain them; the original
// implementation does the same.
func (t *tokenizer) nextSpecial(text string) (plain string, id int, rest string) {
	for i := 0; ; i++ {
		open := strings.IndexByte(text[i:], '[')
		if open < 0 {
			return text, -1, ""
		}
		i += open
		near := text[i:min(len(text), i+maxSpecial)]
		if end := strings.IndexByte(near, ']'); end >= 0 {
			if id, ok := t.special[text[i:i+end+1]]; ok {
				return text[:i], id, text[i+end+1:]
			}
		}
	}
}

// words returns the words of a text, lower case and without accents. Each
// punctuation mark and each Chinese character is a word.
func words(text string) []string {
	var list []string
	for _, field := range strings.Fields(normalise(text)) {
		for field != "" {
			n := strings.IndexFunc(field, punctuation)
			switch {
			case n < 0:
				n = len(field)
			case n == 0:
				_, n = utf8.DecodeRuneInString(field)
			}
			list = append(list, field[:n])
			field = field[n:]
		}
	}
	return list
}

// normalise cleans a text as BERT does for its uncased models. The order is that of the
// original: accents are removed before lower-casing.
func normalise(text string) string {
	// Invisible characters are removed, all white space becomes blanks, and Chinese
	// characters are separated.
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			b.WriteByte(' ')
		case r == 0 || r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case chinese(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	text = b.String()
	if strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		text = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, norm.NFD.String(text))
	}
	return strings.Map(unicode.ToLower, text)
}

// punctuation reports whether r is a separate word. All ASCII except letters and digits is,
// including "$" and "+", which Unicode counts as symbols.
func punctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7f && !(r >= '0' && r <= '9') && !(r >= 'a' && r <= 'z') && !(r >= 'A' && r <= 'Z')
	}
	return unicode.IsPunct(r)
}

// chinese reports whether r is an ideograph. The blocks are those of the original; kana and
// hangul are excluded, since they form words.
func chinese(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4dbf, r >= 0x4e00 && r <= 0x9fff, r >= 0xf900 && r <= 0xfaff:
		return true
	case r >= 0x20000 && r <= 0x2a6df, r >= 0x2a700 && r <= 0x2b81f:
		return true
	case r >= 0x2b920 && r <= 0x2ceaf, r >= 0x2f800 && r <= 0x2fa1f:
		return true
	}
	return false
}

// pieces appends the longest known pieces that make up a word, or the unknown token if
// there are none.
func (t *tokenizer) pieces(tokens []int, word string) []int {
	if utf8.RuneCountInString(word) > maxWord {
		return append(tokens, t.unknown)
	}
	start, known := len(tokens), t.heads
	for rest := word; rest != ""; known = t.tails {
		n := len(rest)
		id, ok := known[rest]
		for !ok && n > 1 {
			if n--; utf8.RuneStart(rest[n]) {
				id, ok = known[rest[:n]]
			}
		}
		if !ok {
			return append(tokens[:start], t.unknown)
		}
		tokens = append(tokens, id)
		rest = rest[n:]
	}
	return tokens
}
