package judge

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// refusals matches the beginning of a text that declines. Each alternative needs both the
// speaker and the refusal, so that "Sorry, the response is wrong" and "I cannot find the
// date in the response" are judgments and not refusals.
var refusals = lazy(`(?is)^\s*(?:` + strings.Join([]string{
	`(?:(?:i['’]?m|i am|we['’]?re|we are)\s+(?:very |so |really |deeply )?sorry|sorry|apologies|my apologies|i apologi[sz]e|unfortunately)[\s,.!—–-]+(?:but\s+)?(?:as an? (?:ai|large language|language)[^.]{0,40},\s*)?` + declines,
	`as an? (?:ai|large language|language)\b[^.]{0,60}?,?\s*` + declines,
	declines,
	`(?:非常|很|十分)?(?:抱歉|对不起|不好意思)[，,。！\s]*(?:但)?(?:作为[^，,。]{0,20}[，,])?(?:我|本人)?(?:无法|不能|不可以|没法|不便|难以)(?:回答|协助|帮助|提供|评估|评价|判断|评判|完成|处理|满足|参与|给出|继续|对)`,
	`作为(?:一个|一名|一款)?[^，,。]{0,20}(?:AI|人工智能|语言模型|助手)[^，,。]{0,20}[，,]?\s*我(?:无法|不能|没法)`,
	`我(?:无法|不能)(?:协助|帮助您|帮助你|回答这个|回答该|满足|参与|对此)`,
	`申し訳(?:ありません|ございません)(?:が|。|、)[^。]{0,60}(?:できません|お答えできません|いたしかねます|対応できません)`,
	`죄송(?:합니다|하지만)[^\n]{0,60}(?:수 없습니다|없어요|어렵습니다)`,
	`lo siento[,.]?\s+(?:pero\s+)?no puedo`,
	`(?:je suis |)d[ée]sol[ée]e?[,.]?\s+(?:mais\s+)?je ne (?:peux|suis) pas`,
	`(?:es )?tut mir leid[,.]?\s+(?:aber\s+)?(?:ich kann|dabei kann ich|das kann ich)\b[^.]{0,60}\b(?:nicht|keine?n?)\b`,
	`(?:desculpe|sinto muito|lamento)[,.]?\s+(?:mas\s+)?n[ãa]o posso`,
	`mi dispiace[,.]?\s+(?:ma\s+)?non posso`,
	`(?:извините|простите|к сожалению)[,.]?\s+(?:но\s+)?я не могу`,
}, "|") + `)`)

// declines matches a first person who declines a judge's task.
const declines = `(?:i|we)\s+(?:can['’]?t|can\s?not|could not|couldn['’]t|won['’]t|will not|must decline|have to decline|(?:am|['’]m|are)\s+(?:not able|unable|not allowed|not permitted)|['’]m unable)` +
	`(?:\s+to)?(?:\s+(?:further|directly|really|currently|ethically|in good conscience))?` +
	`(?:\s+(?:assist|help|comply|provide|evaluate|judge|grade|rate|assess|answer|engage|fulfill|fulfil|participate|process|do (?:that|this)|complete|continue|discuss|respond|offer|generate|give|perform|make)\b|\s*[.,!]|\s*$)` +
	`|i['’]m\s+(?:unable|not able)\s+to\s+(?:assist|help|comply|provide|evaluate|judge|grade|rate|assess|answer|engage|fulfill|process|complete|discuss|respond|perform|make)\b`

// refusalAfter matches sentences that are refusals even in the middle of a short text.
var refusalAfter = lazy(`(?i)\b(?:i (?:can['’]?t|cannot) (?:assist|help) with (?:that|this)|against my (?:guidelines|policy|programming)|violates? (?:my|our|the) (?:content |usage |safety )?(?:policy|policies|guidelines))\b`)

// isRefusal reports whether text, which contains no verdict, declines to judge. It is
// conservative: the text must begin by declining, or be short and contain a fixed phrase. A
// judge that describes a response which refused is not refusing.
func isRefusal(text string) bool {
	const short = 300
	clean := strings.TrimLeft(text, " \t\r\n*_#>`\"'“")
	if refusals().MatchString(head(clean)) {
		return true
	}
	return len(clean) <= short && refusalAfter().MatchString(clean) && !quotesSpeech().MatchString(clean)
}

// quotesSpeech matches signs that a text is about someone else's words.
var quotesSpeech = lazy(`(?i)["“”「]|\b(?:response|candidate|assistant|model|system|answer)\b[^.]{0,40}\b(?:says?|said|states?|stated|claims?|replied|refus|declin)`)

// head returns the beginning of s, in which a refusal is looked for.
func head(s string) string {
	const window = 200
	end := min(window, len(s))
	for end < len(s) && end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// lazy returns a function that compiles a pattern when it is first called, so that a
// program which reads no reply does not wait for it.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
