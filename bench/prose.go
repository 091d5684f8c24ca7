package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// How the words of prose are spread: each frequent word is in about every second item,
// each rare word in ten, and the rest as in most languages, few words often and most of
// them seldom.
const (
	vocabulary = 20_000
	frequent   = 40
	inTen      = 10
	categories = 40
)

// A proseItem is an item as its line has it.
type proseItem struct {
	ID        string `json:"id"`
	Category  string `json:"category"`
	Question  string `json:"question"`
	Reference string `json:"reference"`
	Response  string `json:"response"`
}

func (it proseItem) String() string {
	text, err := json.Marshal(it)
	if err != nil {
		panic(err) // It is made of texts.
	}
	return string(text)
}

// prose writes n items in words that there are not, once, and returns the file.
func (l *lab) prose(n int) (string, error) {
	return l.file(fmt.Sprintf("prose-%d.jsonl", n), n, func(i int) string { return english(i).String() })
}

// english returns item i: about 400 bytes of response, and a reference that shares half
// of its words.
func english(i int) proseItem {
	r := rand.New(rand.NewPCG(1, uint64(i))) //nolint:gosec // the same items every time
	zipf := rand.NewZipf(r, 1.1, 8, vocabulary-1)
	var words []string
	for range 49 { // The rare word ends the fifth sentence.
		words = append(words, spell(frequent+int(zipf.Uint64()))) //nolint:gosec // it is below the vocabulary
	}
	for k := range frequent {
		if r.IntN(2) == 0 {
			words[r.IntN(len(words))] = frequentWord(k)
		}
	}
	reference := append([]string(nil), words[:len(words)/2]...)
	for range 6 {
		reference[r.IntN(len(reference))] = spell(r.IntN(vocabulary))
	}
	return proseItem{
		ID: itemID(i), Category: category(i), Question: "What did " + spell(r.IntN(vocabulary)) + " say?",
		Reference: sentences(reference), Response: sentences(append(words, rareWord(i/inTen))),
	}
}

func itemID(i int) string { return fmt.Sprintf("item-%d", i) }

func category(i int) string { return fmt.Sprintf("c%d", i%categories) }

// frequentWord returns one of the words that are in about every third item or more.
func frequentWord(k int) string { return spell(k) }

// rareWord returns a word that is in ten items.
func rareWord(k int) string { return "qu" + spell(vocabulary+frequent+k) }

// spell returns a word for a number, another one for each.
func spell(n int) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for n++; n > 0; n /= len(consonants) * len(vowels) {
		k := n % (len(consonants) * len(vowels))
		b.WriteByte(consonants[k/len(vowels)])
		b.WriteByte(vowels[k%len(vowels)])
	}
	b.WriteByte('n')
	return b.String()
}

// sentences puts words into sentences of ten.
func sentences(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i%10 == 0 {
			w = strings.ToUpper(w[:1]) + w[1:]
		}
		b.WriteString(w)
		switch {
		case i == len(words)-1:
			b.WriteByte('.')
		case i%10 == 9:
			b.WriteString(". ")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// short returns item i as people ask in memory benchmarks: a number, a date or a name,
// right in two of three.
func short(i int) proseItem {
	r := rand.New(rand.NewPCG(2, uint64(i))) //nolint:gosec // the same items every time
	months := []string{"January", "March", "June", "October"}
	n, day, name := 2+r.IntN(90), 1+r.IntN(28), spell(r.IntN(vocabulary))
	name = strings.ToUpper(name[:1]) + name[1:]
	wrong := 0
	if i%3 == 2 {
		wrong = 1
	}
	it := proseItem{ID: itemID(i), Category: "short", Question: "How long did " + name + " stay?"}
	switch i % 4 {
	case 0:
		it.Reference, it.Response = fmt.Sprintf("%d days", n), fmt.Sprintf("%s stayed for %d days.", name, n+wrong)
	case 1:
		it.Reference, it.Response = fmt.Sprintf("%d %s 2023", day, months[n%4]), fmt.Sprintf("It was on %s %d, 2023, I think.", months[(n+wrong)%4], day)
	case 2:
		it.Reference, it.Response = "no", fmt.Sprintf("%s did not stay at all.", name)
	default:
		it.Reference, it.Response = name+", "+spell(n)+" and "+spell(n+1), "They were "+spell(n+wrong)+", "+spell(n+1)+" and "+name+"."
	}
	return it
}

// chinese returns item i in characters of Chinese, put together by chance.
func chinese(i int) proseItem {
	const text = "我们昨天在公园里看见一只白色的小狗它跑得很快孩子们都喜欢和它玩后来下雨了大家就回家去吃晚饭妈妈说明天天气会好可以再去学校的老师也会来"
	signs := []rune(text)
	r := rand.New(rand.NewPCG(3, uint64(i))) //nolint:gosec // the same items every time
	var b []rune
	for len(b) < 120 {
		from := r.IntN(len(signs) - 6)
		b = append(b, signs[from:from+2+r.IntN(5)]...)
	}
	return proseItem{
		ID: itemID(i), Category: "chinese", Question: "他们说什么？",
		Reference: string(b[30:90]), Response: string(b),
	}
}
