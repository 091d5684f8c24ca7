package reports

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"deem/internal/doc"
	"deem/internal/reader"
	"deem/internal/reports/compare"
	"deem/internal/store"
	"deem/internal/words"
	"deem/report"
	"deem/stat"
)

// FloorVersion is the version of the JSON form of a [Floor].
const FloorVersion = "deem.floor/1"

// A Floor says how much the scores of a benchmark say about a memory system: what a reader
// scores without a system, and what it scores if it is shown the evidence.
type Floor struct {
	Version   string `json:"version"`
	Dataset   string `json:"dataset"`
	Judge     string `json:"judge"`
	JudgeHash string `json:"judge_hash"`

	Arms []Arm `json:"arms"` // in the order in which they were run

	// Lowest is the arm without a system that scores highest, and Ceiling what the evidence
	// scores. They are null if no such arm has a score.
	Lowest  *Arm `json:"floor"`
	Ceiling *Arm `json:"ceiling"`

	// Key is the highest score that a system with correct answers can reach with the known
	// errors of the answer key. It is null without a list of errors.
	Key *stat.Estimate `json:"ceiling_of_key"`

	// Spread is the ceiling minus the floor, paired by item. It is null without both.
	Spread *stat.Estimate `json:"spread"`

	// Detectable is the smallest difference between two systems that these items can show, if
	// their scores vary as those of the ceiling do, or else of the floor.
	Detectable *report.Detectable `json:"detectable"`
}

// An Arm is one run of a floor.
type Arm struct {
	Arm    string         `json:"arm"`
	Run    string         `json:"run"`
	Reader *report.Reader `json:"reader"`

	// Score is null if it is withheld, because too many items are unjudged.
	Score    *stat.Estimate `json:"score"`
	Items    int            `json:"items"`
	Unjudged int            `json:"unjudged"`
	Micros   int64          `json:"cost_micros"`
}

// floorArms are the arms that give a reader nothing of what it needs.
var floorArms = []string{reader.ArmNone, reader.ArmRefuse, reader.ArmShuffle}

// NewFloor makes a card of the runs of arms. The errata may be nil.
func NewFloor(ctx context.Context, st store.Store, arms []Found, errata *ErrataReport, o compare.Options) (*Floor, error) {
	head := arms[0].Report.Head
	f := &Floor{Version: FloorVersion, Dataset: head.Dataset, Judge: head.Judge, JudgeHash: head.JudgeHash}
	var low, high *Found
	for i := range arms {
		found := &arms[i]
		arm := armOf(*found)
		f.Arms = append(f.Arms, arm)
		switch {
		case arm.Score == nil:
		case arm.Arm == reader.ArmOracle:
			f.Ceiling, high = &arm, found
		case slices.Contains(floorArms, arm.Arm) && (f.Lowest == nil || arm.Score.Value > f.Lowest.Score.Value):
			f.Lowest, low = &arm, found
		}
	}
	if errata != nil {
		f.Key = &errata.Overall.Ceiling
	}
	if like := cmp.Or(high, low); like != nil { // Scores vary as those of a system do.
		f.Detectable = like.Report.Detectable
	}
	if low == nil || high == nil {
		return f, nil
	}
	o.Anyway = true // The arm of a refusal asks another model, or none.
	b, err := Compare(ctx, st, []Compared{{Run: low.Run, Name: f.Lowest.Arm}, {Run: high.Run, Name: f.Ceiling.Arm}}, nil, o)
	if err != nil {
		return nil, err
	}
	if c := b.Comparison(); len(c.Pairs) > 0 {
		f.Spread = c.Pairs[0].Overall.Estimate
	}
	return f, nil
}

func armOf(f Found) Arm {
	r := f.Report
	a := Arm{Arm: r.Head.Reader.Arm, Run: f.Run.ID, Reader: r.Head.Reader, Items: r.Items, Unjudged: r.Unjudged, Micros: r.Calls.CostMicros}
	if len(r.Metrics) > 0 {
		a.Score = r.Metrics[0].Judged
	}
	return a
}

// armWords say what an arm shows the reader.
var armWords = map[string]string{
	reader.ArmNone:    "no contexts",
	reader.ArmRefuse:  "no contexts, always the same refusal",
	reader.ArmShuffle: "the contexts of another question",
	reader.ArmOracle:  "the evidence",
	reader.ArmFull:    "the whole history",
}

