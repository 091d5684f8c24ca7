package probe

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A dateSpan is a complete date in a text: day, month and year.
type dateSpan struct {
	span
	time.Time
	style dateStyle
}

// A dateStyle is a format of dates.
type dateStyle int

const (
	dayFirst   dateStyle = iota // 7 May 2023
	monthFirst                  // May 7, 2023
	iso                         // 2023-05-07
)

const monthNames = `(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`

// A dateForm is a pattern for dates.
type dateForm struct {
	form             *regexp.Regexp
	style            dateStyle
	day, month, year int // group numbers
}

// The patterns of this package are compiled on first use, because most commands do not need
// them.
var dateForms = sync.OnceValue(func() []dateForm {
	return []dateForm{
		{regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?\s+(` + monthNames + `)\.?,?\s+(\d{4})\b`), dayFirst, 1, 2, 3},
		{regexp.MustCompile(`(?i)\b(` + monthNames + `)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b`), monthFirst, 2, 1, 3},
		{regexp.MustCompile(`\b(\d{4})-(\d{2})-(\d{2})\b`), iso, 3, 2, 1},
		{regexp.MustCompile(`\b(\d{4})/(\d{2})/(\d{2})\b`), iso, 3, 2, 1},
	}
})

// dates returns the dates in a text. 05/07/2023 is not included, because the month is
// ambiguous.
func dates(text string) []dateSpan {
	var found []dateSpan
	for _, f := range dateForms() {
		for _, at := range f.form.FindAllStringSubmatchIndex(text, -1) {
			group := func(i int) string { return text[at[2*i]:at[2*i+1]] }
			day, _ := strconv.Atoi(group(f.day)) // the group matches only digits
			year, _ := strconv.Atoi(group(f.year))
			month := monthOf(strings.ToLower(group(f.month)))
			t := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
			if month == 0 || t.Day() != day || t.Month() != month {
				continue
			}
			found = append(found, dateSpan{span{at[0], at[1]}, t, f.style})
		}
	}
	return found
}

// monthOf returns the month for a name or two digits, or 0.
func monthOf(s string) time.Month {
	if n, err := strconv.Atoi(s); err == nil {
		if n >= 1 && n <= 12 {
			return time.Month(n)
		}
		return 0
	}
	for m := time.January; m <= time.December; m++ {
		long := strings.ToLower(m.String())
		if s == long || s == long[:3] || s == "sept" && m == time.September {
			return m
		}
	}
	return 0
}

func (style dateStyle) write(t time.Time) string {
	return t.Format([...]string{dayFirst: "2 January 2006", monthFirst: "January 2, 2006", iso: "2006-01-02"}[style])
}

// months are the names of the months in the languages that dates are translated to.
var months = map[string][]string{
	"es": {"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
	"fr": {"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"},
	"de": {"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"},
}

// foreignDates are the forms of dates in these languages: day, month and year.
var foreignDates = map[string]string{"es": "%d de %s de %d", "fr": "%d %s %d", "de": "%d. %s %d"}

// foreignDate returns a date in another language.
func foreignDate(t time.Time, language string) string {
	if form, ok := foreignDates[language]; ok {
		return fmt.Sprintf(form, t.Day(), months[language][t.Month()-1], t.Year())
	}
	return fmt.Sprintf("%d年%d月%d日", t.Year(), int(t.Month()), t.Day())
}
