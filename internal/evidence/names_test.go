package evidence

import (
	"strings"
	"testing"
)

// folded returns the words of a text after names have been made one.
func folded(text string) string {
	var words []string
	for _, t := range joinSplitNumbers(oneName(tokenize(text))) {
		words = append(words, t.text)
	}
	return strings.Join(words, " ")
}

func TestOneName(t *testing.T) {
	for in, want := range map[string]string{
		// names.txt
		"the USA":                 "the united states",
		"tell us":                 "tell us",
		"Made in America.":        "made in united states",
		"Bank of America":         "bank of united states",
		"South America":           "south america",
		"Holland":                 "netherlands",
		"Tom Holland":             "tom holland",
		"TX":                      "texas",
		"Austin, TX":              "austin texas",
		"OK, it is OK":            "ok it is ok",
		"München":                 "munich",
		"北京":                      "beijing",
		"他住在北京":                   "他 住 在 beijing",
		"JFK":                     "john f kennedy",
		"John Fitzgerald Kennedy": "john f kennedy",
		"Union européenne":        "european union",
		"auf Deutsch":             "auf german",
		// calendar.txt
		"Mittwoch": "wednesday", "mercredi": "wednesday", "周三": "wednesday", "3. Oktober": "3 october", "août": "august",
		// numbers.txt
		"einundzwanzig": "21", "quatre-vingt-dix-sept": "97", "treinta y cinco": "35", "ventotto": "28", "oitenta e um": "81",
		"vijfenzestig": "65", "dreihundert": "300", "once upon a time": "once upon a time", "an elf": "an elf",
		// a comma that is a point
		"2,5 Kilometer": "2.5 kilometer", "1,2,3 km": "1 2 3 km", "2,5 apples": "2 5 apples",
	} {
		if got := folded(in); got != want {
			t.Errorf("%q is read as %q, want %q", in, got, want)
		}
	}
}

// Each table can be read, no name stands for two things, and none stands for itself.
func TestTables(t *testing.T) {
	for _, file := range []string{"names", "calendar", "numbers"} {
		meaning := map[string]string{}
		for line := range tableLines(file) {
			list := strings.Split(line, " = ")
			if len(list) < 2 {
				t.Errorf("%s: %q has one name", file, line)
			}
			for _, name := range list {
				name = strings.TrimSpace(name)
				if other, ok := meaning[name]; ok {
					t.Errorf("%s: %q is %q and %q", file, name, other, list[0])
				}
				meaning[name] = list[0]
				if len(tokenize(strings.TrimLeft(name, "^"))) == 0 {
					t.Errorf("%s: %q has no words", file, line)
				}
			}
		}
		if len(meaning) < 100 {
			t.Errorf("%s has %d names", file, len(meaning))
		}
	}
}

func TestLanguage(t *testing.T) {
	for in, want := range map[string]string{
		"the blue house": "English", "das blaue Haus": "German", "la maison est dans une rue": "French",
		"el coche es de una amiga y está en casa": "Spanish", "蓝色的房子": "Chinese or Japanese", "il gatto è sul tavolo per una notte": "Italian",
		"Los Angeles": "", "Louis de Broglie": "", "42": "", "": "", "O": "",
	} {
		if got := read(in).language(); got != want {
			t.Errorf("%q is in %q, want %q", in, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	for in, want := range map[string]struct {
		minutes float64
		weak    bool
	}{
		"15:30": {930, false}, "3:30": {210, true}, "3.30 pm": {930, false}, "3:30 p.m.": {930, false}, "half past three": {210, true},
		"half past three in the afternoon": {930, false}, "quarter to nine": {525, true}, "quarter past eight in the evening": {1215, false},
		"12 am": {0, false}, "12 pm": {720, false}, "noon": {720, false}, "five o'clock": {300, true}, "15h30": {930, false},
		"15 Uhr": {900, false}, "15 Uhr 30": {930, false}, "halb vier": {210, true}, "halb vier nachmittags": {930, false},
		"下午三点半": {930, false}, "三点": {180, true}, "晚上8点20分": {1220, false}, "凌晨三点半": {210, false},
	} {
		toks := joinSplitNumbers(oneName(tokenize(in)))
		q, ok := readClock(toks, 0)
		if !ok || q.value != want.minutes || q.weak != want.weak || q.to != len(toks) {
			t.Errorf("%q is %v minutes, weak %t, %d of %d words, want %v and %t", in, q.value, q.weak, q.to, len(toks), want.minutes, want.weak)
		}
	}
	for _, in := range []string{"3.30", "5", "three", "三点建议", "half of it", "quarter", "25:10", "2020"} {
		if q, ok := readClock(tokenize(in), 0); ok {
			t.Errorf("%q is %v minutes, want not a time", in, q.value)
		}
	}
}

func TestRelateYears(t *testing.T) {
	for _, tt := range []struct {
		response, reference string
		want                relation
	}{
		{"1995", "the 1990s", agrees},
		{"the 1850s", "the 19th century", agrees},
		{"the 19th century", "1850", coarser},
		{"1923", "the 19th century", conflict},
		{"19世纪", "the 1800s", agrees},
		{"3.10.1990", "3 October 1990", agrees},
		{"Sept. '20", "September 2020", agrees},
	} {
		got, want := read(tt.response).dates, read(tt.reference).dates
		if len(got) != 1 || len(want) != 1 || relate(got[0], want[0]) != tt.want {
			t.Errorf("%q to %q: dates %v and %v, want relation %d", tt.response, tt.reference, got, want, tt.want)
		}
	}
}
