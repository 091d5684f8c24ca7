package published

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/rows"
	"deem/internal/words"
)

// A Claim is a number that the file itself, or its publisher, claims for the rows.
type Claim struct {
	Name string `json:"name"` // as named in the file, with its path
	Text string `json:"text"` // as written

	// Value is the number: a share is from 0 to 1, otherwise it is a count.
	Value float64 `json:"value"`

	slack float64 // the tolerance that the written digits allow
	about measure
}

// A measure identifies a number of the rows.
type measure struct {
	stat     string
	category string
	aspect   string
	trial    int

	in      *place // the section whose rows the number is about; nil for all rows
	summary bool   // it stands in a summary of these rows
	doubt   bool   // it stands in a section without rows, so it may be about others
}

// The numbers of rows.
const (
	statScore      = "score"      // the share of right ones, or the mean score
	statRight      = "right"      // the number of right ones
	statWrong      = "wrong"      // the number of wrong ones
	statUnjudged   = "unjudged"   // the number without a verdict
	statMajority   = "majority"   // the share with a majority of yes among trials
	statTrial      = "trial"      // the score of one trial
	statAll        = "all"        // the share with yes in every trial
	statAny        = "any"        // the share with yes in some trial
	statTrialSD    = "trial_sd"   // the standard deviation of the scores of trials
	statCategories = "categories" // the mean of the scores of the categories
	statAbstention = "abstention" // the score of LongMemEval's questions without an answer
	statAspect     = "aspect"     // the mean of another number in the rows
	statBenchmark  = "benchmark"  // one of the benchmark's own metrics
)

// isCount reports whether the number counts rows.
func (m measure) isCount() bool {
	return m.stat == statRight || m.stat == statWrong || m.stat == statUnjudged
}

// claimNames are the names of numbers in files, without case and punctuation.
var claimNames = map[string]string{
	"accuracy": statScore, "overallaccuracy": statScore, "meanaccuracy": statScore, "llmaccuracy": statScore,
	"llmjudgeaccuracy": statScore, "answeraccuracyrate": statScore, "scorepct": statScore, "passrate": statScore,
	"avgscore": statScore, "passed": statRight, "failed": statWrong,
	"llmjudgescore": statScore, "meanscore": statScore, "correctrate": statScore, "llmscore": statScore,
	"correct": statRight, "correctanswers": statRight, "llmjudgecorrect": statRight, "totalp": statRight, "numcorrect": statRight, "p": statRight,
	"wrong": statWrong, "wronganswers": statWrong, "totalf": statWrong, "incorrect": statWrong, "f": statWrong,
	"errors": statUnjudged, "erroranswers": statUnjudged,
	"majorityvoteaccuracy": statMajority, "majorityaccuracy": statMajority,
	"stdaccuracy": statTrialSD, "taskaveragedaccuracy": statCategories, "abstentionaccuracy": statAbstention,
}

// aside are the keys of objects about something else: settings, other systems, or parts of
// the rows that are not a category.
var aside = []string{"config", "comparison", "baseline", "baselines", "args", "usage", "perconversation", "latency", "bysystem"}

// summaryWords are parts of keys of objects that sum up the rows next to them.
var summaryWords = []string{
	"summar", "overall", "metric", "result", "score", "stat", "aggregat", "total", "eval", "performance", "report", "final", "accuracy", "judge", "meta", "average",
}

// isSummary reports whether an object with this key is about the rows next to it.
func isSummary(key string) bool {
	return slices.ContainsFunc(summaryWords, func(word string) bool { return strings.Contains(rows.Letters(key), word) })
}

// rowCounts are the names of the number of rows.
var rowCounts = []string{"totalquestions", "total", "count", "n", "numquestions"}

// statedSize returns the number of rows that an object says it is about, 0 if it says none.
func statedSize(n rows.Node) int {
	for i, key := range n.Keys {
		if x, ok := n.Vals[i].Float(); ok && slices.Contains(rowCounts, rows.Letters(key)) && x == float64(int(x)) {
			return int(x)
		}
	}
	return 0
}

