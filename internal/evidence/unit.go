package evidence

import "math"

// A dimension is what a unit measures. Quantities of different dimensions are
// never equal.
type dimension uint8

const (
	noDimension dimension = iota
	duration
	length
	mass
	volume
	temperature
	speed
	area
	dollars
	euros
	sterling
	yen
	yuan
	rupees
	percent
	counts // times, items
	clock  // a time of day, in minutes
)

// A unit is how much one of it is in the base unit of its dimension.
type unit struct {
	dim    dimension
	scale  float64
	offset float64 // added after scaling; only temperatures have one

	// calendar marks months and years, whose length in days is only a mean.
	calendar bool

	// also is a second reading: a pound is money and mass.
	also dimension
}

func (u unit) factor() float64 {
	if u.dim == noDimension {
		return 1
	}
	return u.scale
}

const (
	day   = 86400
	month = year / 12
	year  = 365.2425 * day
)

// unitNames maps every spelling of a unit, folded, to the unit.
var unitNames = names(map[string]unit{
	"second seconds sec secs s 秒 sekunde sekunden seconde secondes segundo segundos secondi":            {dim: duration, scale: 1},
	"minute minutes min mins 分钟 minuten minuto minutos minuti minuut":                                   {dim: duration, scale: 60},
	"hour hours hr hrs h 小时 个小时 钟头 stunde stunden heure heures hora horas ora ore uur uren":             {dim: duration, scale: 3600},
	"day days 天 日 tag tage tagen jour jours dia dias giorno giorni dag dagen":                           {dim: duration, scale: day},
	"week weeks wk wks 周 星期 个星期 woche wochen semaine semaines semana semanas settimana settimane weken": {dim: duration, scale: 7 * day},
	"fortnight fortnights": {dim: duration, scale: 14 * day},
	"month months 个月 月 monat monate monaten mois mes meses mese mesi maand maanden": {dim: duration, scale: month, calendar: true},
	"year years yr yrs 年 岁 jahr jahre jahren ans annees ano anos anni jaar":         {dim: duration, scale: year, calendar: true},
	"decade decades":    {dim: duration, scale: 10 * year, calendar: true},
	"century centuries": {dim: duration, scale: 100 * year, calendar: true},
	"millimeter millimeters millimetre millimetres mm":                                       {dim: length, scale: .001},
	"centimeter centimeters centimetre centimetres cm 厘米":                                    {dim: length, scale: .01},
	"meter meters metre metres m 米 metern metros metri":                                      {dim: length, scale: 1},
	"kilometer kilometers kilometre kilometres km kms 公里 千米 kilometern kilometros kilometri": {dim: length, scale: 1000}, //nolint:misspell // Spanish
	"mile miles mi 英里":                                  {dim: length, scale: 1609.344},
	"yard yards yd yds":                                 {dim: length, scale: .9144},
	"foot feet ft 英尺":                                   {dim: length, scale: .3048},
	"inch inches 英寸":                                    {dim: length, scale: .0254},
	"milligram milligrams mg":                           {dim: mass, scale: 1e-6},
	"gram grams gramme grammes g 克 gramm gramos grammi": {dim: mass, scale: .001},
	"kilogram kilograms kilo kilos kg kgs 公斤 千克 kilogramm kilogrammes kilogramos": {dim: mass, scale: 1},
	"jin 斤":                   {dim: mass, scale: .5},
	"ton tons tonne tonnes 吨": {dim: mass, scale: 1000},
	"ounce ounces oz":         {dim: mass, scale: .028349523125},
	"lb lbs":                  {dim: mass, scale: .45359237},
	"pound pounds 磅":          {dim: mass, scale: .45359237, also: sterling},
	"milliliter milliliters millilitre millilitres ml 毫升": {dim: volume, scale: .001},
	"liter liters litre litres l 升 litros litri":          {dim: volume, scale: 1},
	"gallon gallons gal": {dim: volume, scale: 3.785411784},
	"degree degrees °c celsius centigrade c 度 摄氏度": {dim: temperature, scale: 1},
	"°f fahrenheit f":                    {dim: temperature, scale: 5. / 9, offset: -160. / 9},
	"km/h kmh kph":                       {dim: speed, scale: 1 / 3.6},
	"mph":                                {dim: speed, scale: .44704},
	"m/s":                                {dim: speed, scale: 1},
	"acre acres":                         {dim: area, scale: 4046.8564224},
	"hectare hectares ha":                {dim: area, scale: 1e4},
	"$ dollar dollars usd buck bucks 美元": {dim: dollars, scale: 1},
	"cent cents":                         {dim: dollars, scale: .01},
	"€ euro euros eur 欧元":                {dim: euros, scale: 1},
	"£ gbp quid 英镑":                      {dim: sterling, scale: 1},
	"¥ yen jpy 日元":                       {dim: yen, scale: 1, also: yuan},
	"yuan rmb cny 元 块 人民币":               {dim: yuan, scale: 1},
	"₹ rupee rupees inr":                 {dim: rupees, scale: 1},
	"% percent percentage pct prozent":   {dim: percent, scale: 1},
	"times time 次":                       {dim: counts, scale: 1},
})

