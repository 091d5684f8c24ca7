package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"deem/internal/text"
)

// A token is one word, one number or one character of a script that is written
// without spaces. What stands between tokens is kept as notes on them, so that
// the words of "Alice, Bob" follow each other and "$5" still has its dollar.
type token struct {
	text    string // folded: lower case, no diacritics, no possessive 's
	kind    kind
	upper   bool // the first letter was a capital
	caps    bool // all letters were capitals
	gap     bool // white space before it
	bold    bool // inside **...**
	grouped bool // digits with grouping commas
	brk     brk  // the strongest boundary before it
	pre     rune // the last symbol before it, 0 for none
	post    rune // the first symbol after it, 0 for none
	sent    int  // number of its sentence
	span         // where it stands in the text, in bytes
}

type kind uint8

const (
	word   kind = iota
	number      // digits, with grouping commas removed
	han         // one character of an unspaced script
)

// A brk says how strongly two tokens are kept apart.
type brk uint8

const (
	none     brk = iota
	comma        // a comma
	clause       // a colon, a semicolon, a dash, a parenthesis
	sentence     // the end of a sentence or of a line
)

// tokenize reads s in one pass. All folded text goes into one buffer, so that ten
// megabytes cost a few allocations and not a million.
func tokenize(s string) []token {
	t := tokenizer{s: s, toks: make([]token, 0, len(s)/5+4), buf: make([]byte, 0, len(s))}
	t.ends = make([]int, 0, cap(t.toks))
	for t.i < len(s) {
		r, size := utf8.DecodeRuneInString(t.s[t.i:])
		t.from = t.i
		switch {
		case digitAt(s, t.i):
			t.number()
		case text.Unspaced(r):
			t.i += size
			t.buf = utf8.AppendRune(t.buf, r)
			t.add(token{kind: han})
		case unicode.IsLetter(r):
			t.word()
		case unicode.IsSpace(r):
			t.i += size
			t.gap = true
			if r == '\n' {
				t.brk = sentence
			}
		case fractions[r] != "":
			t.i += size
			t.buf = append(t.buf, fractions[r]...)
			t.add(token{kind: number})
		default:
			t.symbol(r, size)
		}
	}
	folded := string(t.buf)
	from := 0
	for i, end := range t.ends {
		t.toks[i].text = strings.TrimSuffix(strings.TrimSuffix(folded[from:end], "'s"), "'") // no possessive
		from = end
	}
	return t.toks
}

type tokenizer struct {
	s    string
	i    int
	toks []token
	buf  []byte // folded text of all tokens
	ends []int  // where the text of each token ends in buf

	from int // where the token that is being read begins

	// What was seen since the last token.
	gap   bool
	brk   brk
	pre   rune
	first bool // the next symbol is the first since the last token
	bold  bool
	sent  int
}

func (t *tokenizer) add(tok token) {
	if t.brk == sentence && len(t.toks) > 0 {
		t.sent++
	}
	tok.gap, tok.brk, tok.pre, tok.bold, tok.sent = t.gap, t.brk, t.pre, t.bold, t.sent
	tok.span = span{t.from, t.i}
	t.toks = append(t.toks, tok)
	t.ends = append(t.ends, len(t.buf))
	t.gap, t.brk, t.pre, t.first = false, none, 0, true
}

func (t *tokenizer) symbol(r rune, size int) {
	if strings.HasPrefix(t.s[t.i:], "**") {
		t.bold = !t.bold
		t.i += 2
		return
	}
	t.brk = max(t.brk, t.boundary(r, size))
	t.i += size
	if unicode.IsMark(r) || r == '\u200b' || r == '\ufeff' {
		return
	}
	if t.first && len(t.toks) > 0 {
		t.toks[len(t.toks)-1].post = r
	}
	t.first = false
	t.pre = r
}

// boundary says how strongly the symbol r at t.i keeps its neighbours apart.
func (t *tokenizer) boundary(r rune, size int) brk {
	switch r {
	case ',', '，', '、':
		return comma
	case ';', ':', '(', ')', '—', '–', '；', '：', '（', '）', '[', ']', '|':
		return clause
	case '!', '?', '。', '！', '？':
		return sentence
	case '.':
		rest := t.s[t.i+size:]
		if rest != "" && !strings.ContainsRune(" \t\r\n\"')*", rune(rest[0])) {
			return none
		}
		if n := len(t.toks); n > 0 {
			from := 0
			if n > 1 {
				from = t.ends[n-2]
			}
			last := string(t.buf[from:t.ends[n-1]])
			if t.toks[n-1].kind == word && (len(last) == 1 && t.toks[n-1].upper || abbreviations[last]) {
				return none
			}
		}
		return sentence
	}
	return none
}

var abbreviations = set("mr mrs ms dr prof sr jr st mt vs etc vol inc ltd co corp gen rev hon capt lt sgt approx jan feb mar apr jun jul aug sep sept oct nov dec e.g i.e")

// number reads digits with grouping commas and a fraction. Two dots, as in
// 2023.05.20 or a version, are not fractions.
func (t *tokenizer) number() {
	if t.negative() {
		t.buf = append(t.buf, '-')
	}
	start, first := t.i, t.i
	t.digits()
	for t.i+4 <= len(t.s) && t.s[t.i] == ',' && t.i-start <= 3 && strings.Trim(t.s[t.i+1:t.i+4], "0123456789") == "" && !digitAt(t.s, t.i+4) {
		start = t.i + 1
		t.i++
		t.digits()
	}
	if t.i+1 < len(t.s) && t.s[t.i] == '.' && digitAt(t.s, t.i+1) {
		end := t.i + 1
		for digitAt(t.s, end) {
			end++
		}
		dotted := end+1 < len(t.s) && t.s[end] == '.' && digitAt(t.s, end+1)
		if !dotted && t.pre != '.' {
			t.buf = append(t.buf, '.')
			t.i++
			t.digits()
		}
	}
	t.add(token{kind: number, grouped: start > first})
}

