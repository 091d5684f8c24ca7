package published

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"deem/internal/rows"
	"deem/internal/words"
)

// A Finding is something in a file of results that a reader should know before trusting its
// score. It describes the rows, not the cause.
type Finding struct {
	Kind string `json:"kind"` // one of the Found constants
	Text string `json:"text"`

	// Claim is the number of the file's summary that this is about, or "".
	Claim string `json:"claim,omitempty"`
}

// The kinds of findings.
const (
	FoundTwice        = "repeated-ids"
	FoundUnjudged     = "unjudged-as-wrong"
	FoundRerun        = "rerun-of-failures"
	FoundIdentical    = "identical-responses"
	FoundAlternatives = "alternatives"
	FoundNumber       = "numbers"
)

// Findings returns the anomalies in the files.
func (s *Set) Findings() []Finding { return slices.Clone(s.findings) }

func (s *Set) find(kind, format string, args ...any) {
	s.findings = append(s.findings, Finding{Kind: kind, Text: fmt.Sprintf(format, args...)})
}

// lint checks the rows as they are in the files, for every shape.
func (s *Set) lint() {
	if len(s.rerun) > 0 {
		s.lintRerun(fmt.Sprintf("the rows mark %d as run again", len(s.rerun)), func(position int) bool { return s.rerun[position] })
	}
	s.lintIdentical()
	s.lintAlternatives()
	checks := s.Check(s.Claims)
	var asWrongs []string // the numbers that count rows without a verdict as wrong
	for _, c := range checks {
		if c.Agrees && (c.How == asWrong || c.How == eachAsWrong) {
			asWrongs = append(asWrongs, c.Name+" "+c.Text)
		}
	}
	if len(asWrongs) > 0 {
		n := 0
		for _, rec := range s.records {
			if rec.Failure != nil {
				n++
			}
		}
		s.find(FoundUnjudged, "%s without a verdict, which these numbers of the file count as wrong: %s", words.Count(n, "row"), listed(asWrongs))
	}
	for _, c := range checks {
		if c.Agrees {
			continue
		}
		text := fmt.Sprintf("%s says %s, and the rows ", words.Printable(c.Name), words.Printable(c.Text))
		switch {
		case !c.Counted:
			text += "do not have this number"
		case c.Share:
			text += fmt.Sprintf("give %.2f%%", 100*c.Given)
		default:
			text += fmt.Sprintf("give %.4g", c.Given)
		}
		if c.Because != "" {
			text += "; " + c.Because
		}
		s.findings = append(s.findings, Finding{Kind: FoundNumber, Text: text, Claim: c.Name})
	}
	for _, name := range s.names {
		if name == "-" || len(s.records) == 0 {
			continue
		}
		readmes, err := filepath.Glob(filepath.Join(filepath.Dir(name), "[Rr][Ee][Aa][Dd][Mm][Ee]*"))
		if err != nil {
			continue // A folder whose name is an invalid pattern has no README to find.
		}
		for _, readme := range readmes {
			s.lintLines(readme, filepath.Base(name))
		}
	}
}

// lintTwice counts ids that occur in several rows. It runs before such ids are numbered.
// Ids may start again in each conversation.
func (s *Set) lintTwice() {
	found := map[[2]string][]int{}
	for i, it := range s.items {
		key := [2]string{it.Cluster, it.ID}
		found[key] = append(found[key], i)
	}
	score := map[int]float64{}
	for _, rec := range s.records {
		if rec.Verdict != nil && rec.Trial == 0 {
			score[rec.Position] = rec.Verdict.Score
		}
	}
	ids, differ, first := 0, 0, ""
	for _, it := range s.items {
		key := [2]string{it.Cluster, it.ID}
		places := found[key]
		if len(places) < 2 {
			continue
		}
		found[key] = nil
		ids++
		first = cmp.Or(first, it.ID)
		if slices.ContainsFunc(places, func(i int) bool { return score[i] != score[places[0]] }) {
			differ++
		}
	}
	if ids > 0 {
		s.find(FoundTwice, "%s in more than one row, the first is %s; the rows of %d of them have different verdicts, and every row counts", words.Plural(ids, "id stands", "ids stand"), clip(first), differ)
	}
}