// claimsIn adds the claims next to the rows of the files. Counts of several files are added
// up.
func (s *Set) claimsIn(rest map[int]rows.Node) {
	if len(s.records) == 0 {
		return
	}
	below, isRow := map[place]int{}, map[place]bool{}
	for _, at := range s.places {
		isRow[at] = true
		for path := at.path; path != ""; path = path[:max(0, strings.LastIndexAny(path, ".["))] {
			below[place{at.value, path}]++
		}
	}
	for _, i := range slices.Sorted(maps.Keys(rest)) {
		f := &claimFinder{set: s, value: i, below: below, isRow: isRow}
		f.object(rest[i], "", measure{}, 0)
	}
	if files := len(rest); files > 1 {
		var sums []Claim
		n := map[string]int{}
		for _, c := range s.Claims {
			if !c.about.isCount() {
				continue
			}
			n[c.Name]++
			if i := slices.IndexFunc(sums, func(s Claim) bool { return s.Name == c.Name }); i >= 0 {
				sums[i].Value += c.Value
				sums[i].Text = strconv.FormatFloat(sums[i].Value, 'f', -1, 64)
				continue
			}
			sums = append(sums, c)
		}
		s.Claims = slices.DeleteFunc(sums, func(c Claim) bool { return n[c.Name] != files && c.about.category == "" })
	}
	if !s.formula {
		return
	}
	t := s.tally()
	var left []string
	s.Claims = slices.DeleteFunc(s.Claims, func(c Claim) bool {
		if c.about.stat == statAspect || c.about.stat == statBenchmark {
			return false
		}
		name := rows.Letters(lastOf(c.Name, "."))
		foreign := strings.HasPrefix(name, "llm") || strings.Contains(name, "judge") || !t.check(c).Agrees
		if foreign {
			left = append(left, c.Name)
		}
		return foreign
	})
	if len(left) > 0 {
		s.Note("%s: such a number is about a judge's verdicts, and the rows hold only numbers of a formula, so it is not checked", listed(left))
	}
}

// dropDoubts removes numbers of sections without rows, unless the rows give them: they are
// about rows that the file does not have.
func (s *Set) dropDoubts() {
	t := s.tally()
	var left []string
	s.Claims = slices.DeleteFunc(s.Claims, func(c Claim) bool {
		drop := c.about.doubt && !t.check(c).Agrees
		if drop {
			left = append(left, c.Name)
		}
		return drop
	})
	if len(left) > 0 {
		s.Note("%s: not compared, because there are no rows in that section of the file", listed(left))
	}
}

// A claimFinder searches the values next to the rows of one value of a file.
type claimFinder struct {
	set   *Set
	value int            // its index
	below map[place]int  // how many rows there are at a place and below it
	isRow map[place]bool // whether there is a row
}

// object searches the members of an object, whose numbers are about m.
func (f *claimFinder) object(n rows.Node, path string, m measure, depth int) {
	at := place{f.value, path}
	if n.Kind != rows.Object || depth > deepestClaim || f.isRow[at] {
		return
	}
	if path != "" && f.below[at] > 0 {
		m.in, m.summary, m.doubt = &at, false, false
	}
	for i, key := range n.Keys {
		here, v, plain := strings.TrimPrefix(path+"."+key, "."), n.Vals[i], rows.Letters(key)
		switch {
		case slices.Contains(aside, plain) || strings.HasPrefix(key, "vs_"):
		case rows.ByCategory(key) && v.Kind == rows.Object:
			f.categories(v, here, m, depth+1)
		case strings.HasPrefix(key, "category_") && v.Kind == rows.Object:
			if c, ok := f.category(strings.TrimPrefix(key, "category_")); ok {
				m := m
				m.category = c
				f.object(v, here, m, depth+1)
			}
		case f.aspect(plain) != "" && v.Kind == rows.Object:
			m := m
			m.stat, m.aspect = statAspect, f.aspect(plain)
			f.set.addClaim(here+".mean", v.Member("mean"), m)
		case v.Kind == rows.Object:
			f.section(v, key, here, m, depth+1)
		case plain == "runscores" && v.Kind == rows.List:
			for trial, score := range v.Vals {
				m := m
				m.stat, m.trial = statTrial, trial
				f.set.addClaim(fmt.Sprintf("%s[%d]", here, trial), score, m)
			}
		case v.Kind == rows.List:
			for j, e := range v.Vals {
				if inner := fmt.Sprintf("%s[%d]", here, j); f.below[place{f.value, inner}] > 0 {
					f.object(e, inner, m, depth+1)
				}
			}
		default:
			f.leaf(here, plain, v, m)
		}
	}
}

