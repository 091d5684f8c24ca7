package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// zhPunct is the Chinese punctuation that LongBench drops in addition to ASCII punctuation.
// It contains 》 but not 《, and none of 〈〉·￥; a port must have the same gaps.
const zhPunct = "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣､、〃》「」『』【】" +
	"〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏"

// LongBenchZh normalizes s as LongBench and InfiniteBench do to compare Chinese answers: in
// lower case, without punctuation and white space.
func LongBenchZh(s string) string {
	s = Lower(s)
	var b strings.Builder
	b.Grow(len(s))
	from := 0
	for i, r := range s {
		if IsPunct(r) || IsSpace(r) || strings.ContainsRune(zhPunct, r) {
			b.WriteString(s[from:i]) // with bytes that are not UTF-8
			from = i + utf8.RuneLen(r)
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

// SQuAD normalizes s as the scoring program of SQuAD v1.1 does: in lower case, without
// ASCII punctuation, without the words a, an and the, and with single spaces. Punctuation
// is removed before articles, so "a-b" becomes "ab".
func SQuAD(s string) string { return strings.Join(SQuADWords(s), " ") }

// SQuADWords returns the words of [SQuAD].
func SQuADWords(s string) []string {
	return Split(blankWords(dropPunct(Lower(s)), IsWord, isArticle))
}

func isArticle(w string) bool { return w == "a" || w == "an" || w == "the" }

// dropPunct deletes ASCII punctuation. It works on bytes, which is safe because multi-byte
// characters contain no ASCII bytes.
func dropPunct(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if !IsPunct(rune(s[i])) {
			b = append(b, s[i])
		}
	}
	return string(b)
}

// blankWords replaces each run of word characters that drop selects by a space, like re.sub
// with \b(...)\b. A match begins and ends at a word boundary, so it is always a whole run.
func blankWords(s string, isWord func(rune) bool, drop func(string) bool) string {
	var b strings.Builder
	b.Grow(len(s))
	run, inRun := 0, false // the current run of word characters
	end := func(i int) {
		if inRun && drop(s[run:i]) {
			b.WriteByte(' ')
		} else {
			b.WriteString(s[run:i])
		}
	}
	for i, r := range s {
		if word := isWord(r); word != inRun {
			end(i)
			run, inRun = i, word
		}
	}
	end(len(s))
	return b.String()
}

// ROUGEWords returns the words of s as defined by rouge_score 0.1.2: runs of a to z and 0
// to 9 in the lower-cased text. Text in other scripts is dropped, and "café" becomes "caf".
// With stem, words of more than three letters are stemmed.
func ROUGEWords(s string, stem bool) []string {
	words := strings.FieldsFunc(Lower(s), func(r rune) bool { return (r < 'a' || r > 'z') && !isDigit(r) })
	for i, w := range words {
		if stem && len(w) > 3 {
			words[i] = Stem(w)
		}
	}
	return words
}