// rights returns for each item whether it is recorded as right.
func (s *Set) rights() []bool {
	list := make([]bool, len(s.items))
	for _, it := range s.tally().items {
		list[it.position] = isYes(it)
	}
	return list
}

// The minimum numbers of rows for a finding: among few rows, two may be equal by chance.
const (
	manyIdentical  = 5
	identicalShare = 0.05
	manyHedges     = 2
	hedgeShare     = 0.01
)

// lintIdentical looks for one text that answers many questions with different references.
func (s *Set) lintIdentical() {
	type group struct {
		text       string
		rows       []int
		references map[string]bool
	}
	groups := map[string]*group{}
	for i, it := range s.items {
		text := strings.Join(strings.Fields(strings.ToLower(it.Response)), " ")
		if text == "" || len(it.References) == 0 {
			continue
		}
		g := groups[text]
		if g == nil {
			g = &group{text: it.Response, references: map[string]bool{}}
			groups[text] = g
		}
		g.rows = append(g.rows, i)
		g.references[strings.ToLower(it.References[0])] = true
	}
	var most *group
	for _, g := range groups {
		if 2*len(g.references) > len(g.rows) && (most == nil || len(g.rows) > len(most.rows) || len(g.rows) == len(most.rows) && g.text < most.text) {
			most = g
		}
	}
	if most == nil || len(most.rows) < manyIdentical || float64(len(most.rows)) < identicalShare*float64(len(s.items)) {
		return
	}
	right, rights := 0, s.rights()
	for _, i := range most.rows {
		if rights[i] {
			right++
		}
	}
	s.find(FoundIdentical, "the same response, %s, stands in %d of %s whose references are %d different texts; %d of them are recorded as right",
		clip(most.text), len(most.rows), words.Count(len(s.items), "row"), len(most.references), right)
}

// lintAlternatives counts responses that name the reference and another answer, "Paris or
// London": a judge that looks for the reference finds it in every such response.
func (s *Set) lintAlternatives() {
	n, right, first := 0, 0, ""
	rights := s.rights()
	for i, it := range s.items {
		if !slices.ContainsFunc(it.References, func(ref string) bool { return nextToAlternative(it.Response, ref) }) {
			continue
		}
		n++
		first = cmp.Or(first, it.ID)
		if rights[i] {
			right++
		}
	}
	if n >= manyHedges && float64(n) >= hedgeShare*float64(len(s.items)) {
		s.find(FoundAlternatives, "%d of %d responses hold the reference's exact text and an alternative to it, joined by \"or\"; %d of them are recorded as right, and the first is the one to %s",
			n, len(s.items), right, clip(first))
	}
}

var (
	orBefore = regexp.MustCompile(`(?:\bor\s+(?:(?:the|a|an|in|on|at|to)\s+)?|或者?\s*)["'(*]*$`)
	orAfter  = regexp.MustCompile(`^["')*]*,?\s*(?:or\b|alternatively\b|或)`)
	orSo     = regexp.MustCompile(`^["')*]*,?\s*or\s+(?:so|more|less|fewer|later|earlier|not|longer|thereabouts)\b`)
	orWithin = regexp.MustCompile(`\bor\b|或`)
)

// nextToAlternative reports whether a response contains the exact text of a reference, as
// whole words, next to an "or" that is not part of the reference.
func nextToAlternative(response, reference string) bool {
	const near = 24
	text, ref := strings.ToLower(response), strings.ToLower(strings.TrimSpace(reference))
	if utf8.RuneCountInString(ref) < 2 || orWithin.MatchString(ref) {
		return false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], ref)
		if i < 0 {
			return false
		}
		begin, end := from+i, from+i+len(ref)
		before, after := text[max(0, begin-near):begin], text[end:min(len(text), end+near)]
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		whole := !unicode.IsLetter(last) && !unicode.IsDigit(last) && !unicode.IsLetter(next) && !unicode.IsDigit(next)
		if whole && (orBefore.MatchString(before) || orAfter.MatchString(after) && !orSo.MatchString(after)) {
			return true
		}
		from = end
	}
}

// rerunName matches the names of columns that mark rows that were run again, or taken from
// another run.
var rerunName = regexp.MustCompile(`(?i)^(re_?run|re_?ran|retried|merged|patched)(_|$)|(_rerun|_retried)$`)

