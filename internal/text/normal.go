package text

import (
	"strings"
	"unicode"
)

// zhPunct is the Chinese punctuation that LongBench drops in addition to ASCII punctuation.
// It contains 》 but not 《, and none of 〈〉·￥; a port must have the same gaps.
const zhPunct = "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣､、〃》「」『』【】" +
	"〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏"

var zhPuncts = runeSet(zhPunct)

func runeSet(s string) map[rune]bool {
	set := make(map[rune]bool, len(s)/3)
	for _, r := range s {
		set[r] = true
	}
	return set
}

// LongBenchZh normalizes s as LongBench and InfiniteBench do to compare Chinese answers: in
// lower case, without punctuation and white space.
func LongBenchZh(s string) string {
	return dropFunc(Lower(s), func(r rune) bool {
		return IsPunct(r) || IsSpace(r) || zhPuncts[r]
	})
}

// dropFunc deletes the characters of s for which drop returns true, and keeps bytes that
// are not UTF-8.
func dropFunc(s string, drop func(rune) bool) string {
	var b strings.Builder
	b.Grow(len(s))
	from := 0
	for i, r := range s {
		if drop(r) {
			b.WriteString(s[from:i])
			from = i + len(string(r))
		}
	}
	b.WriteString(s[from:])
	return b.String()
}

// LoCoMoWords returns the words of [LoCoMo].
func LoCoMoWords(s string) []string {
	return Split(blankWords(dropPunct(Lower(strings.ReplaceAll(s, ",", ""))), isRegexWord, isLoCoMoArticle))
}

func isLoCoMoArticle(w string) bool {
	return w == "a" || w == "an" || w == "the" || w == "and"
}

// isRegexWord reports whether \w of the regex module matches r, which follows Unicode
// Technical Standard 18: letters and other alphabetic characters, marks, decimal digits,
// connectors and joiners. Unlike [IsWord] it excludes other numbers, such as ².
func isRegexWord(r rune) bool {
	if r < 0x80 {
		return IsWord(r)
	}
	return unicode.IsLetter(r) || unicode.In(r, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc,
		unicode.Other_Alphabetic, unicode.Other_Lowercase, unicode.Other_Uppercase, unicode.Join_Control)
}
