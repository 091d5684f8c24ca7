package minilm

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxTokens is how many tokens of a text count, the two around it included. It is
// what sentence-transformers sets for this model; the network itself could take
// 512, and the tokenizer's own file says 128.
const maxTokens = 256

// maxWord is how many characters a word may have. A longer one is unknown.
const maxWord = 100

// maxSpecial is how many bytes a special token may have, so that looking for one
// behind each bracket of a long text takes no long time.
const maxSpecial = 64

// A tokenizer cuts texts into the pieces of words that the network knows.
type tokenizer struct {
	heads   map[string]int // pieces that begin a word
	tails   map[string]int // pieces that go on with one, without their "##"
	special map[string]int // tokens that stand for themselves, as "[SEP]"
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

// nextSpecial cuts text at the first special token. The id is -1 when there is
// none. Special tokens are looked for in the text as it is, and so a text can
// hold them; the published program does the same.
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

// normalise cleans a text as BERT does for its uncased models. The order is that
// of the original: accents go before the letters are made small.
func normalise(text string) string {
	text = clean(text)
	if !ascii(text) {
		text = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, norm.NFD.String(text))
	}
	return strings.Map(unicode.ToLower, text)
}

// clean drops what cannot be seen, makes every white space a blank, and sets
// Chinese characters apart.
func clean(text string) string {
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
	return b.String()
}

// ascii reports whether a text has ASCII characters alone.
func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// punctuation reports whether r stands alone. All ASCII that is neither letter nor
// digit does, "$" and "+" too, which Unicode counts as symbols.
func punctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7f && !(r >= '0' && r <= '9') && !(r >= 'a' && r <= 'z') && !(r >= 'A' && r <= 'Z')
	}
	return unicode.IsPunct(r)
}

// chinese reports whether r is an ideograph. The blocks are those of the original;
// kana and hangul are not among them, since they form words.
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

// pieces appends the longest known pieces that make up a word, or the unknown
// token when they do not.
func (t *tokenizer) pieces(tokens []int, word string) []int {
	if utf8.RuneCountInString(word) > maxWord {
		return append(tokens, t.unknown)
	}
	start, known := len(tokens), t.heads
	for rest := word; rest != ""; known = t.tails {
		id, n := longest(known, rest)
		if n == 0 {
			return append(tokens[:start], t.unknown)
		}
		tokens = append(tokens, id)
		rest = rest[n:]
	}
	return tokens
}

// longest returns the longest piece that rest begins with and its length, 0 when
// there is none.
func longest(known map[string]int, rest string) (id, n int) {
	for n := len(rest); n > 0; n-- {
		if n < len(rest) && !utf8.RuneStart(rest[n]) {
			continue
		}
		if id, ok := known[rest[:n]]; ok {
			return id, n
		}
	}
	return 0, 0
}
