package extract

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// A mark is looked for in three parts, the word that announces a verdict, what
// stands before it and what stands behind it. One expression for all three would
// be shorter and a hundred times slower on long replies.
var (
	// markNoun matches the words that announce a verdict. Its group holds those
	// that judges also use of the question's own answer.
	markNoun = regexp.MustCompile(`(?i)\b(?:evaluation[ _]result|verdict|label|judge?ment|decision|grade|evaluation|assessment|classification|conclusion|correctness|ruling|choice|rating|score|result|category|(answer|output))\b` +
		`|判断结果|评估结果|评判结果|判断|结论|判定|结果|评判|评估|评价|答案|裁定|标签|標籤|結論|판정|결론|回答`)

	// markLead matches what may stand before the noun: the beginning of a line or
	// clause, dress, and adjectives that leave the verdict the judge's own. Thus
	// "Reference answer:" announces nothing.
	markLead = regexp.MustCompile("(?i)(?:^|[.!?;,:。！？；，：>*#(（\\n])[ \\t>*_#•\"'“`\\d.)(-]*" +
		`(?:(?:so|thus|therefore|hence|and|my|the|our|final|overall|this)[\s,]+)*(?:(?:最终|最后|我的|综合|总体|因此|所以|故)的?)?$`)

	// markMine matches the end of a lead that makes even "the answer" the judge's.
	markMine = regexp.MustCompile(`(?i)\b(?:my|final)\s+$`)

	// markColon and markIs match what may stand between the noun and the verdict.
	markColon = regexp.MustCompile(`^(?i)` + markGap + `(?:` + colons + `)[\s*_:：]*`)
	markIs    = regexp.MustCompile(`^(?i)` + markGap + `(?:` + colons + `|\bis\s*:?|\bwould be\b|\bremains\b|是|为|為)[\s*_:：]*`)
)

const (
	markGap = "[ \\t*_\"'”`]*(?:[(（][^()（）\\n]{0,80}[)）])?[ \\t*_\"'”`]*"
	colons  = `:|：|=|—|–|-+>?|→|⇒`
)

// marks returns the places behind which a verdict is announced.
func marks(text string) []int {
	var out []int
	for _, m := range markNoun.FindAllStringSubmatchIndex(text, -1) {
		lead := tail(text[:m[0]])
		if !markLead.MatchString(lead) {
			continue
		}
		sep := markIs
		if m[2] >= 0 && !markMine.MatchString(lead) {
			sep = markColon
		}
		if s := sep.FindStringIndex(head(text[m[1]:])); s != nil {
			out = append(out, m[1]+s[1])
		}
	}
	return out
}

// window is how much text is looked at around a place. What belongs together in a
// verdict is nearer than that.
const window = 200

// head returns the beginning of s.
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

// tail returns the end of s. A letter stands for what is left out, so that the
// end is not taken for the whole.
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

// findAll is FindAllStringSubmatchIndex for expressions that need a bracket, a
// backslash or a tag, which most texts do not have.
func findAll(re *regexp.Regexp, text string) [][]int {
	if !strings.ContainsAny(text, `\<[`) {
		return nil
	}
	return re.FindAllStringSubmatchIndex(text, -1)
}
