package reports

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/internal/reports/agree"
	"deem/internal/store"
	"deem/internal/words"
	"deem/stat"
)

// BridgeVersion is the version of the JSON form of a [Bridge].
const BridgeVersion = "deem.bridge/1"

// A Bridge carries scores from a judge that is retired to the one that replaces it: what
// either would say of all items, from those that both have judged.
type Bridge struct {
	Version string    `json:"version"` // "deem.bridge/1"
	Old     BridgeEnd `json:"old"`
	New     BridgeEnd `json:"new"`

	Items int `json:"items"` // judged by either
	Both  int `json:"both"`  // judged by both

	// Difference is the new score minus the old one, on the items that both have judged.
	Difference stat.Estimate `json:"difference"`

	// Planned is how wide the interval of the new score would be with this many calls, nil if
	// nobody asked.
	Planned *BridgePlan `json:"planned,omitempty"`

	// Drawn reports whether the items of the new judge were drawn by what the old one said.
	Drawn bool `json:"drawn"`

	Notes []string `json:"notes"`
}

// A BridgeEnd is one of the two judges.
type BridgeEnd struct {
	agree.Party
	Judged int `json:"judged"`

	// Score is what the judge would say of all items.
	Score agreement.Prediction `json:"score"`
}

// A BridgePlan is the width of an interval with a number of calls.
type BridgePlan struct {
	Calls int     `json:"calls"`
	Width float64 `json:"width"`
}

// NewBridge reads the verdicts of two runs, of which one is over a sample of the other's
// items. Items are the same if their texts are, and the trials of an item are averaged.
func NewBridge(ctx context.Context, st store.Store, was, is store.Run, calls int) (Bridge, error) {
	b := Bridge{Version: BridgeVersion, Old: BridgeEnd{Party: Party(was)}, New: BridgeEnd{Party: Party(is)}, Notes: []string{}}
	type item struct {
		cluster string
		weight  float64
		sum, n  [2]float64
	}
	items, order := map[string]*item{}, []*item{}
	for side, run := range []store.Run{was, is} {
		for rec, err := range st.Records(ctx, run.ID, store.Query{}) {
			if err != nil {
				return Bridge{}, err
			}
			if rec.Verdict == nil {
				continue
			}
			key := rec.Item.Hash()
			it, known := items[key]
			if !known {
				it = &item{cluster: rec.Item.Cluster, weight: cmp.Or(rec.Item.Weight, 1)}
				items[key] = it
				order = append(order, it)
			}
			x := rec.Verdict.Score
			if rec.Verdict.Pass != nil {
				x = agreement.Number(*rec.Verdict.Pass)
			}
			it.sum[side] += x
			it.n[side]++
		}
	}
	ends := [2]*BridgeEnd{&b.Old, &b.New}
	var difference stat.Clustered
	for _, it := range order {
		for side, end := range ends {
			if it.n[side] > 0 {
				end.Judged++
			}
		}
		if it.n[0] > 0 && it.n[1] > 0 {
			b.Both++
			difference.Add(it.cluster, it.sum[1]/it.n[1]-it.sum[0]/it.n[0], it.weight)
		}
	}
	b.Items = len(order)
	for side, end := range ends {
		complete := end.Judged == len(order)
		var list []agreement.Predicted
		for _, it := range order {
			p := agreement.Predicted{Cluster: it.cluster, Weight: it.weight, Truth: math.NaN()}
			switch {
			case it.n[1-side] > 0:
				p.Judge = it.sum[1-side] / it.n[1-side]
			case !complete:
				continue // Nothing is known about how the other judge would predict it.
			}
			if it.n[side] > 0 {
				p.Truth = it.sum[side] / it.n[side]
			}
			list = append(list, p)
		}
		end.Score = agreement.Predict(list, stat.DefaultLevel)
	}
	b.Difference = difference.Mean(stat.DefaultLevel, stat.Bounds{Lo: -1, Hi: 1})
	if calls > 0 {
		b.Planned = &BridgePlan{Calls: calls, Width: b.New.Score.Width(calls)}
	}
	if b.Both < min(b.Old.Judged, b.New.Judged) {
		b.Notes = append(b.Notes, "some items of either run are not in the other: only items that one judge has seen are carried over to the other")
	}
	return b, nil
}

// weak reports whether the other judge saves next to no calls: fewer than one in ten.
func (e BridgeEnd) weak() bool { return float64(e.Score.Calls()) < 1.1*float64(e.Score.Known) }