// section searches an object inside another. Its numbers are about the rows in it. Without
// any they are about the rows next to it if its name says so, and doubtful otherwise; if it
// states another number of rows, they are about others.
func (f *claimFinder) section(n rows.Node, key, path string, m measure, depth int) {
	m.summary = m.summary || isSummary(key)
	if f.below[place{f.value, path}] == 0 && !m.summary {
		if size := statedSize(n); size > 0 && size != f.set.count(m.in) && m.category == "" {
			f.set.Note("%s: not compared, because it is about %s and the file has %d here", path, words.Count(size, "row"), f.set.count(m.in))
			return
		}
		m.doubt = true
	}
	f.object(n, path, m, depth)
}

// deepestClaim is the maximum depth of a claim.
const deepestClaim = 8

// categories searches an object with a member for each category: a number, or an object of
// several.
func (f *claimFinder) categories(n rows.Node, path string, m measure, depth int) {
	for i, key := range n.Keys {
		here := path + "." + key
		c, ok := f.category(key)
		m := m
		switch {
		case ok:
			m.category = c
		case f.below[place{f.value, here}] == 0:
			continue
		}
		if n.Vals[i].Kind == rows.Object {
			f.object(n.Vals[i], here, m, depth+1)
			continue
		}
		m.stat = statScore
		f.set.addClaim(here, n.Vals[i], m)
	}
}

// category returns the category of the items that a name refers to.
func (f *claimFinder) category(name string) (string, bool) {
	for _, it := range f.set.items {
		if strings.EqualFold(it.Category, name) && name != "" {
			return it.Category, true
		}
	}
	for category, called := range f.set.categoryNames {
		if strings.EqualFold(called, name) {
			return category, true
		}
	}
	return "", false
}

// leaf adds a number if its name is known.
func (f *claimFinder) leaf(path, plain string, v rows.Node, m measure) {
	name, mean := plain, false
	for _, prefix := range []string{"avg", "mean", "average"} {
		if rest, ok := strings.CutPrefix(plain, prefix); ok {
			name, mean = rest, true
		}
	}
	switch {
	case claimNames[plain] != "":
		m.stat = claimNames[plain]
	case plain == "mean" && m.category != "":
		m.stat = statScore
	case mean && f.aspect(name) != "":
		m.stat, m.aspect = statAspect, f.aspect(name)
	case slices.Contains(rowCounts, plain) && m.category == "" && m.in == nil && !m.doubt:
		n := len(f.set.items)
		if x, ok := v.Float(); ok && x != float64(n) && x == float64(int(x)) && x > 0 && f.set.files == 1 {
			f.set.find(FoundNumber, "%s says %d, and there are %s", path, int(x), words.Count(n, "row"))
		}
		return
	default:
		return
	}
	f.set.addClaim(path, v, m)
}

// aspect returns the number of the rows that a name refers to: avg_bleu1 is the mean of
// bleu_score.
func (f *claimFinder) aspect(plain string) string {
	cut := func(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, "score"), "f") }
	for _, exact := range []bool{true, false} {
		for _, name := range f.set.aspects {
			have := rows.Letters(name)
			if have == plain || !exact && (cut(have) == cut(plain) || cut(have) == "bleu" && plain == "bleu1") {
				return name
			}
		}
	}
	return ""
}

// addClaim adds a claim, unless the value is not a number.
func (s *Set) addClaim(name string, v rows.Node, m measure) {
	x, ok := v.Float()
	if !ok {
		return
	}
	c := Claim{Name: name, Text: strings.TrimSpace(v.Text), Value: x, slack: slackOf(v.Text), about: m}
	if !m.isCount() && m.stat != statAspect && m.stat != statBenchmark && x > 1 && x <= 100 {
		c.Value, c.slack, c.Text = x/100, c.slack/100, c.Text+"%"
	}
	s.Claims = append(s.Claims, c)
}

