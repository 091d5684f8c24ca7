// Package members says what the parts of a judge did that is made of others: how far
// the members of a panel agree with each other and with what came of it, and which
// stage of a cascade decided how much, what it cost, and what that saved.
//
// It counts votes and stages. Who the judges are, it need not know.
package members

import (
	"fmt"
	"io"
	"math"
	"strings"

	"deem/internal/words"
	"deem/report/internal/page"
	"deem/stat"
)

// A Vote is what a member says of an item.
type Vote int8

// The votes.
const (
	None Vote = iota // the member gave no verdict
	No
	Yes
)

// A Panel says how far the members of a panel agree.
type Panel struct {
	Rule   string `json:"rule"`
	Repeat bool   `json:"repeat,omitempty"` // the members are one judge, asked several times

	Items     int `json:"items"`      // whose votes are known
	NoVerdict int `json:"no_verdict"` // items on which the panel has no verdict: ties, and too few votes

	// Unanimous is the share of items with two votes or more on which all of them are
	// the same.
	Unanimous stat.Estimate `json:"unanimous"`

	// Flips is the chance that two answers to the same question differ, over the items
	// with two votes or more.
	Flips stat.Estimate `json:"flips"`

	Alpha stat.Estimate `json:"alpha"` // Krippendorff's, over all members

	Members []Member `json:"members"`
	Pairs   []Pair   `json:"pairs"` // of every two members
}

// A Member is what one judge of a panel did.
type Member struct {
	Name      string        `json:"name"`
	Voted     int           `json:"voted"`
	Abstained int           `json:"abstained"` // it gave no verdict
	YesRate   stat.Estimate `json:"yes_rate"`
	WithPanel stat.Estimate `json:"with_panel"` // the share of its votes that the panel followed
}

// A Pair says how far two members agree.
type Pair struct {
	First     string        `json:"first"`
	Second    string        `json:"second"`
	Agreement stat.Estimate `json:"agreement"`
}

// A PanelBuilder counts votes.
type PanelBuilder struct {
	report    Panel
	names     []string
	voted     []int
	yes       []int
	followed  []int
	decided   []int   // votes on items with an outcome
	both      [][]int // items on which two members voted
	same      [][]int
	unanimous int
	several   int
	flips     stat.Moments
	ratings   [][]float64 // by member, for alpha
}

// maxRated bounds the items of which alpha is computed, whose interval is drawn.
const maxRated = 20_000

// NewPanel returns a builder for the named members.
func NewPanel(names []string, rule string, repeat bool) *PanelBuilder {
	n := len(names)
	b := &PanelBuilder{
		report: Panel{Rule: rule, Repeat: repeat}, names: names,
		voted: make([]int, n), yes: make([]int, n), followed: make([]int, n), decided: make([]int, n),
		both: make([][]int, n), same: make([][]int, n), ratings: make([][]float64, n),
	}
	for i := range names {
		b.both[i], b.same[i] = make([]int, n), make([]int, n)
	}
	return b
}

// Add counts the votes on one item. The outcome is None when the panel has no verdict.
func (b *PanelBuilder) Add(votes []Vote, outcome Vote) {
	b.report.Items++
	if outcome == None {
		b.report.NoVerdict++
	}
	counts := [3]int{}
	for i, v := range votes {
		counts[v]++
		b.rate(i, v)
		if v == None {
			continue
		}
		b.voted[i]++
		b.yes[i] += toInt(v == Yes)
		b.decided[i] += toInt(outcome != None)
		b.followed[i] += toInt(outcome == v)
		for k, w := range votes[:i] {
			if w != None {
				b.both[k][i]++
				b.same[k][i] += toInt(v == w)
			}
		}
	}
	if n := counts[Yes] + counts[No]; n > 1 {
		b.several++
		b.unanimous += toInt(counts[Yes] == n || counts[No] == n)
		b.flips.Add(2*float64(counts[Yes])*float64(counts[No])/(float64(n)*float64(n-1)), 1)
	}
}

