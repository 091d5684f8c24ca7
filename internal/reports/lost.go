package reports

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"

	"deem"
	"deem/internal/dataset"
	"deem/internal/doc"
	"deem/internal/reader"
	"deem/internal/store"
	"deem/internal/words"
	"deem/judge/match"
	"deem/stat"
)

// Lost says where the wrong answers of a reader lost the evidence, from the ids of the
// passages that contain the answer and those of the contexts.
type Lost struct {
	Wrong  int         `json:"wrong"`  // answers that were judged wrong
	Stages []LostStage `json:"stages"` // in the order of the way of the evidence
}

// A LostStage is a place on the way from the evidence to the verdict.
type LostStage struct {
	Stage    string        `json:"stage"`
	N        int           `json:"n"`
	Share    stat.Estimate `json:"share"`    // of the wrong answers
	Examples []string      `json:"examples"` // the ids of the first ten
}

// The stages. An answer is at the first one that fits.
const (
	LostUnknown   = "cannot tell"
	LostRetrieval = "not retrieved"
	LostBudget    = "over the budget"
	LostAnswer    = "not used"
	LostVerdict   = "disputed"
)

// lostStages are the stages with what they mean.
var lostStages = []struct{ stage, about string }{
	{LostRetrieval, "some passage of the evidence is not among the contexts"},
	{LostBudget, "all were retrieved, and the reader's budget left one out"},
	{LostAnswer, "all were shown to the reader, and its answer is wrong"},
	{LostVerdict, "all were shown, and the rule match finds the answer right"},
	{LostUnknown, "the evidence is not named, or the contexts have no ids of its kind"},
}

// A traced item compares the contexts of an item with its evidence.
type traced struct {
	item                deem.Item
	evidence, contexts  []string
	shown               int // how many of the contexts fit into the budget
	joined, cut, agreed bool
}

// withLost adds where wrong answers lost the evidence.
func (f Found) withLost(ctx context.Context, st store.Store) (Found, error) {
	spec := SpecOf(f.Run)
	if f.Report.Head.Reader == nil || len(spec.Members) < 2 {
		return f, nil
	}
	by, err := reader.FromSpec(spec.Members[0].Judge)
	if err != nil {
		return f, err
	}
	var wrong []traced
	named := false   // some item names its evidence
	related := false // some context has the id of evidence, so that the ids belong together
	rule := match.New()
	for rec, err := range st.Records(ctx, f.Run.ID, store.Query{Trial: new(int)}) {
		if err != nil {
			return f, err
		}
		w := traced{item: rec.Item}
		w.read(by)
		related = related || slices.ContainsFunc(w.contexts, func(id string) bool { return slices.Contains(w.evidence, id) })
		named = named || len(w.evidence) > 0
		if rec.Verdict == nil || rec.Answer == nil || rec.Verdict.Yes() {
			continue
		}
		w.item.Response = *rec.Answer
		v, err := rule.Judge(ctx, w.item)
		w.agreed = err == nil && v.Yes()
		wrong = append(wrong, w)
	}
	if !named || len(wrong) == 0 {
		return f, nil
	}
	f.Report.Lost = lostOf(wrong, related)
	return f, nil
}

// turnID is the id of a turn of LoCoMo, whose evidence has several in one text.
var turnID = regexp.MustCompile(`D\d+:\d+`)

// read compares the contexts of an item with its evidence.
func (w *traced) read(by *reader.Declaration) {
	for _, field := range []string{"gold_ids", "evidence"} {
		if text := w.item.Fields[field]; len(w.evidence) == 0 && json.Unmarshal([]byte(text), &w.evidence) != nil {
			w.evidence = nil // It is a text, and not a list of ids.
		}
	}
	var ids []string
	for _, e := range w.evidence {
		if turns := turnID.FindAllString(e, -1); len(turns) > 0 {
			ids = append(ids, turns...)
		} else {
			ids = append(ids, e)
		}
	}
	w.evidence = ids
	q, err := reader.QuestionOf(w.item)
	if err != nil {
		return
	}
	_, left, err := by.Joined(q)
	w.cut = err != nil || q.Cut == reader.CutEnd && by.Contexts.Tokens > 0
	w.shown = len(q.Contexts) - left
	for _, c := range q.Contexts {
		w.joined = w.joined || c.Joined || c.ID == ""
		w.contexts = append(w.contexts, sessionOf(c.ID, w.evidence))
	}
}

// sessionOf returns the session of a turn, if the evidence is sessions.
func sessionOf(id string, evidence []string) string {
	if list := dataset.Sessions([]string{id}, evidence); len(list) > 0 {
		return list[0]
	}
	return id
}

// stage returns where an answer lost the evidence. Ids say nothing unless some of the run's
// contexts are evidence.
func (w *traced) stage(related bool) string {
	lacks := func(list []string) bool {
		return slices.ContainsFunc(w.evidence, func(id string) bool { return !slices.Contains(list, id) })
	}
	switch {
	case !related || len(w.evidence) == 0 || w.joined:
		return LostUnknown
	case lacks(w.contexts):
		return LostRetrieval
	case w.cut:
		return LostUnknown
	case lacks(w.contexts[:w.shown]):
		return LostBudget
	case w.agreed:
		return LostVerdict
	}
	return LostAnswer
}

// lostOf counts the stages of wrong answers.
func lostOf(wrong []traced, related bool) *Lost {
	const most = 10
	lost := &Lost{Wrong: len(wrong)}
	at := make([]string, len(wrong))
	for i := range wrong {
		at[i] = wrong[i].stage(related)
	}
	for _, s := range lostStages {
		line := LostStage{Stage: s.stage, Examples: []string{}}
		var values stat.Clustered
		for i, w := range wrong {
			x := 0.0
			if at[i] == s.stage {
				x = 1
				line.N++
				if len(line.Examples) < most {
					line.Examples = append(line.Examples, w.item.ID)
				}
			}
			values.Add(w.item.Cluster, x, 1)
		}
		line.Share = values.Score(stat.DefaultLevel, false)
		lost.Stages = append(lost.Stages, line)
	}
	return lost
}

// AddTo adds the section to a report.
func (l *Lost) AddTo(d *doc.Document) {
	t := doc.Table{Columns: []doc.Column{doc.Col("stage"), doc.Num("answers"), doc.Est("share of the wrong"), doc.Col("meaning").OnPage(), doc.Col("items").InDetail()}}
	for i, s := range l.Stages {
		t.Rows = append(t.Rows, []doc.Cell{doc.T(s.Stage), doc.N(s.N), d.Share(s.Share), doc.T(lostStages[i].about), {IDs: s.Examples, More: s.N > len(s.Examples)}})
	}
	d.Add(doc.Section{ID: "lost", Title: "Where " + words.Count(l.Wrong, "wrong answer") + " lost the evidence", Blocks: []doc.Block{t}})
}
