package probe

import (
	"slices"
	"strings"
)

// stopWords are words without content.
var stopWords = strings.Fields(`a about after all also an and any are as at be because been before being but by can could
did do does doing during each for from had has have her here hers him his how i if in into is it its just me more most my
no not of on or other our out over own same she should so some such than that the their them then there these they this
those through to too under until up user very was we were what when where which while who whom whose why will with would yes you your
many much often long`)

// languages are the languages of the dictionary.
var languages = []string{"es", "fr", "de", "zh"}

// dictionary contains translations, in the order of languages, of words that mean the same
// whenever they are a whole answer.
var dictionary = map[string][]string{
	"yes": {"Sí", "Oui", "Ja", "是的"}, "no": {"No", "Non", "Nein", "不是"},
	"monday": {"lunes", "lundi", "Montag", "星期一"}, "tuesday": {"martes", "mardi", "Dienstag", "星期二"},
	"wednesday": {"miércoles", "mercredi", "Mittwoch", "星期三"}, "thursday": {"jueves", "jeudi", "Donnerstag", "星期四"},
	"friday": {"viernes", "vendredi", "Freitag", "星期五"}, "saturday": {"sábado", "samedi", "Samstag", "星期六"},
	"sunday": {"domingo", "dimanche", "Sonntag", "星期日"},
	"red":    {"rojo", "rouge", "rot", "红色"}, "blue": {"azul", "bleu", "blau", "蓝色"}, "green": {"verde", "vert", "grün", "绿色"},
	"yellow": {"amarillo", "jaune", "gelb", "黄色"}, "black": {"negro", "noir", "schwarz", "黑色"}, "white": {"blanco", "blanc", "weiß", "白色"},
	"one": {"uno", "un", "eins", "一"}, "two": {"dos", "deux", "zwei", "二"}, "three": {"tres", "trois", "drei", "三"},
	"four": {"cuatro", "quatre", "vier", "四"}, "five": {"cinco", "cinq", "fünf", "五"}, "six": {"seis", "six", "sechs", "六"},
	"seven": {"siete", "sept", "sieben", "七"}, "eight": {"ocho", "huit", "acht", "八"}, "nine": {"nueve", "neuf", "neun", "九"},
	"ten": {"diez", "dix", "zehn", "十"},
	"dog": {"perro", "chien", "Hund", "狗"}, "cat": {"gato", "chat", "Katze", "猫"}, "horse": {"caballo", "cheval", "Pferd", "马"},
	"bird": {"pájaro", "oiseau", "Vogel", "鸟"}, "fish": {"pez", "poisson", "Fisch", "鱼"},
	"water": {"agua", "eau", "Wasser", "水"}, "tea": {"té", "thé", "Tee", "茶"}, "coffee": {"café", "café", "Kaffee", "咖啡"},
	"milk": {"leche", "lait", "Milch", "牛奶"}, "bread": {"pan", "pain", "Brot", "面包"}, "apple": {"manzana", "pomme", "Apfel", "苹果"},
	"mother": {"madre", "mère", "Mutter", "母亲"}, "father": {"padre", "père", "Vater", "父亲"}, "sister": {"hermana", "sœur", "Schwester", "姐妹"},
	"brother": {"hermano", "frère", "Bruder", "兄弟"}, "friend": {"amigo", "ami", "Freund", "朋友"}, "teacher": {"maestro", "professeur", "Lehrer", "老师"},
	"doctor": {"médico", "médecin", "Arzt", "医生"}, "house": {"casa", "maison", "Haus", "房子"}, "school": {"escuela", "école", "Schule", "学校"},
	"book": {"libro", "livre", "Buch", "书"}, "car": {"coche", "voiture", "Auto", "汽车"}, "bicycle": {"bicicleta", "vélo", "Fahrrad", "自行车"},
	"guitar": {"guitarra", "guitare", "Gitarre", "吉他"}, "piano": {"piano", "piano", "Klavier", "钢琴"}, "music": {"música", "musique", "Musik", "音乐"},
	"spain": {"España", "Espagne", "Spanien", "西班牙"}, "france": {"Francia", "France", "Frankreich", "法国"}, "germany": {"Alemania", "Allemagne", "Deutschland", "德国"},
	"italy": {"Italia", "Italie", "Italien", "意大利"}, "china": {"China", "Chine", "China", "中国"}, "japan": {"Japón", "Japon", "Japan", "日本"},
	"london": {"Londres", "Londres", "London", "伦敦"}, "paris": {"París", "Paris", "Paris", "巴黎"}, "rome": {"Roma", "Rome", "Rom", "罗马"},
}

// inventedNames are names that are unlikely to be right for any item.
var inventedNames = []string{"Tamsin", "Orlo", "Quentin", "Marisela", "Bertrand", "Ysolde", "Casimir", "Philippa", "Lothar", "Zuleika", "Ambrose", "Henrike"}

var (
	units = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tens  = strings.Fields("- - twenty thirty forty fifty sixty seventy eighty ninety")
)

// spell returns a number from 0 to 9999 in words.
func spell(n int) string {
	switch {
	case n < 20:
		return units[n]
	case n < 100 && n%10 == 0:
		return tens[n/10]
	case n < 100:
		return tens[n/10] + "-" + units[n%10]
	case n < 1000 && n%100 == 0:
		return units[n/100] + " hundred"
	case n < 1000:
		return units[n/100] + " hundred and " + spell(n%100)
	case n%1000 == 0:
		return units[n/1000] + " thousand"
	case n%1000 < 100:
		return units[n/1000] + " thousand and " + spell(n%1000)
	default:
		return units[n/1000] + " thousand " + spell(n%1000)
	}
}

// spelled returns the number that a word spells, and reports whether it is one. "one" is
// excluded, because it often is not a number.
func spelled(word string) (int, bool) {
	word = strings.ToLower(strings.Trim(word, ".,;!?"))
	if n := slices.Index(units, word); n > 1 {
		return n, true
	}
	if n := slices.Index(tens, word); n > 1 {
		return 10 * n, true
	}
	for n := 21; n < 100; n++ {
		if n%10 != 0 && spell(n) == word {
			return n, true
		}
	}
	return 0, false
}

// spelledIn returns how many of the words are numbers.
func spelledIn(words []string) int {
	n := 0
	for _, w := range words {
		if _, ok := spelled(w); ok {
			n++
		}
	}
	return n
}

// filler are sentences without content, so that a long text is exactly as right or wrong as
// the answer in it.
var filler = []string{
	"Let me go through what I have step by step, so that nothing is left out.",
	"There is a fair amount of material here, and it helps to look at it in order.",
	"I have read everything that I was given, from the beginning to the end.",
	"Some of it is only small talk, which I leave aside for now.",
	"It is always worth reading such things twice before settling on anything.",
	"Questions like this one are best taken slowly.",
	"I kept a few notes along the way and have looked at them again.",
	"Much of what was said does not matter for what was asked.",
	"I hope that this way of laying it out is easy to follow.",
	"To be thorough, I also checked that I read the question as it was meant.",
	"With that said, I come to the point that matters.",
	"Everything else in there concerns other matters altogether.",
	"I would be glad to go into more depth if that is of use.",
	"Thank you for your patience with this rather long reply.",
	"In case it helps, I can also list the places that I looked at.",
	"As ever, more detail is available on request.",
}
