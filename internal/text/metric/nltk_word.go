package metric

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"deem/internal/text"
)

// NLTKWords splits a text into words like word_tokenize of NLTK 3.8: sentence by sentence,
// because only the period at the end of a sentence is a word.
func NLTKWords(s string) []string {
	var words []string
	for _, sentence := range NLTKSentences(s) {
		words = append(words, NLTKLineWords(sentence)...)
	}
	return words
}

// NLTKLineWords splits one sentence into words like word_tokenize of NLTK 3.8 with
// preserve_line. If there are several sentences, only the last period is split off.
// Straight double quotes become two backticks or two apostrophes.
//
// The tokenizer goes back to that of R. MacIntyre for the Penn Treebank: a sequence of
// replacements puts spaces around words, and then the text is split at spaces. The order
// matters, because many replacements depend on the spaces that earlier ones have made.
func NLTKLineWords(s string) []string {
	if !text.IsASCII(s) {
		s = apart(s, "«“‘„")
	}
	s = runs(s, '`', 1)
	if strings.HasPrefix(s, `"`) {
		s = "``" + s[1:]
	}
	s = strings.ReplaceAll(s, "``", " `` ")
	s = quotesAfterOpening(s)
	s = letterAfterApostrophe(s)

	s = finalPeriod(s, "])}>\"'»”’ ", " ")
	s = commas(s)
	line := strings.TrimSuffix(s, "\n")
	if n := len(line) - 1; n >= 0 && (line[n] == ',' || line[n] == ':') {
		s = line[:n] + " " + line[n:] + " " + s[len(line):]
	}
	s = runs(s, '.', 2)
	s = apart(s, ";@#$%&")
	s = finalPeriod(s, "])}>\"'", "")
	s = apart(s, "?!")
	s = lastApostrophes(s)
	s = apart(s, "*[](){}<>")
	s = " " + strings.ReplaceAll(s, "--", " -- ") + " "

	if !text.IsASCII(s) {
		s = apart(s, "»”’")
	}
	s = strings.ReplaceAll(s, "''", " '' ")
	s = strings.ReplaceAll(s, `"`, " '' ")
	s = beforeApostrophe(s, "s", "S", "m", "M", "d", "D", "")
	s = beforeApostrophe(s, "ll", "LL", "re", "RE", "ve", "VE", "t", "T")
	return text.Split(contractions(s))
}

// apart puts spaces around each of the characters.
func apart(s, chars string) string {
	if !strings.ContainsAny(s, chars) {
		return s
	}
	w := rewriter{s: s}
	for i, r := range s {
		if r != utf8.RuneError && strings.ContainsRune(chars, r) {
			w.replace(i, i+utf8.RuneLen(r), " "+string(r)+" ")
		}
	}
	return w.String()
}

// A rewriter replaces parts of a text. Replacements are not examined again.
type rewriter struct {
	s    string
	b    strings.Builder
	from int // start of the text that is not written yet
}

// replace writes the text up to i, and then the replacement of the text from i to j.
func (w *rewriter) replace(i, j int, replacement string) {
	w.b.WriteString(w.s[w.from:i])
	w.b.WriteString(replacement)
	w.from = j
}

func (w *rewriter) String() string {
	if w.from == 0 {
		return w.s
	}
	w.b.WriteString(w.s[w.from:])
	w.from = len(w.s)
	return w.b.String()
}

// runs puts spaces around runs of at least least characters c.
func runs(s string, c byte, least int) string {
	w := rewriter{s: s}
	for i := strings.IndexByte(s, c); i >= 0 && i < len(s); i++ {
		n := 0
		for i+n < len(s) && s[i+n] == c {
			n++
		}
		if n > 0 && n >= least {
			w.replace(i, i+n, " "+s[i:i+n]+" ")
		}
		i += n
	}
	return w.String()
}

// quotesAfterOpening replaces double quotes after a space or an opening bracket by
// backticks.
func quotesAfterOpening(s string) string {
	w := rewriter{s: s}
	for i := 1; i < len(s); i++ {
		if strings.IndexByte(" ([{<", s[i-1]) < 0 {
			continue
		}
		switch {
		case s[i] == '"':
			w.replace(i, i+1, " `` ")
		case strings.HasPrefix(s[i:], "''"):
			w.replace(i, i+2, " `` ")
			i++
		}
	}
	return w.String()
}

// letterAfterApostrophe splits an apostrophe from a single letter, unless it is a
// contraction such as 's.
func letterAfterApostrophe(s string) string {
	w := rewriter{s: s}
	for i := range len(s) {
		if s[i] != '\'' {
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i+1:])
		if isWord(r, size) && !isWordAt(s[i+1+size:]) && !strings.ContainsRune("mMtTsSſdDnN", r) {
			w.replace(i+1, i+1, " ")
		}
	}
	return w.String()
}

