package probe

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

func makeReference(s subject) (response string, ok bool) { return s.ref, true }

func makeReordered(s subject) (response string, ok bool) {
	list := slices.Clone(parts(s.ref))
	if list == nil {
		return "", false
	}
	// Rotating the list by at least one place always changes it.
	turn := 1 + s.number(len(list)-1)
	return enumerate(append(list[turn:], list[:turn]...), s.ref), true
}

func makeNumberWords(s subject) (response string, ok bool) {
	if ns := numbers(s.ref); len(ns) == 1 && !s.unanswerable() {
		n, err := strconv.Atoi(ns[0].digits)
		symbol := strings.ContainsAny(s.ref, "$€£¥%°") // "$three" is not English
		if err == nil && n < 10000 && !isYear(ns[0]) && !symbol {
			return ns[0].replace(s.ref, spell(n)), true
		}
		return "", false
	}
	words := strings.Fields(s.ref)
	at, said := -1, 0
	for i, w := range words {
		if n, ok := spelled(w); ok {
			if at >= 0 {
				return "", false
			}
			at, said = i, n
		}
	}
	if at < 0 || len(numbers(s.ref)) > 0 {
		return "", false
	}
	words[at] = strconv.Itoa(said) + punctuation(words[at])
	return strings.Join(words, " "), true
}

func makeDateFormat(s subject) (response string, ok bool) {
	ds := dates(s.ref)
	if len(ds) != 1 {
		return "", false
	}
	style := (ds[0].style + 1 + dateStyle(s.number(2))) % 3
	return ds[0].replace(s.ref, style.write(ds[0].Time)), true
}

func makeCasing(s subject) (response string, ok bool) {
	forms := []string{strings.ToUpper(s.ref), strings.ToLower(s.ref)}
	first := s.number(2)
	for i := range forms {
		if form := forms[(first+i)%2]; form != s.ref {
			return form, true
		}
	}
	return "", false
}

func makePolite(s subject) (response string, ok bool) {
	forms := []string{
		"Thank you for asking! The answer is: %s. Please let me know if I can help with anything else.",
		"Of course, happy to help. %s. Have a lovely day!",
		"Good question! As far as our conversations go: %s. I hope that helps.",
	}
	return fmt.Sprintf(forms[s.number(len(forms))], bare(s.ref)), true
}

// makeDetail adds a detail that follows from the answer alone, so that it is certainly
// right.
func makeDetail(s subject) (response string, ok bool) {
	if ds := dates(s.ref); len(ds) == 1 && strings.TrimSpace(ds[0].replace(s.ref, "")) == "" {
		return fmt.Sprintf("%s, which was a %s.", bare(s.ref), ds[0].Weekday()), true
	}
	if ns := numbers(s.ref); s.shape == number && len(ns) == 1 && !isYear(ns[0]) {
		if n, err := strconv.Atoi(ns[0].digits); err == nil {
			parity := []string{"even", "odd"}[n%2]
			return fmt.Sprintf("%s. The number %s is %s.", bare(s.ref), ns[0].digits, parity), true
		}
	}
	if list := parts(s.ref); list != nil && len(list) < 20 {
		return fmt.Sprintf("%s, which makes %s in all.", bare(s.ref), spell(len(list))), true
	}
	if q := strings.TrimSpace(s.it.Question); q != "" && !s.unanswerable() {
		return fmt.Sprintf("You asked: %q The answer to that is %s.", q, bare(s.ref)), true
	}
	return "", false
}

func makeBuried(s subject) (response string, ok bool) { return s.bury(s.ref), true }

// bury puts an answer into the middle of a text without content. The text depends on the
// item and not on the kind, so that the right and the wrong answer get the same text.
func (s subject) bury(answer string) string {
	r := chance(s.seed, s.it.ID, "filler")
	order := r.Perm(len(filler))
	lines := make([]string, 0, len(filler)+1)
	for i, at := range order {
		if i == len(order)/2 {
			lines = append(lines, "The answer is "+bare(answer)+".")
		}
		lines = append(lines, filler[at])
	}
	return strings.Join(lines, " ")
}

// makeCorrection states a wrong answer first and then corrects it: the last statement
// counts.
func makeCorrection(s subject) (response string, ok bool) {
	wrong, ok := makeWrong(s)
	if !ok {
		return "", false
	}
	return fmt.Sprintf("%s. Actually no, %s.", bare(wrong), bare(s.ref)), true
}

func makeFormat(s subject) (response string, ok bool) {
	answer := bare(s.ref)
	quoted, err := json.Marshal(answer)
	if err != nil || strings.ContainsAny(answer, "|`\n") {
		return "", false
	}
	return []string{
		"| answer |\n|---|\n| " + answer + " |",
		"Answer:\n\n- " + answer,
		"```\n" + answer + "\n```",
		`{"answer": ` + string(quoted) + `}`,
	}[s.number(4)], true
}

// makePreamble puts the answer after a text without content.
func makePreamble(s subject) (response string, ok bool) {
	lines := make([]string, 0, len(filler)+1)
	for _, at := range chance(s.seed, s.it.ID, "preamble").Perm(len(filler)) {
		lines = append(lines, filler[at])
	}
	return strings.Join(append(lines, "So the answer is "+bare(s.ref)+"."), " "), true
}

func makeLanguage(s subject) (response string, ok bool) {
	forms := []string{"La respuesta es: %s.", "La réponse est : %s.", "Die Antwort lautet: %s.", "答案是：%s。", "A resposta é: %s."}
	return fmt.Sprintf(forms[s.number(len(forms))], bare(s.ref)), true
}

func makeTranslated(s subject) (response string, ok bool) {
	if ds := dates(s.ref); len(ds) == 1 && strings.TrimSpace(ds[0].replace(s.ref, "")) == "" {
		return foreignDate(ds[0].Time, languages[s.number(len(languages))]), true
	}
	w := plain(s.ref)
	for _, article := range []string{"a ", "an ", "the "} {
		w = strings.TrimPrefix(w, article)
	}
	known := map[string]string{} // by language
	for i, t := range dictionary[w] {
		if !strings.EqualFold(t, s.ref) {
			known[languages[i]] = t
		}
	}
	if len(known) == 0 {
		return "", false
	}
	in := slices.Sorted(maps.Keys(known))
	return known[in[s.number(len(in))]], true
}

// same reports whether two answers are the same date or the same number in any notation.
func same(a, b string) bool {
	if x, y := dates(a), dates(b); len(x) == 1 && len(y) == 1 {
		return x[0].Equal(y[0].Time)
	}
	x, okX := value(a)
	y, okY := value(b)
	return okX && okY && math.Abs(x-y) < 1e-9
}

// value returns the number in an answer, if there is exactly one.
func value(s string) (float64, bool) {
	if ns := numbers(s); len(ns) == 1 && len(dates(s)) == 0 {
		v, err := strconv.ParseFloat(ns[0].digits, 64)
		return v, err == nil
	}
	for _, w := range strings.Fields(s) {
		if n, ok := spelled(w); ok {
			return float64(n), true
		}
	}
	return 0, false
}