// negative reports whether the digits at t.i follow a minus sign that is not a hyphen
// and no bullet. A currency may stand between, as in -$5.
func (t *tokenizer) negative() bool {
	head := strings.TrimRightFunc(t.s[:t.i], isCurrency)
	for _, minus := range []string{"-", "−"} {
		if before, ok := strings.CutSuffix(head, minus); ok {
			r, _ := utf8.DecodeLastRuneInString(before)
			return before == "" || r == ' ' || r == '(' || r == '='
		}
	}
	return false
}

func (t *tokenizer) digits() {
	for digitAt(t.s, t.i) {
		t.buf = append(t.buf, t.s[t.i])
		t.i++
	}
}

func digitAt(s string, i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }

// word reads letters, the marks on them, and apostrophes between them. A period
// between single letters is dropped, so that U.S.A. is usa.
func (t *tokenizer) word() {
	tok := token{kind: word, caps: true}
	letters := 0
reading:
	for t.i < len(t.s) {
		r, size := utf8.DecodeRuneInString(t.s[t.i:])
		switch {
		case unicode.IsLetter(r) && !text.Unspaced(r):
			tok.upper = tok.upper || letters == 0 && unicode.IsUpper(r)
			tok.caps = tok.caps && unicode.IsUpper(r)
			t.buf = appendFolded(t.buf, r)
			letters++
		case unicode.IsMark(r): // a diacritic of its own
		case (r == '\'' || r == '’') && letterAt(t.s, t.i+size):
			t.buf = append(t.buf, '\'')
		case r == '.' && letters == 1 && letterAt(t.s, t.i+1) && !letterAt(t.s, t.i+2):
			letters = 0
		default:
			break reading
		}
		t.i += size
	}
	tok.caps = tok.caps && (letters > 1 || tok.upper)
	t.add(tok)
}

func letterAt(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsLetter(r) && !text.Unspaced(r)
}

// appendFolded appends the lower case of r without its diacritics.
func appendFolded(buf []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return append(buf, byte(r))
	}
	r = unicode.ToLower(r)
	if plain, ok := plainLetters[r]; ok {
		return append(buf, plain...)
	}
	return utf8.AppendRune(buf, r)
}

// plainLetters maps Latin letters to what people type in their place.
var plainLetters = func() map[rune]string {
	m := map[rune]string{'ß': "ss", 'æ': "ae", 'œ': "oe", 'þ': "th", 'ð': "d", 'ø': "o", 'ł': "l", 'đ': "d", 'ı': "i", 'ŋ': "n", 'ħ': "h"}
	for plain, marked := range map[string]string{
		"a": "àáâãäåāăąǎạảấầẩẫậắằẳẵặ", "c": "çćĉċč", "d": "ď", "e": "èéêëēĕėęěẹẻẽếềểễệ",
		"g": "ĝğġģ", "h": "ĥ", "i": "ìíîïĩīĭįǐịỉ", "j": "ĵ", "k": "ķ", "l": "ĺļľŀ", "n": "ñńņňŉ",
		"o": "òóôõöōŏőǒọỏốồổỗộớờởỡợơ", "r": "ŕŗř", "s": "śŝşšș", "t": "ţťŧț",
		"u": "ùúûüũūŭůűųǔụủứừửữựư", "w": "ŵ", "y": "ýÿŷỳỵỷỹ", "z": "źżž",
	} {
		for _, r := range marked {
			m[r] = plain
		}
	}
	return m
}()

// fractions has the vulgar fractions as decimals.
var fractions = map[rune]string{'½': "0.5", '¼': "0.25", '¾': "0.75"}

// set returns the words of s as a set.
func set(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// stem returns w without the ending of a plural.
func stem(w string) string {
	n := len(w)
	switch {
	case n <= 3 || w[n-1] != 's':
		return w
	case strings.HasSuffix(w, "ies") && n > 4:
		return w[:n-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "shes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "zes"):
		return w[:n-2]
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"):
		return w
	}
	return w[:n-1]
}

// root returns w without the endings of a plural and of the commonest derived
// forms. It is for counting the words that two texts share, where a wrong root
// costs little; it is not a dictionary form.
func root(w string) string {
	w = stem(w)
	for range 3 {
		if len(w) < 5 || !strings.ContainsRune("gndetsylrpc", rune(w[len(w)-1])) {
			break // no ending, for speed
		}
		cut := w
		for _, suffix := range endings {
			if short, ok := strings.CutSuffix(w, suffix); ok && (len(short) >= 4 || len(short) == 3 && (suffix == "ing" || suffix == "ed")) && strings.ContainsAny(short, "aeiouy") {
				cut = undouble(short)
				break
			}
		}
		if cut == w {
			break
		}
		w = cut
	}
	return w
}

// endings are what [root] takes away, the longer before the shorter.
var endings = strings.Fields("ization isation fulness ation ating ition ship ment ness ence ance ated ful ery ize ise ity ous ive ing ion ate ic al ed ly er or e y")

// undouble makes one consonant of two, so that plan is the root of planning.
func undouble(w string) string {
	if n := len(w); n > 4 && w[n-1] == w[n-2] && !strings.ContainsRune("aeiouls", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}
