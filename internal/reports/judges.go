package reports

import (
	"context"
	"fmt"
	"strings"

	"deem"
	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/internal/reports/agree"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/stat"
)

// JudgesVersion is the version of the JSON form of [Judges].
const JudgesVersion = "deem.judges/1"

// Judges compares several judges of the same items with people, each alone and all together.
type Judges struct {
	Version string `json:"version"` // "deem.judges/1"
	Truth   string `json:"truth"`   // where the labels come from

	Judges []OneJudge   `json:"judges"`
	Votes  *agree.Votes `json:"votes"` // nil if no labelled item has verdicts of all
}

// OneJudge is the agreement of one judge with people, on all items that both have judged.
type OneJudge struct {
	agree.Party
	Name      string              `json:"name"`
	Confusion agreement.Confusion `json:"confusion"`
	Agreement stat.Estimate       `json:"agreement"`
	Kappa     stat.Estimate       `json:"kappa"`
}

// A votedItem is an item with a label and the decisions of several judges.
type votedItem struct {
	item  deem.Item
	truth bool
	votes []*bool
}

// CompareJudgesWithPeople compares the judges of several runs over the same items with people.
func CompareJudgesWithPeople(ctx context.Context, st store.Store, runs []store.Run, p *People) (Judges, error) {
	j := Judges{Version: JudgesVersion, Truth: p.Name}
	items, order := map[int]*votedItem{}, []*votedItem{}
	for i, run := range runs {
		if run.Dataset.Hash != runs[0].Dataset.Hash {
			return j, usage.Errorf("runs %s and %s judged different items: %s and %s", runs[0].ID, run.ID, runs[0].Dataset.Names, run.Dataset.Names)
		}
		var cross agreement.Cross
		err := EachWithPeople(ctx, st, run, p, agree.Options{CalibrationError: CalibrationError(run)}, func(pair agree.Pair) {
			if pair.Truth == nil || pair.Truth.Tie || pair.Verdict == nil {
				return
			}
			at, seen := items[pair.Position]
			if !seen {
				it := deem.Item{Cluster: strings.Clone(pair.Item.Cluster), Weight: pair.Item.Weight}
				at = &votedItem{item: it, truth: pair.Truth.Yes, votes: make([]*bool, len(runs))}
				items[pair.Position] = at
				order = append(order, at)
			}
			says := pair.Verdict.Yes()
			at.votes[i] = &says
			weight, _ := doc.WeightOf(pair.Item)
			cross.Add(strings.Clone(pair.Item.Cluster), weight, pair.Truth.Yes, says)
		})
		if err != nil {
			return j, err
		}
		j.Judges = append(j.Judges, OneJudge{
			Party: Party(run), Name: judgeName(runs, i), Confusion: cross.Counts(),
			Agreement: cross.Agreement(stat.DefaultLevel), Kappa: cross.Kappa(stat.DefaultLevel),
		})
	}
	names := make([]string, len(runs))
	for i := range runs {
		names[i] = j.Judges[i].Name
	}
	votes := agree.NewVotes(names)
	for _, it := range order {
		votes.Add(it.item, it.votes, agree.Majority(it.votes), it.truth)
	}
	j.Votes = votes.Votes()
	return j, nil
}

// judgeName returns a name of the judge of a run that no other of the runs has: that of the
// judge, its model, or the run.
func judgeName(runs []store.Run, i int) string {
	for _, name := range []func(store.Run) string{
		func(r store.Run) string { return r.Judge.Name },
		func(r store.Run) string { return doc.Join(", ", r.Judge.Name, r.Model) },
	} {
		same := 0
		for _, r := range runs {
			if name(r) == name(runs[i]) {
				same++
			}
		}
		if same == 1 {
			return name(runs[i])
		}
	}
	return doc.Join(", ", runs[i].Judge.Name, runs[i].ID)
}

// Document lays out the comparison.
func (j Judges) Document() *doc.Document {
	d := &doc.Document{Title: fmt.Sprintf("%s versus people", words.Count(len(j.Judges), "judge"))}
	table := doc.Table{Columns: []doc.Column{
		doc.Col("judge"), doc.Est("agreement [95%]"), doc.Num("n"), doc.Est("kappa"),
		doc.Num("wrong accepted").InDetail(), doc.Num("right rejected").InDetail(),
	}}
	for _, one := range j.Judges {
		c := one.Confusion
		table.Rows = append(table.Rows, []doc.Cell{
			doc.T(one.Name), d.Share(one.Agreement), doc.N(c.N()), d.Coefficient(one.Kappa, 2), doc.N(c.FP), doc.N(c.FN),
		})
	}
	d.Add(doc.Section{ID: "judges", Blocks: []doc.Block{table}})
	text := "No labelled item has verdicts of all judges, so that nothing is known about what they are worth together."
	if j.Votes != nil {
		text = j.Votes.Worth("the majority")
		if n := j.Votes.Others; n > 0 {
			text += fmt.Sprintf(" Left out: %s without a verdict of all judges, or with an even split.", words.Count(n, "labelled item"))
		}
		d.Mark(j.Votes.Effective.Warnings...)
	}
	d.Add(doc.Section{ID: "votes", Blocks: []doc.Block{doc.Paragraph{Text: text}}})
	d.Mark("one judge was chosen as the best by the same labels, so that its difference from the majority has an interval for as many comparisons as there are judges")
	return d
}
