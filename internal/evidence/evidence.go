package evidence

import (
	"math"
	"strings"

	"deem"
)

// The numbers that a [Model] weighs, in the order of [Names]. All of it
// is counted from the two texts and the question; none of it names a system, a
// dataset or a word, so that what was learned on one kind of answer holds for
// another.
const (
	eRule       = iota // what the comparison of values and words came to, from 0 to 1
	eStep              // which comparison that was
	eShare             // its share of the reference
	eAbstains          // the response gives no answer: 2, or hedges: 1
	eRefWords          // words of the reference
	eRefNames          // words of the reference with a capital
	eRefFigure         // the reference has a date: 2, or a number: 1
	eRefGiven          // weight of the reference that the question gives away
	eRespWords         // logarithm of the words of the response
	eRespFirst         // words of its first sentence
	eRecall            // weight of the reference that the response has, the question's words left out
	eRecallAll         // the same with the question's words
	eHeaviest          // weight of the heaviest missing word
	eMissing           // how many words are missing
	eMissNames         // how many of them have a capital
	eMissFigs          // numbers of the reference that the response lacks
	eRun               // longest run of the reference's content in the response, as a share
	eNear              // missing words that the response has in another spelling, as a share
	eTrigrams          // share of the reference's trigrams in the response
	eTrigramsX         // the same for the trigrams that the question does not have
	ePlace             // where the first shared word stands in the response, as a share
	ePrecision         // weight of the response, the question's words left out, that the reference has
	eFirstPrec         // the same for the first sentence that says anything new
	eOtherNames        // names in the response that neither reference nor question has
	eOtherFigs         // numbers in the response that neither reference nor question has
	eNew               // logarithm of the content words that neither has
	eDenials           // negations in the response less those of the reference
	eHedges            // words as might and possibly
	eQuestion          // the kind of question
	eEcho              // weight of the question that the response repeats
	eList              // entries of the reference, if it is a list
	eSpread            // how far apart the shared words stand, in words of the response per word
	eReplaced          // share of the reference that stands opposite to other words
	eOtherDay          // another date or another day of the week than the reference's
	eUnspaced          // share of the response in a script without spaces
	evidences          // how many there are
)

// Names returns the names of the numbers of an [Evidence], in order.
func Names() []string {
	return strings.Fields(`rule step share abstains ref_words ref_names ref_figure ref_given resp_words resp_first
		recall recall_all heaviest_missing missing missing_names missing_figures run near trigrams trigrams_new
		place precision first_precision other_names other_figures new denials hedges
		question echo list spread replaced other_day unspaced`)
}

// Evidence is what an item says for and against its response.
type Evidence struct {
	// Numbers are what the model weighs, in the order of [Names].
	Numbers []float64

	// Least and Most bound the probability. Numbers, dates, units, options and
	// denials are compared by value, and what a model learned about words does not
	// overrule that.
	Least, Most float64

	// Vague and Spared say that the judge may not accept, or may not reject, however
	// likely the model thinks it.
	Vague, Spared bool

	Why string // what the comparison found, in one sentence without a full stop
	Cut bool   // the response is too long to be read whole

	weighing *weighing
}

// New returns the evidence of an item that has a reference. The function weight returns the
// weight of a word; see [Words.Weight].
func New(it deem.Item, weight func(word string) float64) Evidence {
	c := compare(it)
	w := &weighing{comparison: c, finding: c.judge(it.References), weight: weight}
	w.fromRule()
	w.fromReference()
	w.fromRecall()
	w.fromLetters()
	w.fromResponse()
	w.fromPlace()
	w.fromTone()
	w.x[eQuestion] = float64(w.question.asked())
	w.x[eEcho] = w.recallOf(w.question.elems)
	e := Evidence{Numbers: w.x[:], Least: w.least, Most: w.most, Vague: w.vague, Spared: w.spared, Why: w.why, Cut: w.response.cut, weighing: w}
	if e.Most == 0 {
		e.Most = 1
	}
	return e
}

// Reason says in words why the response is accepted or not: what the comparison found and,
// where that alone did not decide, what else had the most weight in m.
func (e Evidence) Reason(accepted bool, m *Model) string { return e.weighing.reason(accepted, m) }

// Probability returns the probability that the response is right, if m weighs the evidence.
func (e Evidence) Probability(m *Model) float64 {
	return e.Sloped(e.Bounded(m.Probability(e.Numbers)), m.Slopes)
}

