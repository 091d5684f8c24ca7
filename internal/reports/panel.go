package reports

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"deem"
	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/internal/reports/agree"
	"deem/internal/store"
	"deem/internal/words"
	"deem/judge"
	"deem/judge/panel"
	"deem/stat"
)

// A Panel shows how well the members of a panel agree.
type Panel struct {
	Rule   string `json:"rule"`
	Repeat bool   `json:"repeat,omitempty"` // the members are one judge, run several times

	Items     int `json:"items"`      // with known votes
	NoVerdict int `json:"no_verdict"` // items without a verdict of the panel: ties, and too few votes

	// Unanimous is the share of items with two or more votes on which all votes are equal.
	Unanimous stat.Estimate `json:"unanimous"`

	// Flips is the probability that two answers to the same question differ, over the items
	// with two or more votes.
	Flips stat.Estimate `json:"flips"`

	Alpha stat.Estimate `json:"alpha"` // Krippendorff's, over all members

	Members []Member `json:"members"`
	Pairs   []Pair   `json:"pairs"` // all pairs of members

	// Votes says what the members are worth together; nil if the database has no labels of
	// the items.
	Votes *agree.Votes `json:"votes,omitempty"`
}

// A Member is the result of one judge of a panel.
type Member struct {
	Name      string        `json:"name"`
	Voted     int           `json:"voted"`
	Abstained int           `json:"abstained"` // it gave no verdict
	YesRate   stat.Estimate `json:"yes_rate"`
	WithPanel stat.Estimate `json:"with_panel"` // the share of its votes that agree with the panel
}

// A Pair is the agreement of two members.
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
	yes       []stat.Values // by member
	followed  []stat.Values // by member: votes on items with an outcome
	pairs     [][]agreement.Cross
	unanimous stat.Values
	flips     stat.Values
	ratings   [][]float64 // by member, for alpha
}

// maxRated is the maximum number of items for alpha, whose interval is bootstrapped.
const maxRated = 20_000

// NewPanel returns a builder for the named members.
func NewPanel(names []string, rule string, repeat bool) *PanelBuilder {
	n := len(names)
	b := &PanelBuilder{
		report: Panel{Rule: rule, Repeat: repeat}, names: names,
		voted: make([]int, n), yes: make([]stat.Values, n), followed: make([]stat.Values, n),
		pairs: make([][]agreement.Cross, n), ratings: make([][]float64, n),
	}
	for i := range names {
		b.pairs[i] = make([]agreement.Cross, n)
	}
	return b
}

