package judge

import (
	"unicode"
	"unicode/utf8"

	"deem/internal/text"
)

// firstRune returns the first rune of s, or 0.
func firstRune(s string) rune {
	if s == "" {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// lastRune returns the last rune of s, or 0.
func lastRune(s string) rune {
	if s == "" {
		return 0
	}
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// isWord reports whether r is part of a word: a letter, a combining mark, or a digit.
func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// isLatinWord reports whether r is part of a word in a script with spaces between words.
func isLatinWord(r rune) bool { return isWord(r) && !text.Unspaced(r) }

// isMarkup reports whether r is decoration: markdown, quotes and brackets.
func isMarkup(r rune) bool {
	switch r {
	case '*', '_', '`', '"', '\'', '“', '”', '‘', '’', '«', '»', '「', '」', '『', '』', '【', '】',
		'(', ')', '[', ']', '{', '}', '（', '）', '<', '>', '#', '$', '＂', '\\', '|':
		return true
	}
	return false
}

// isSpace reports whether r is white space or invisible.
func isSpace(r rune) bool {
	return unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' || r == '\u200d' || r == '\ufe0f'
}

// isStop reports whether r ends a clause.
func isStop(r rune) bool {
	switch r {
	case '.', ',', ';', ':', '!', '?', '\n', '\r', '—', '–', '…', '。', '，', '；', '：', '！', '？', '、', '．':
		return true
	}
	return false
}