// Slope returns which of [Slopes] an item has at probability p, -1 for none.
func (e Evidence) Slope(p float64) int {
	side := 0
	if p < .5 {
		side = 1
	}
	switch {
	case e.decided() && e.Numbers[eStep] >= float64(byList):
		return -1
	case e.decided():
		return side
	case e.Numbers[eRefWords] >= 3 && e.Numbers[eRefWords] <= longest && e.Numbers[eUnspaced] < .3:
		return 2 + side
	}
	return -1
}

// Sloped returns a probability with its log-odds multiplied by the slope of the item. It stays
// on the same side of one half.
func (e Evidence) Sloped(p float64, s Slopes) float64 {
	k := e.Slope(p)
	if k < 0 || s[k] == 0 {
		return p
	}
	return 1 / (1 + math.Pow((1-p)/p, s[k]))
}

func (e Evidence) decided() bool { return e.Least > .6 || e.Most < .4 }

// Bounded returns a probability within the bounds.
func (e Evidence) Bounded(p float64) float64 { return min(max(p, e.Least), e.Most) }

// Decides reports whether the evidence is enough to decide at probability p, by the limits of m.
func (e Evidence) Decides(p float64, m *Model) bool {
	if e.decided() {
		return true
	}
	return p >= m.Accept && !e.Vague || p <= m.Reject && !e.Spared
}

// A weighing gathers the evidence of one finding.
type weighing struct {
	*comparison
	finding
	weight func(word string) float64
	x      [evidences]float64

	want    []elem // content of the answer that the question does not give away
	missing []elem // what of it the response lacks
	hits    []int  // elements of the response that the answer has
}

func (w *weighing) fromRule() {
	w.x[eRule] = .5
	switch w.call {
	case right:
		w.x[eRule] = w.conf
		w.x[eShare] = 1
	case wrong:
		w.x[eRule] = 1 - w.conf
	default:
		w.x[eShare] = w.share
	}
	w.x[eStep] = float64(w.by)
	switch {
	case w.abstains:
		w.x[eAbstains] = 2
	case w.comparison.hedges:
		w.x[eAbstains] = 1
	}
}

func (w *weighing) fromReference() {
	a := w.against
	w.x[eRefWords] = float64(len(a.elems))
	given, total := 0.0, 0.0
	for _, e := range a.elems {
		weight := w.weight(e.root)
		total += weight
		if w.question.hasElem(e) {
			given += weight
		}
		if a.toks[e.tok].upper {
			w.x[eRefNames]++
		}
	}
	w.x[eRefGiven] = ratio(given, total, 0)
	switch {
	case len(a.dates) > 0:
		w.x[eRefFigure] = 2
	case len(a.quants) > 0:
		w.x[eRefFigure] = 1
	}
	for i, t := range a.toks {
		if i > 0 && (t.brk == comma || t.text == "and" || t.text == "、") {
			w.x[eList]++
		}
	}
}

// ratio returns a of b, or without if b is nothing.
func ratio(a, b, without float64) float64 {
	if b == 0 {
		return without
	}
	return a / b
}

func (w *weighing) fromRecall() {
	if len(w.against.elems) == 0 {
		w.x[eRecall], w.x[eRecallAll] = w.x[eShare], w.x[eShare]
		return
	}
	w.want = w.informative(w.against)
	_, w.missing = w.split(w.want)
	w.x[eRecall] = w.recallOf(w.want)
	w.x[eRecallAll] = w.recallOf(w.against.elems)
	near := 0
	for _, e := range w.missing {
		w.x[eHeaviest] = max(w.x[eHeaviest], w.weight(e.root))
		w.x[eMissing]++
		switch {
		case e.key[0] == '#':
			w.x[eMissFigs]++
		case w.against.toks[e.tok].upper:
			w.x[eMissNames]++
		}
		if w.response.akin(e.key) {
			near++
		}
	}
	w.x[eNear] = ratio(float64(near), float64(len(w.missing)), 0)
	w.x[eRun] = float64(w.response.longestRun(w.against)) / float64(len(w.against.elems))
	w.x[eReplaced] = ratio(float64(w.replaced()), float64(len(w.want)), 0)
	if w.otherDay(w.against) != "" {
		w.x[eOtherDay] = 1
	}
}