// Add counts the votes on one item. The outcome is VoteNone if the panel has no verdict.
func (b *PanelBuilder) Add(it deem.Item, votes []panel.Vote, outcome panel.Vote) {
	cluster := strings.Clone(it.Cluster)
	weight, _ := doc.WeightOf(it)
	add := func(to *stat.Values, x float64) { to.Add(cluster, x, weight) }
	b.report.Items++
	if outcome == panel.VoteNone {
		b.report.NoVerdict++
	}
	counts := [3]int{}
	for i, v := range votes {
		counts[v]++
		if b.report.Items <= maxRated {
			rating := math.NaN()
			if v != panel.VoteNone {
				rating = float64(v)
			}
			b.ratings[i] = append(b.ratings[i], rating)
		}
		if v == panel.VoteNone {
			continue
		}
		b.voted[i]++
		add(&b.yes[i], agreement.Number(v == panel.VoteYes))
		if outcome != panel.VoteNone {
			add(&b.followed[i], agreement.Number(outcome == v))
		}
		for k, w := range votes[:i] {
			if w != panel.VoteNone {
				b.pairs[k][i].Add(cluster, weight, w == panel.VoteYes, v == panel.VoteYes)
			}
		}
	}
	if n := counts[panel.VoteYes] + counts[panel.VoteNo]; n > 1 {
		add(&b.unanimous, agreement.Number(counts[panel.VoteYes] == n || counts[panel.VoteNo] == n))
		add(&b.flips, 2*float64(counts[panel.VoteYes])*float64(counts[panel.VoteNo])/(float64(n)*float64(n-1)))
	}
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Panel returns the result.
func (b *PanelBuilder) Panel() Panel {
	r := b.report
	r.Unanimous = b.unanimous.Score(true).At(stat.DefaultLevel)
	r.Flips = b.flips.Score(false).At(stat.DefaultLevel)
	r.Alpha = agreement.KrippendorffInterval(b.ratings, agreement.ScaleNominal, 200, 1, stat.DefaultLevel)
	if b.unanimous.Clustered() && r.Alpha.Method != stat.MethodNone {
		r.Alpha = r.Alpha.Warn(doc.WarnIndependent)
	}
	for i, name := range b.names {
		r.Members = append(r.Members, Member{
			Name: name, Voted: b.voted[i], Abstained: r.Items - b.voted[i],
			YesRate: b.yes[i].Score(true).At(stat.DefaultLevel), WithPanel: b.followed[i].Score(true).At(stat.DefaultLevel),
		})
		for k := range b.names[:i] {
			r.Pairs = append(r.Pairs, Pair{b.names[k], name, b.pairs[k][i].Agreement(stat.DefaultLevel)})
		}
	}
	return r
}

// AddTo adds the report to a document.
func (r Panel) AddTo(d *doc.Document) {
	who := fmt.Sprintf("%d judges by %s", len(r.Members), r.Rule)
	if r.Repeat {
		who = fmt.Sprintf("one judge, asked %d times, by %s", len(r.Members), r.Rule)
	}
	facts := doc.Facts{{Name: "panel", Text: doc.Join(", ", who, words.Count(r.Items, "item"), words.Comma(r.NoVerdict)+" without a verdict")}}
	if r.Unanimous.N == 0 {
		facts = append(facts, doc.Fact{Name: "agreement", Text: "unknown: no item has two votes"})
	} else {
		alpha := doc.Fact{Name: "alpha"}
		// If all votes are equal there is no alpha: 0 would mean that the members agree no
		// better than by chance.
		if i := slices.IndexFunc(r.Alpha.Warnings, func(w string) bool { return strings.HasPrefix(w, agreement.WarnAlpha) }); i >= 0 {
			alpha.Text = r.Alpha.Warnings[i]
		} else {
			alpha.Text, alpha.Marks = doc.Coefficient(r.Alpha, 3)+" (Krippendorff's)", d.Mark(r.Alpha.Warnings...)
		}
		facts = append(facts,
			doc.Fact{Name: "unanimous", Text: doc.Share(r.Unanimous) + ", " + doc.NEquals(r.Unanimous.N)},
			doc.Fact{Name: "differ", Text: doc.Share(r.Flips) + " of pairs of answers to one question"},
			alpha, r.effective(d))
	}
	members := doc.Table{Columns: []doc.Column{doc.Col("member"), doc.Num("voted"), doc.Num("abstained"), doc.Est("says yes [95%]"), doc.Est("with the panel [95%]")}}
	for _, m := range r.Members {
		members.Rows = append(members.Rows, []doc.Cell{doc.T(m.Name), doc.N(m.Voted), doc.N(m.Abstained), share(m.YesRate), share(m.WithPanel)})
	}
	pairs := doc.Table{Columns: []doc.Column{doc.Col("agreement"), doc.Col(""), doc.Est("[95%]"), doc.Num("n")}}
	for _, x := range r.Pairs {
		if !r.Repeat {
			pairs.Rows = append(pairs.Rows, []doc.Cell{doc.T(x.First), doc.T(x.Second), share(x.Agreement), doc.N(x.Agreement.N)})
		}
	}
	blocks := []doc.Block{facts, members, pairs}
	if r.Votes != nil {
		blocks = append(blocks, doc.Paragraph{Text: r.Votes.Worth("the panel")})
	}
	d.Add(doc.Section{ID: "parts", Blocks: blocks})
}

// effective returns how many independent votes the members are worth. Only labels can tell:
// without them, members that are right together look like members that err together.
func (r Panel) effective(d *doc.Document) doc.Fact {
	f := doc.Fact{Name: "worth", Text: "unknown without labels: deem agree RUN LABELS tells how many independent votes"}
	if r.Votes != nil {
		f.Text, f.Marks = r.Votes.Short(), d.Mark(r.Votes.Effective.Warnings...)
	}
	return f
}

// PanelVotes returns what the members of the panel that judged a run are worth together,
// against the labels of people; nil if the judge is not a panel, or no label belongs to an
// item that all members decided.
func PanelVotes(ctx context.Context, st store.Store, run store.Run, p *People) (*agree.Votes, error) {
	spec := Grader(SpecOf(run))
	if spec.Kind != judge.KindPanel && spec.Kind != judge.KindRepeat {
		return nil, nil
	}
	known, err := p.inStore(ctx, st, run)
	if err != nil {
		return nil, err
	}
	names := PartNames(spec)
	shown := slices.Clone(names)
	if spec.Kind == judge.KindRepeat {
		for i, n := range names {
			shown[i] = "answer " + n
		}
	}
	b := agree.NewVotes(shown)
	for rec, err := range st.Records(ctx, run.ID, store.Query{Trial: new(int), Brief: p.Kept()}) {
		if err != nil {
			return nil, err
		}
		truth := known[Drawn{rec.Item.ID, rec.Position}].truth
		if !p.Kept() {
			truth = p.Of(rec.Item)
		}
		list, ok := panel.Votes(names, rec)
		if truth == nil || truth.Tie || !ok {
			continue
		}
		votes := make([]*bool, len(list))
		for i, v := range list {
			if v != panel.VoteNone {
				votes[i] = new(v == panel.VoteYes)
			}
		}
		var common *bool
		if rec.Verdict != nil {
			common = new(rec.Verdict.Yes())
		}
		b.Add(rec.Item, votes, common, truth.Yes)
	}
	return b.Votes(), nil
}

// share returns an estimate, or a cell without one: a member that never voted has no share
// of yes.
func share(est stat.Estimate) doc.Cell {
	if est.N == 0 {
		return doc.T(doc.Absent(false))
	}
	return doc.T(doc.Share(est))
}