// slackOf returns half a unit of the last written digit.
func slackOf(text string) float64 {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	slack := 0.5
	for range min(len(decimals), 17) {
		slack /= 10
	}
	if e, err := strconv.Atoi(exponent); err == nil {
		for range min(max(-e, 0), 30) {
			slack /= 10
		}
	}
	return slack
}

// ParseClaim parses a claim: "88.6%", "0.886", "443/500", or with a name before it,
// "majority=74.35%", "temporal-reasoning=58.6%", "f1_score=0.4884". Names are overall,
// right, wrong, majority, all, any, trial1 and so on, categories, abstention, a category,
// or a number of the rows.
func (s *Set) ParseClaim(spec string) (Claim, error) {
	name, value := "overall", spec
	if i := strings.LastIndexByte(spec, '='); i >= 0 {
		name, value = spec[:i], spec[i+1:]
	}
	f, m := &claimFinder{set: s}, measure{stat: name}
	trial, err := strconv.Atoi(strings.TrimPrefix(name, statTrial))
	isTrial := err == nil && strings.HasPrefix(name, statTrial) && trial >= 1 && trial <= s.trials
	_, isStat := s.stats[name]
	category, isCategory := f.category(name)
	aspect := f.aspect(rows.Letters(name))
	switch {
	case slices.Contains([]string{"overall", "score", "accuracy"}, name):
		m.stat = statScore
	case name == "correct":
		m.stat = statRight
	case slices.Contains([]string{statRight, statWrong, statMajority, statAll, statAny, statCategories, statAbstention, statUnjudged, statTrialSD}, name):
	case isTrial:
		m.stat, m.trial = statTrial, trial-1
	case isStat:
		m.stat, m.aspect = statBenchmark, name
	case isCategory:
		m.stat, m.category = statScore, category
	case aspect != "":
		m.stat, m.aspect = statAspect, aspect
	default:
		there := []string{"overall", "right", "wrong", "unjudged", "majority", "categories", "abstention"}
		if s.trials > 1 {
			there = append(there, statAll, statAny, "trial1")
		}
		there = slices.Concat(there, slices.Sorted(maps.Keys(s.stats)), s.categories(), s.aspects)
		return Claim{}, deem.WithHint(fmt.Errorf("the rows have no number %q", name), "there are: %s", listed(there))
	}
	return parseNumber(Claim{Name: name, Text: value, about: m}, spec, value)
}

// parseNumber sets the number of a claim, as a share, a percentage or a plain number. The
// spec is the user's text, for messages.
func parseNumber(c Claim, spec, value string) (Claim, error) {
	m := c.about
	if right, all, ok := strings.Cut(value, "/"); ok {
		k, err1 := strconv.ParseFloat(strings.TrimSpace(right), 64)
		n, err2 := strconv.ParseFloat(strings.TrimSpace(all), 64)
		if err1 != nil || err2 != nil || !(0 <= k && k <= n && 0 < n && n <= math.MaxInt32) {
			return Claim{}, fmt.Errorf("the claim %q is not a share", spec)
		}
		c.Value, c.slack = k/n, 0.5/n
		return c, nil
	}
	digits, percent := strings.CutSuffix(strings.TrimSpace(value), "%")
	x, ok := rows.Node{Kind: rows.String, Text: digits}.Float()
	if !ok || x < 0 && m.stat != statBenchmark { // a correlation may be negative
		return Claim{}, deem.WithHint(fmt.Errorf("the claim %q is not a number", spec), "write it as 88.6%%, 0.886, 443/500 or NAME=88.6%%")
	}
	c.Value, c.slack = x, slackOf(digits)
	if percent || x > 1 && !m.isCount() && m.stat != statAspect {
		c.Value, c.slack = x/100, c.slack/100
	}
	return c, nil
}

// categories returns the categories of the items, sorted.
func (s *Set) categories() []string {
	var list []string
	for _, it := range s.items {
		if it.Category != "" {
			list = addNew(list, it.Category)
		}
	}
	slices.Sort(list)
	return list
}