func names(units map[string]unit) map[string]unit {
	m := map[string]unit{}
	for spellings, u := range units {
		for name := range set(spellings) {
			m[name] = u
		}
	}
	return m
}

// gluedUnits are letters that are a unit only directly after digits, where "s" and "c"
// stand for nothing else. The spaced ones may also follow a space if nothing goes on.
var (
	gluedUnits  = set("s h m g l c f")
	spacedUnits = set("h m g l")
)

// readUnit reads the unit that begins at token i, and returns the token after it.
func readUnit(toks []token, i int) (unit, int) {
	if i > 0 {
		switch post := toks[i-1].post; post {
		case '%', '％':
			return unitNames["%"], i
		case '°':
			return readDegrees(toks, i)
		case '$', '€', '£', '¥':
			if i >= len(toks) || toks[i].pre != post {
				return unitNames[string(post)], i
			}
		}
	}
	if i >= len(toks) || toks[i].brk > none {
		return unit{}, i
	}
	if toks[i].kind == han {
		return readHanUnit(toks, i)
	}
	name := toks[i].text
	if gluedUnits[name] && !glued(toks[i]) && (!spacedUnits[name] || toks[i].upper || toks[i-1].kind != number) {
		return unit{}, i
	}
	if i+1 < len(toks) && toks[i+1].pre == '/' && !toks[i+1].gap {
		if u, ok := unitNames[name+"/"+toks[i+1].text]; ok {
			return u, i + 2
		}
	}
	if name == "per" && at(toks, i+1, "cent") {
		return unitNames["%"], i + 2
	}
	if name == "degrees" || name == "degree" {
		return readDegrees(toks, i+1)
	}
	u, ok := unitNames[name]
	if !ok {
		return unit{}, i
	}
	i++
	if u.dim == length && (at(toks, i, "per") || at(toks, i, "an") || at(toks, i, "a")) && i+1 < len(toks) {
		if t := unitNames[toks[i+1].text]; t.dim == duration { // miles per hour
			return unit{dim: speed, scale: u.scale / t.scale}, i + 2
		}
	}
	return u, i
}

func readDegrees(toks []token, i int) (unit, int) {
	if i < len(toks) && toks[i].brk == none {
		if u, ok := unitNames[toks[i].text]; ok && u.dim == temperature {
			return u, i + 1
		}
	}
	return unitNames["celsius"], i
}

// readHanUnit reads a unit of one to three characters, the longest first. A
// measure word as 个 may go before 月.
func readHanUnit(toks []token, i int) (unit, int) {
	name := ""
	best, end := unit{}, i
	for j := i; j < len(toks) && j < i+3 && toks[j].kind == han && toks[j].brk == none; j++ {
		name += toks[j].text
		if u, ok := unitNames[name]; ok {
			best, end = u, j+1
		}
	}
	return best, end
}

// same reports whether two quantities have the same size. Quantities in the same
// unit must be equal; between units rounding is forgiven: half of the last digit
// of either, and for months against days the difference between months.
func same(a, b quantity) bool {
	if a.ordinal != b.ordinal && a.unit.dim != noDimension {
		return false
	}
	if !commensurable(a, b) {
		return false
	}
	if a.unit.dim == clock && (a.weak || b.weak) {
		return math.Mod(a.value, 720) == math.Mod(b.value, 720)
	}
	if (a.unit.dim == percent) != (b.unit.dim == percent) {
		share, part := a, b
		if b.unit.dim == percent {
			share, part = b, a
		}
		if part.value > 0 && part.value < 1 && near(100*part.value, share.value, .005) {
			return true // 0.25 is 25%, and a third is 33.3%
		}
	}
	// Quantities of two dimensions got here as the two readings of one word, as
	// five pounds and £5.
	if a.unit.dim != b.unit.dim || a.unit.dim == noDimension || a.unit.scale == b.unit.scale && a.unit.offset == b.unit.offset {
		return near(a.value, b.value, 1e-9)
	}
	x, y := a.base(), b.base()
	if near(x, y, 1e-9) {
		return true
	}
	if a.unit.dim == duration {
		return a.unit.calendar != b.unit.calendar && near(x, y, .02)
	}
	slack := max(a.step*a.unit.scale, b.step*b.unit.scale) / 2
	return math.Abs(x-y) <= slack*1.0001 && near(x, y, .02) || near(x, y, .01)
}

// commensurable reports whether two quantities may measure the same. A bare number
// may measure anything.
func commensurable(a, b quantity) bool {
	x, y := a.unit.dim, b.unit.dim
	if x == clock || y == clock {
		return x == y
	}
	return x == y || x == noDimension || y == noDimension || a.unit.also == y && y != noDimension || b.unit.also == x && x != noDimension
}

func near(x, y, rel float64) bool {
	return math.Abs(x-y) <= rel*max(math.Abs(x), math.Abs(y))
}