// Document returns the bridge for the terminal.
func (b Bridge) Document() *doc.Document {
	d := &doc.Document{Title: fmt.Sprintf("%s, judged by two judges", words.Count(b.Items, "item"))}
	table := doc.Table{Columns: []doc.Column{
		doc.Col("judge"), doc.Num("judged"), doc.Est("of all items [95%]"), doc.Est("its verdicts alone [95%]"),
	}}
	for _, end := range []BridgeEnd{b.Old, b.New} {
		name := end.Judge
		if end.Model != "" {
			name += " (" + end.Model + ")"
		}
		table.Rows = append(table.Rows, []doc.Cell{
			doc.T(name), doc.N(end.Judged),
			{Text: doc.Share(end.Score.Estimate), Marks: d.Mark(end.Score.Warnings...)},
			{Text: doc.Share(end.Score.Alone), Marks: d.Mark(end.Score.Alone.Warnings...)},
		})
	}
	d.Add(doc.Section{ID: "scores", Blocks: []doc.Block{table}})
	var text []string
	short, long := b.New, b.Old
	if b.Old.Judged < b.New.Judged {
		short, long = b.Old, b.New
	}
	switch {
	case short.Score.Method == stat.MethodNone:
		text = append(text, "Too few items have verdicts of both judges for an interval.")
	case short.Judged == long.Judged:
		text = append(text, "Both judges have seen all items: there is nothing to carry over.")
	case short.weak():
		text = append(text, fmt.Sprintf("%s is too weak to help: it says too little about the verdicts of %s. Judge more items with %s.", long.Judge, short.Judge, short.Judge))
	default:
		text = append(text, fmt.Sprintf("With the verdicts of %s, %s of %s are worth %s.", long.Judge,
			words.Count(short.Score.Known, "verdict"), short.Judge, words.Comma(short.Score.Calls())))
	}
	if b.Difference.Method != stat.MethodNone {
		text = append(text, fmt.Sprintf("On the %s that both have judged, %s scores %s than %s.", words.Count(b.Both, "item"), b.New.Judge, higher(b.Difference), b.Old.Judge))
	}
	if b.Planned != nil && b.New.Score.Method != stat.MethodNone {
		text = append(text, fmt.Sprintf("With %s of %s the interval would be about %.1f pp wide; now it is %.1f pp.", words.Count(b.Planned.Calls, "verdict"),
			b.New.Judge, 100*b.Planned.Width, 100*(b.New.Score.Hi-b.New.Score.Lo)))
	}
	var blocks []doc.Block
	for _, line := range text {
		blocks = append(blocks, doc.Paragraph{Text: line})
	}
	d.Add(doc.Section{ID: "worth", Blocks: blocks})
	d.Mark(b.Notes...)
	return d
}

// higher says how far a difference is from 0.
func higher(e stat.Estimate) string {
	word := "higher"
	if e.Value < 0 {
		word, e.Value, e.Lo, e.Hi = "lower", -e.Value, -e.Hi, -e.Lo
	}
	return fmt.Sprintf("%.1f pp %s %s", 100*e.Value, e.Ends("%.1f", 100), word)
}

// BridgeItems returns the items of a run that its judge decided, each with the verdict, and how
// many it did not decide.
func BridgeItems(ctx context.Context, st store.Store, was store.Run) (pairs []agree.Pair, undecided int, err error) {
	for trials, err := range byItem(Counted(ctx, st, was, store.Query{})) {
		if err != nil {
			return nil, 0, err
		}
		if p := agree.Judged(trials, 0); p.Verdict != nil {
			pairs = append(pairs, p)
		} else {
			undecided++
		}
	}
	return pairs, undecided, nil
}

// BridgeAnswers returns what the judge of a run says of its items, by the hash of their texts.
func BridgeAnswers(ctx context.Context, st store.Store, is store.Run) (map[string]*agree.Truth, error) {
	answers := map[string]*agree.Truth{}
	for trials, err := range byItem(Counted(ctx, st, is, store.Query{})) {
		if err != nil {
			return nil, err
		}
		if t := agree.TruthOf(trials); t != nil {
			answers[trials[0].Item.Hash()] = t
		}
	}
	return answers, nil
}

// DrawnBridge returns the bridge from the judge of a run to that of another, which was called
// for the items that b chose.
func DrawnBridge(was, is store.Run, b *agree.Bridge, undecided int) Bridge {
	score := b.Score(agree.Options{})
	old := b.Raw()
	all := Bridge{
		Version: BridgeVersion, Items: score.Items, Both: score.Known, Notes: []string{}, Drawn: true,
		Old:        BridgeEnd{Party: Party(was), Judged: score.Items, Score: agreement.Prediction{Estimate: old, Alone: old, Known: score.Items, Items: score.Items}},
		New:        BridgeEnd{Party: Party(is), Judged: score.Known, Score: score},
		Difference: stat.NoInterval(score.Value-old.Value, score.Known, stat.DefaultLevel, stat.Bounds{Lo: -1, Hi: 1}, "the items were drawn with unequal probabilities"),
	}
	if undecided > 0 {
		all.Notes = append(all.Notes, fmt.Sprintf("%s that %s did not judge are left out", words.Count(undecided, "item"), all.Old.Judge))
	}
	return all
}
