package evidence

// readClock reads the time of day that begins at token i: 5:30, 17h30, 5.30 pm, half past
// five, quarter to six, five o'clock, halb sechs, 下午五点半, noon. The value is in minutes.
func readClock(toks []token, i int) (quantity, bool) {
	if toks[i].kind == han {
		return readHanClock(toks, i)
	}
	switch toks[i].text {
	case "noon":
		return clockTime(i, i+1, 12*60), true
	case "midnight":
		return clockTime(i, i+1, 0), true
	}
	before, j := spokenMinutes(toks, i)
	if j >= len(toks) || j == i && toks[i].kind != number && !numberWords[toks[i].text] {
		return quantity{}, false
	}
	hour, minute, to, sure := readHour(toks, j)
	if hour < 0 {
		return quantity{}, false
	}
	q := clockTime(i, to, hour*60+minute+before)
	part, to := dayPart(toks, to)
	switch {
	case part == noPart && !sure && j == i:
		return quantity{}, false
	case part == forenoon && hour == 12:
		q.value -= 12 * 60
	case part == afternoon && hour < 12:
		q.value += 12 * 60
	}
	q.to = to
	q.weak = part == noPart && hour <= 12 // may be morning or evening
	return q, true
}

func clockTime(from, to, minutes int) quantity {
	return quantity{span: span{from, to}, value: float64((minutes + 24*60) % (24 * 60)), unit: unit{dim: clock, scale: 1}}
}

// spokenMinutes reads what goes before the hour, as "half past", in minutes from it, and
// returns the token after.
func spokenMinutes(toks []token, i int) (minutes, to int) {
	next := ""
	if i+1 < len(toks) && toks[i+1].brk == none {
		next = toks[i+1].text
	}
	switch t := toks[i].text; {
	case t == "half" && next == "past":
		return 30, i + 2
	case t == "halb":
		return -30, i + 1
	case (t == "quarter" || t == "viertel") && (next == "past" || next == "after" || next == "nach"):
		return 15, i + 2
	case (t == "quarter" || t == "viertel") && (next == "to" || next == "before" || next == "vor"):
		return -15, i + 2
	}
	return 0, i
}

// readHour reads an hour with its minutes in digits. It is sure that this is a time if the
// minutes are there or a word that says so; hour is -1 for none.
func readHour(toks []token, i int) (hour, minute, to int, sure bool) {
	n, ok := readNumeral(toks, i)
	if !ok || n.ordinal || n.value < 0 || n.value >= 25 {
		return -1, 0, 0, false
	}
	hour, to = int(n.value), i+1
	if toks[i].kind == word {
		to = n.to
	}
	dotted := len(toks[i].text) >= 4 && toks[i].text[len(toks[i].text)-3] == '.'
	switch {
	case toks[i].kind == number && dotted: // 3.30 pm, but 3.30 alone is a number
		minute = int((n.value-float64(hour))*100 + .5)
		if part, _ := dayPart(toks, to); part == noPart && !at(toks, to, "uhr") {
			return -1, 0, 0, false
		}
	case n.value != float64(hour):
		return -1, 0, 0, false
	case minutesAt(toks, to, ':') >= 0:
		minute, sure = minutesAt(toks, to, ':'), true
		to++
	case to < len(toks) && toks[to].text == "h" && minutesAt(toks, to+1, 0) >= 0: // 15h30
		minute, sure = minutesAt(toks, to+1, 0), true
		to += 2
	}
	if minute > 59 {
		return -1, 0, 0, false
	}
	if at(toks, to, "uhr") || at(toks, to, "o'clock") {
		to, sure = to+1, true
		if m := minutesAt(toks, to, 0); m >= 0 && toks[to-1].text == "uhr" && minute == 0 && toks[to].brk == none {
			minute = m
			to++
		}
	}
	return hour, minute, to, sure
}

// minutesAt returns the two digits at token i that follow the mark, or -1. Without a mark
// they may follow a space.
func minutesAt(toks []token, i int, mark rune) int {
	if i >= len(toks) || len(toks[i].text) != 2 || toks[i].pre != mark || mark != 0 && toks[i].gap {
		return -1
	}
	if m := small(toks[i]); m < 60 {
		return m
	}
	return -1
}

// A part is a half of the day.
type part uint8

const (
	noPart part = iota
	forenoon
	afternoon
)

// dayPart reads am, pm, "in the evening" and the like at token i.
func dayPart(toks []token, i int) (p part, to int) {
	if i >= len(toks) || toks[i].brk > comma {
		return noPart, i
	}
	switch t := toks[i]; t.text {
	case "pm", "p.m", "nachmittags", "abends":
		return afternoon, i + 1
	case "a.m", "morgens", "vormittags":
		return forenoon, i + 1
	case "am":
		if t.caps || glued(t) || i+1 == len(toks) || t.post == '.' || i > 0 && toks[i-1].pre == ':' {
			return forenoon, i + 1
		}
	case "in", "at":
		k := i + 1
		if at(toks, k, "the") {
			k++
		}
		switch {
		case at(toks, k, "morning"):
			return forenoon, k + 1
		case at(toks, k, "afternoon"), at(toks, k, "evening"), t.text == "at" && at(toks, k, "night"):
			return afternoon, k + 1
		}
	}
	return noPart, i
}

// hanParts are the halves of the day in Chinese.
var hanParts = map[string]part{
	"凌晨": forenoon, "早上": forenoon, "早晨": forenoon, "上午": forenoon,
	"下午": afternoon, "傍晚": afternoon, "晚上": afternoon, "中午": afternoon,
}

// readHanClock reads 三点, 下午三点半, 晚上8点20分.
func readHanClock(toks []token, i int) (quantity, bool) {
	half, j := noPart, i
	if i+1 < len(toks) {
		if p, ok := hanParts[toks[i].text+toks[i+1].text]; ok {
			half, j = p, i+2
		}
	}
	if j >= len(toks) || toks[j].kind == word {
		return quantity{}, false
	}
	n, ok := readNumeral(toks, j)
	if !ok || n.value < 0 || n.value > 24 || n.value != float64(int(n.value)) || !at(toks, n.to, "点") {
		return quantity{}, false
	}
	to, minute := n.to+1, 0
	switch {
	case at(toks, to, "半"):
		minute, to = 30, to+1
	case at(toks, to, "一") && at(toks, to+1, "刻"):
		minute, to = 15, to+2
	case at(toks, to, "三") && at(toks, to+1, "刻"):
		minute, to = 45, to+2
	case at(toks, to, "钟"):
		to++
	case to < len(toks) && toks[to].brk == none && toks[to].kind != word:
		m, ok := readNumeral(toks, to)
		if !ok || m.value > 59 { // 三点建议 are three points
			return quantity{}, false
		}
		minute, to = int(m.value), m.to
		if at(toks, to, "分") {
			to++
		}
	}
	hour := int(n.value)
	if half == afternoon && hour < 12 {
		hour += 12
	}
	q := clockTime(i, to, hour*60+minute)
	q.weak = half == noPart && hour <= 12
	return q, true
}
