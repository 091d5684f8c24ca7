package judge

import (
	"iter"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// markNouns are the words that announce a verdict. The value is true for words that judges
// also use for the answer to the question.
var markNouns = map[string]bool{
	"verdict": false, "label": false, "judgment": false, "judgement": false, "decision": false, "grade": false,
	"evaluation": false, "assessment": false, "classification": false, "conclusion": false, "correctness": false,
	"ruling": false, "choice": false, "rating": false, "score": false, "result": false, "category": false,
	"answer": true, "output": true,
}

// wideNouns are such words in scripts without spaces. A word comes before its prefixes.
var wideNouns = []string{
	"判断结果", "评估结果", "评判结果", "判断", "结论", "判定", "结果", "评判", "评估", "评价", "答案", "裁定", "标签",
	"標籤", "結論", "판정", "결론", "回答",
}

// wideFirst is the set of the first runes of wideNouns.
var wideFirst = func() map[rune]bool {
	m := map[rune]bool{}
	for _, n := range wideNouns {
		m[firstRune(n)] = true
	}
	return m
}()

// A mark is matched in three parts: the word that announces a verdict, the text before it
// and the text after it. A single expression would be shorter, but a hundred times slower
// on long replies.
var (
	// markLead matches the text before the noun: the beginning of a line or clause,
	// decoration, and adjectives with which the verdict is still the judge's own. Thus
	// "Reference answer:" announces nothing.
	markLead = lazy("(?i)(?:^|[.!?;,:。！？；，：>*#(（\\n])[ \\t>*_#•\"'“`\\d.)(-]*" +
		`(?:(?:so|thus|therefore|hence|and|my|the|our|final|overall|this)[\s,]+)*(?:(?:最终|最后|我的|综合|总体|因此|所以|故)的?)?$`)

	// markMine matches the end of a lead that makes even "the answer" the judge's.
	markMine = lazy(`(?i)\b(?:my|final)\s+$`)

	// markColon and markIs match the text between the noun and the verdict.
	markColon = lazy(`^(?i)` + markGap + `(?:` + colons + `|\bis\s*[:：])[\s*_:：]*`)
	markIs    = lazy(`^(?i)` + markGap + `(?:` + colons + `|\bis\s*:?|\bwould be\b|\bremains\b|是|为|為)[\s*_:：]*`)
)

const (
	markGap = "[ \\t*_\"'”`]*(?:[(（][^()（）\\n]{0,80}[)）])?[ \\t*_\"'”`]*"
	colons  = `:|：|=|—|–|-+>?|→|⇒`
)

// marks yields the positions after which a verdict is announced, in order.
func marks(text string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < len(text); {
			n, noun, shared := nounAt(text, i)
			if noun {
				lead := tail(text[:i])
				if markLead().MatchString(lead) {
					sep := markIs
					if shared && !markMine().MatchString(lead) {
						sep = markColon
					}
					if s := sep().FindStringIndex(head(text[i+n:])); s != nil {
						if !yield(i + n + s[1]) {
							return
						}
					}
				}
			}
			i += n
		}
	}
}

// nounAt returns the length of the word or rune at i, whether it is a noun that announces a
// verdict, and whether judges use it for other answers too.
func nounAt(text string, i int) (n int, noun, shared bool) {
	const longest = len("classification")
	r, n := utf8.DecodeRuneInString(text[i:])
	if r >= utf8.RuneSelf {
		if wideFirst[r] {
			for _, w := range wideNouns {
				if strings.HasPrefix(text[i:], w) {
					return len(w), true, false
				}
			}
		}
		return n, false, false
	}
	for i+n < len(text) && asciiLetter(text[i+n]) && asciiLetter(text[i]) {
		n++
	}
	if n < len("grade") || n > longest || !openLeft(text[:i]) {
		return n, false, false
	}
	word := strings.ToLower(text[i : i+n])
	shared, noun = markNouns[word]
	if rest := text[i+n:]; word == "evaluation" && len(rest) > 7 && strings.EqualFold(rest[1:7], "result") && isJoint(rune(rest[0])) {
		n += 7
	}
	return n, noun && openRight(text[i+n:], word), shared
}

// asciiLetter reports whether c is an ASCII letter.
func asciiLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// window is the number of bytes examined around a position. The parts of a verdict are
// closer together.
const window = 200

// head returns the first window bytes of s.
func head(s string) string {
	if len(s) <= window {
		return s
	}
	end := window
	for !utf8.RuneStart(s[end]) && end > 0 {
		end--
	}
	return s[:end]
}

// tail returns the last window bytes of s. If something is omitted, it is replaced by a
// letter, so that the result is not mistaken for the whole text.
func tail(s string) string {
	if len(s) <= window {
		return s
	}
	start := len(s) - window
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	return "x" + s[start:]
}

// matches yields the results of FindAllStringSubmatchIndex. The expression must not match
// the empty string, and its matches must not depend on the text before the previous match.
func matches(re *regexp.Regexp, text string) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for pos := 0; ; {
			m := re.FindStringSubmatchIndex(text[pos:])
			if m == nil {
				return
			}
			for i := range m {
				if m[i] >= 0 {
					m[i] += pos
				}
			}
			pos = m[1]
			if !yield(m) {
				return
			}
		}
	}
}

// findAll is matches for expressions that need a bracket, a backslash or a tag, which most
// texts do not contain.
func findAll(re *regexp.Regexp, text string) iter.Seq[[]int] {
	if !strings.ContainsAny(text, `\<[`) {
		return func(func([]int) bool) {}
	}
	return matches(re, text)
}

// lazy returns a function that compiles the pattern on first use. Compiling all patterns at
// start took a fifth of the startup time of a command, and most commands read no reply.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