func (b *PanelBuilder) rate(i int, v Vote) {
	if b.report.Items > maxRated {
		return
	}
	x := math.NaN()
	if v != None {
		x = float64(v)
	}
	b.ratings[i] = append(b.ratings[i], x)
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Panel returns what was counted.
func (b *PanelBuilder) Panel() Panel {
	r := b.report
	r.Unanimous = stat.Proportion(b.unanimous, b.several)
	r.Flips = stat.MeanIn(b.flips, stat.DefaultLevel, stat.Unit)
	r.Alpha = stat.KrippendorffInterval(b.ratings, stat.ScaleNominal, 200, 1, stat.DefaultLevel)
	for i, name := range b.names {
		r.Members = append(r.Members, Member{
			Name: name, Voted: b.voted[i], Abstained: r.Items - b.voted[i],
			YesRate: stat.Proportion(b.yes[i], b.voted[i]), WithPanel: stat.Proportion(b.followed[i], b.decided[i]),
		})
		for k := range b.names[:i] {
			r.Pairs = append(r.Pairs, Pair{b.names[k], name, stat.Proportion(b.same[k][i], b.both[k][i])})
		}
	}
	return r
}

// Text writes the report for people.
func (r Panel) Text(w io.Writer) error {
	p := &page.Page{}
	who := fmt.Sprintf("%d judges by %s", len(r.Members), r.Rule)
	if r.Repeat {
		who = fmt.Sprintf("one judge, asked %d times, by %s", len(r.Members), r.Rule)
	}
	p.Line("panel", who, words.Count(r.Items, "item"), fmt.Sprintf("%s without a verdict", words.Comma(r.NoVerdict)))
	if r.Unanimous.N == 0 {
		p.Line("", "no item has two votes, so how far they agree is not known")
	} else {
		p.Line("", "all say the same of "+page.Share(r.Unanimous), page.NEquals(r.Unanimous.N))
		p.Line("", "two of the answers to one question differ in "+page.Share(r.Flips))
		p.Line("", r.alpha(p))
	}
	g := &page.Grid{Align: "lrree"}
	g.Add("member", "voted", "abstained", "says yes [95%]", "with the panel [95%]")
	for _, m := range r.Members {
		g.Add(page.Cell(m.Name, page.NameWidth), words.Comma(m.Voted), words.Comma(m.Abstained), share(m.YesRate), share(m.WithPanel))
	}
	p.WriteByte('\n')
	p.Grid(g, "")
	if !r.Repeat {
		r.pairs(p)
	}
	p.Notes()
	_, err := io.WriteString(w, p.String())
	return err
}

// alpha returns Krippendorff's alpha, or why there is none: where all votes are the same
// a 0 would say that the members agree no better than by chance.
func (r Panel) alpha(p *page.Page) string {
	for _, w := range r.Alpha.Warnings {
		if strings.HasPrefix(w, stat.WarnAlpha) {
			return w
		}
	}
	return "alpha among them " + page.Coefficient(r.Alpha, 3) + page.Prefix(" ", p.Mark(r.Alpha.Warnings...))
}

// share returns an estimate, or that there is none: a member that never voted says yes
// to no half of anything.
func share(est stat.Estimate) string {
	if est.N == 0 {
		return page.Absent(false)
	}
	return page.Share(est)
}

// pairs writes how far every two members agree.
func (r Panel) pairs(p *page.Page) {
	g := &page.Grid{Align: "ller"}
	g.Add("agreement", "", "[95%]", "n")
	for _, x := range r.Pairs {
		g.Add(page.Cell(x.First, page.NameWidth), page.Cell(x.Second, page.NameWidth), share(x.Agreement), words.Comma(x.Agreement.N))
	}
	p.WriteByte('\n')
	p.Grid(g, "")
}