// noteRerun finds the ids that files list as run again, next to their rows.
func (s *Set) noteRerun(n rows.Node, path string, depth int) {
	if n.Kind != rows.Object || depth > deepestClaim {
		return
	}
	for i, key := range n.Keys {
		here, v := strings.TrimPrefix(path+"."+key, "."), n.Vals[i]
		if v.Kind == rows.Object {
			s.noteRerun(v, here, depth+1)
		}
		if !rerunName.MatchString(key) || v.Kind != rows.List && v.Kind != rows.String {
			continue
		}
		again := map[string]bool{}
		for _, e := range v.Elements() {
			for id := range strings.SplitSeq(e.Str(), ",") {
				if id = strings.TrimSpace(id); id != "" {
					again[id] = true
				}
			}
		}
		s.lintRerun(fmt.Sprintf("%s names %d ids", here, len(again)), func(position int) bool { return again[s.items[position].ID] })
	}
}

// isMarked reports whether a value marks a row: true, a number above 0, or the name of the
// row's origin.
func isMarked(n rows.Node) bool {
	if x, ok := n.Float(); ok {
		return x > 0
	}
	return n.IsScalar() && !n.Blank() && !slices.Contains(wrongWords, strings.ToLower(n.Text))
}

// lintRerun reports if the rows that were run again are exactly those that could fail:
// every row that is not right is among them, and all others are right.
func (s *Set) lintRerun(what string, again func(position int) bool) {
	wrong, unjudged, outside, right := 0, 0, 0, 0
	turned := false
	for _, rec := range s.records {
		isRight := rec.Verdict != nil && rec.Verdict.Score >= 0.5
		switch {
		case rec.Trial > 0:
		case !again(rec.Position):
			outside++
			if isRight {
				right++
			}
		case rec.Failure != nil:
			unjudged++
		case !isRight:
			wrong++
		default:
			turned = true
		}
	}
	if outside == 0 || right != outside || wrong+unjudged == 0 || !turned {
		return
	}
	s.find(FoundRerun, "%s: all %d wrong rows and all %d without a verdict are among them, and all %d others are right. That is the pattern of running exactly the failures again, and not a proof of it; without what that turned, %d of %d are right, %.2f%%",
		what, wrong, unjudged, outside, right, len(s.items), 100*float64(right)/float64(len(s.items)))
}

// percentage matches a percentage in prose.
var percentage = regexp.MustCompile(`(?:^|[^0-9.])([0-9]{1,3}(?:\.[0-9]+)?) ?%`)

// lintLines checks the lines of a README that name a file.
func (s *Set) lintLines(readme, file string) {
	const most = 1 << 20
	f, err := os.Open(readme) //nolint:gosec // The file is next to one that the user names.
	if err != nil {
		return // The README is optional: the rows are what is checked.
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return
	}
	at := 0
	for line := range strings.Lines(string(text)) {
		at++
		if !strings.Contains(line, file) {
			continue
		}
		for _, m := range percentage.FindAllStringSubmatch(line, -1) {
			if x, err := strconv.ParseFloat(m[1], 64); err == nil && x <= 100 && !s.gives(x/100, slackOf(m[1])/100) {
				s.find(FoundNumber, "%s:%d names %s and says %s%%, which the rows do not give; the line may be about something else", words.Printable(readme), at, words.Printable(file), m[1])
			}
		}
	}
}

// gives reports whether some way of counting gives a share: of all rows or of a category,
// of the verdicts or of another number in the rows.
func (s *Set) gives(x, slack float64) bool {
	var measures []measure
	for _, stat := range []string{statScore, statMajority, statAll, statAny, statCategories, statAbstention} {
		measures = append(measures, measure{stat: stat})
	}
	for _, c := range s.categories() {
		measures = append(measures, measure{stat: statScore, category: c})
	}
	for _, a := range s.aspects {
		measures = append(measures, measure{stat: statAspect, aspect: a})
	}
	for i := range s.trials {
		measures = append(measures, measure{stat: statTrial, trial: i})
	}
	t := s.tally()
	return slices.ContainsFunc(measures, func(m measure) bool {
		return slices.ContainsFunc(t.ways(m), func(r result) bool { return r.ok && Claim{Value: x, slack: slack}.is(r.value) })
	})
}