// isWordAt reports whether s begins with a word character.
func isWordAt(s string) bool { return isWord(utf8.DecodeRuneInString(s)) }

// isWordBefore reports whether s ends with a word character.
func isWordBefore(s string) bool { return isWord(utf8.DecodeLastRuneInString(s)) }

func isWord(r rune, size int) bool { return size > 0 && text.IsWord(r) }

// finalPeriod splits off a period that is followed only by closing characters and white
// space. It puts between after the period.
func finalPeriod(s, closing, between string) string {
	dot := strings.LastIndexByte(s, '.')
	if dot <= 0 || s[dot-1] == '.' {
		return s
	}
	rest := strings.TrimLeft(s[dot+1:], closing)
	if spaces(rest) < len(rest) {
		return s
	}
	return s[:dot] + " ." + between + s[dot+1:len(s)-len(rest)] + " "
}

// commas puts spaces around a comma or colon that is not followed by a digit. The character
// after it is part of the match, so the second of two commas is skipped.
func commas(s string) string {
	w := rewriter{s: s}
	for i := 0; i < len(s); i++ {
		if s[i] != ',' && s[i] != ':' {
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i+1:])
		if size > 0 && !unicode.IsDigit(r) {
			w.replace(i, i+1, " "+s[i:i+1]+" ")
			i += size
		}
	}
	return w.String()
}

// lastApostrophes splits off an apostrophe at the end of a word.
func lastApostrophes(s string) string {
	w := rewriter{s: s}
	from := 0 // The character before and the space after are both part of a match.
	for i := 1; i+1 < len(s); i++ {
		if s[i] == '\'' && s[i+1] == ' ' && s[i-1] != '\'' && i > from {
			w.replace(i, i, " ")
			from = i + 2
		}
	}
	return w.String()
}

// beforeApostrophe puts a space before an apostrophe that is followed by one of the endings
// and a space, and before n't.
func beforeApostrophe(s string, endings ...string) string {
	w := rewriter{s: s}
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			continue
		}
		for _, end := range endings {
			at := i
			if end == "t" && s[i-1] == 'n' || end == "T" && s[i-1] == 'N' {
				at-- // The n belongs to the apostrophe.
			} else if end == "t" || end == "T" {
				continue
			}
			if after, ok := strings.CutPrefix(s[i+1:], end); ok && strings.HasPrefix(after, " ") && at > 0 && s[at-1] != '\'' && s[at-1] != ' ' {
				w.replace(at, at, " ")
				break
			}
		}
	}
	return w.String()
}

// glued are pairs of words that are written as one. Some occur only after a space, not at
// the beginning of any word.
var glued = []struct {
	first, second string
	space         bool // a space precedes
	spaceAfter    bool // white space must follow, not just the end of the word
}{
	{first: "can", second: "not"},
	{first: "d", second: "'ye"},
	{first: "gim", second: "me"},
	{first: "gon", second: "na"},
	{first: "got", second: "ta"},
	{first: "lem", second: "me"},
	{first: "more", second: "'n"},
	{first: "wan", second: "na", spaceAfter: true},
	{first: "'t", second: "is", space: true},
	{first: "'t", second: "was", space: true},
}

// contractions splits words of glued.
func contractions(s string) string {
	for _, g := range glued {
		w := rewriter{s: s}
		for i := range len(s) {
			if s[i] != g.first[0] && s[i] != g.first[0]&^0x20 {
				continue // One byte rules out most positions.
			}
			first := prefixLen(s[i:], g.first)
			if first == 0 || g.space && (i == 0 || s[i-1] != ' ') || !g.space && isWordBefore(s[:i]) {
				continue
			}
			second := prefixLen(s[i+first:], g.second)
			end := i + first + second
			if second == 0 || i < w.from || isWordAt(s[end:]) || g.spaceAfter && spaces(s[end:]) == 0 {
				continue
			}
			w.replace(i, end, " "+s[i:i+first]+" "+s[i+first:end]+" ")
		}
		s = w.String()
	}
	return s
}

// prefixLen returns the number of bytes of s that match the prefix, ignoring case like
// Python's re.IGNORECASE, or 0 if s does not begin with it.
func prefixLen(s, prefix string) int {
	n := 0
	for i := range len(prefix) {
		r, size := utf8.DecodeRuneInString(s[n:])
		switch r {
		case 'ı':
			r = 'i'
		case 'ſ':
			r = 's'
		}
		if unicode.ToLower(r) != rune(prefix[i]) {
			return 0
		}
		n += size
	}
	return n
}