// recallOf returns the weight of elements that the response has, as a share.
func (w *weighing) recallOf(list []elem) float64 {
	have, total := 0.0, 0.0
	for _, e := range list {
		weight := w.weight(e.root) + .1
		total += weight
		if w.response.hasElem(e) {
			have += weight
		}
	}
	return ratio(have, total, 0)
}

// longestRun returns how many elements of a stand in r in the same order without
// another between them. A long reference is compared by its first words only, so
// that the time stays linear in the response.
func (r *reading) longestRun(a *reading) int {
	const most = 24
	want := a.elems[:min(most, len(a.elems))]
	var row [most + 1]uint8
	best := uint8(0)
	for _, e := range r.elems {
		for j := len(want) - 1; j >= 0; j-- {
			if want[j].key == e.key {
				row[j+1] = row[j] + 1
				best = max(best, row[j+1])
			} else {
				row[j+1] = 0
			}
		}
	}
	return int(best)
}

// fromResponse counts what the response says beside the reference.
func (w *weighing) fromResponse() {
	r := w.response
	unspaced := 0.0
	for _, t := range r.toks {
		if t.kind == han {
			unspaced++
		}
	}
	w.x[eUnspaced] = ratio(unspaced, float64(len(r.toks)), 0)
	// Two characters of Chinese are about a word.
	w.x[eRespWords] = math.Log1p(float64(len(r.toks)) - unspaced/2)
	hit, total := 0.0, 0.0
	firstHit, firstTotal, firstSent := 0.0, 0.0, -1
	fresh := 0.0
	for i, e := range r.elems {
		if w.question.hasElem(e) {
			continue
		}
		weight := w.weight(e.root) + .1
		total += weight
		sent := r.toks[e.tok].sent
		if firstSent < 0 {
			firstSent = sent
		}
		if sent == firstSent {
			firstTotal += weight
		}
		if w.against.hasElem(e) {
			w.hits = append(w.hits, i)
			hit += weight
			if sent == firstSent {
				firstHit += weight
			}
			continue
		}
		fresh++
		t := w.response.toks[e.tok]
		switch {
		case e.key[0] == '#':
			w.x[eOtherFigs]++
		case t.upper && t.brk != sentence && e.tok > 0:
			w.x[eOtherNames]++
		}
	}
	w.x[ePrecision] = ratio(hit, total, 0)
	w.x[eFirstPrec] = ratio(firstHit, firstTotal, 0)
	w.x[eNew] = math.Log1p(fresh)
}

// fromPlace says where the shared words stand.
func (w *weighing) fromPlace() {
	r := w.response
	for _, t := range r.toks {
		if t.sent > 0 {
			break
		}
		w.x[eRespFirst]++
	}
	if len(w.hits) == 0 {
		w.x[ePlace] = 1
		return
	}
	first, last := r.elems[w.hits[0]].tok, r.elems[w.hits[len(w.hits)-1]].tok
	w.x[ePlace] = float64(first) / float64(len(r.toks))
	w.x[eSpread] = float64(last-first+1) / float64(len(w.hits))
}

// fromTone counts the words that deny or soften what is said.
func (w *weighing) fromTone() {
	for i, t := range w.response.toks {
		switch {
		case isNegation(t) && !w.response.harmless(i):
			w.x[eDenials]++
		case softening[t.text]:
			w.x[eHedges]++
		}
	}
	for _, t := range w.against.toks {
		if isNegation(t) {
			w.x[eDenials]--
		}
	}
}

var softening = set("might may could possibly perhaps maybe probably likely unclear seems appears suggests some something someone somewhere various several certain 可能 也许 大概")

// asked returns the kind of question: 1 who, 2 when, 3 where, 4 how many, 5 why and
// how, 6 which and what, 7 yes or no, 0 none that is known.
func (r *reading) asked() int {
	for i, t := range r.toks {
		switch t.text {
		case "who", "whom", "whose", "谁":
			return 1
		case "when", "year", "date":
			return 2
		case "where":
			return 3
		case "many", "much", "long", "old", "often", "多", "几":
			return 4
		case "why", "how":
			if i+1 >= len(r.toks) || !amounts[r.toks[i+1].text] {
				return 5
			}
		}
	}
	switch {
	case len(r.toks) == 0:
		return 0
	case auxiliaries[r.toks[0].text]:
		return 7
	}
	return 6
}

var (
	amounts     = set("many much long old often far tall")
	auxiliaries = set("is are was were do does did has have had can could will would should 是 有")
)