// Document returns the card.
func (f *Floor) Document() *doc.Document {
	d := &doc.Document{Title: doc.Join(" · ", "floor of "+f.Dataset, "judge "+f.Judge, words.Count(f.Arms[0].Items, "item"))}
	var tiles doc.Tiles
	add := func(name, about string, est *stat.Estimate, show func(stat.Estimate) (string, string)) {
		if est == nil {
			tiles = append(tiles, doc.Tile{Name: name, Value: doc.Absent(true), About: about, Tone: doc.Warning})
			return
		}
		value, ends := show(*est)
		tiles = append(tiles, doc.Tile{Name: name, Value: value, Interval: ends, About: about})
	}
	share := func(e stat.Estimate) (string, string) { return doc.Percent(e.Value), e.Ends("%.1f", 100) }
	points := func(e stat.Estimate) (string, string) {
		return fmt.Sprintf("%+.1f pp", 100*e.Value), e.Ends("%+.1f", 100)
	}
	score := func(a *Arm) *stat.Estimate {
		if a == nil {
			return nil
		}
		return a.Score
	}
	about := "arms without the system: none, refuse, shuffle"
	if f.Lowest != nil {
		about = "arm " + f.Lowest.Arm + ": a score below it shows nothing of a system"
	}
	add("floor", about, score(f.Lowest), share)
	if f.Ceiling != nil {
		add("ceiling", "arm oracle: the reader is shown the evidence", score(f.Ceiling), share)
	}
	if f.Key != nil {
		add("key", "a system that answers everything right, with the known errors of the key", f.Key, share)
	}
	if f.Spread != nil {
		add("spread", "ceiling minus floor, paired by item", f.Spread, points)
	}
	for _, a := range f.Arms {
		if a.Arm == reader.ArmRefuse {
			add("refuser", "a system that refuses every question", a.Score, share)
		}
	}
	blocks := []doc.Block{tiles}
	if f.Detectable != nil {
		blocks = append(blocks, doc.Paragraph{Text: words.UpperFirst(f.Detectable.String()) + "."})
	}
	d.Sections = append(d.Sections, doc.Section{ID: "score", Blocks: blocks}, doc.Section{ID: "arms", Title: "Arms", Blocks: []doc.Block{f.table()}})
	if by := f.readerOf(); by != nil {
		d.Sections = append(d.Sections, doc.Section{Blocks: []doc.Block{doc.Paragraph{Text: words.UpperFirst(by.Fixed()) + "."}}})
	}
	return d
}

// table lists the arms.
func (f *Floor) table() doc.Table {
	t := doc.Table{
		Columns: []doc.Column{doc.Col("arm"), doc.Col("shown"), doc.Est("score"), doc.Num("tokens"), doc.Num("unjudged").InDetail(), doc.Num("cost").InDetail(), doc.Col("run").InDetail()},
		Draw:    &doc.Draw{Column: 2, Include: []float64{0, 1}},
	}
	for _, a := range f.Arms {
		cell := doc.T(doc.Absent(true))
		if a.Score != nil {
			cell = doc.Cell{Text: doc.Share(*a.Score), Estimate: a.Score}
		}
		t.Rows = append(t.Rows, []doc.Cell{
			doc.T(a.Arm), doc.T(armWords[a.Arm]), cell, doc.N(int(a.Reader.Tokens + 0.5)), doc.N(a.Unjudged),
			doc.T(words.Dollars(a.Micros)),
			{Text: a.Run, Link: doc.Link{Run: a.Run}},
		})
	}
	return t
}

// readerOf returns the reader of the arms, without a refusal.
func (f *Floor) readerOf() *report.Reader {
	for _, a := range f.Arms {
		if a.Arm != reader.ArmRefuse {
			return a.Reader
		}
	}
	return nil
}

// noteFloors adds a note for each arm without a system that scores more than the run, with
// the same questions, judge and reader.
func (f Found) noteFloors(ctx context.Context, st store.Store) (Found, error) {
	by := f.Report.Head.Reader
	if by == nil || by.Arm != "" || len(f.Report.Metrics) == 0 || f.Report.Metrics[0].Judged == nil {
		return f, nil
	}
	score := *f.Report.Metrics[0].Judged
	noted := map[string]bool{}
	for run, err := range st.Runs(ctx) {
		if err != nil {
			return f, err
		}
		arm := SettingsOf(run.Spec).Reader
		switch {
		case arm == nil || !slices.Contains(floorArms, arm.Arm) || noted[arm.Arm] || run.State != store.Done:
			continue
		case arm.Questions != by.Questions || GraderHash(run) != f.Report.Head.JudgeHash:
			continue
		case arm.Hash != by.Hash && arm.Arm != reader.ArmRefuse: // Every reader refuses alike.
			continue
		}
		floor, err := Of(ctx, st, run, Options{MaxUnjudged: report.DefaultMaxUnjudged})
		if err != nil {
			return f, err
		}
		low := armOf(floor).Score
		if low == nil || low.Value <= score.Value {
			continue
		}
		noted[arm.Arm] = true
		f.Report.Notes = slices.Insert(f.Report.Notes, 0, fmt.Sprintf("the score is below a floor: %s is less than the %s of arm %s (%s), with the same questions, judge and reader, in run %s",
			doc.Share(score), doc.Share(*low), arm.Arm, armWords[arm.Arm], run.ID))
	}
	return f, nil
}
