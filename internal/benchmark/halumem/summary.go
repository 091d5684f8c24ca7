package halumem

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/words"
)

// A Summary contains the metrics of a run as data.
type Summary struct {
	Benchmark string `json:"benchmark"`
	Reading   string `json:"reading"`
	Items     int    `json:"items"`
	Unjudged  int    `json:"unjudged"`

	Metrics      []Figure `json:"metrics"`       // in the order of upstream's file
	MemoryTypes  []Figure `json:"memory_types"`  // named "Event Memory: memory_acc" and so on
	QuestionType []Figure `json:"question_type"` // not reported by upstream
	Difficulty   []Figure `json:"difficulty"`    // not reported by upstream

	Attribution Attribution                  `json:"attribution"`
	Failures    map[string]map[deem.Kind]int `json:"failures"` // by stage and kind
	Times       Times                        `json:"times"`
	Notes       []string                     `json:"notes"`
}

// A Figure is one metric of the benchmark. Upstream has two of each: over all items, where
// one without a verdict counts as wrong, and over the valid ones.
type Figure struct {
	Name  string `json:"name"`  // as in upstream's file, without "(all)" and "(valid)"
	Paper string `json:"paper"` // the name in the paper, or ""

	// Valid and All are null if the metric is withheld, and Withheld says why.
	Valid    *benchmark.Estimate `json:"valid"`
	All      *benchmark.Estimate `json:"all"`
	Withheld string              `json:"withheld,omitempty"`

	Items    int `json:"items"`
	Unjudged int `json:"unjudged"`

	// Band ranges from all unjudged items counting 0 to all counting 1. It is null
	// without items.
	Band *Band `json:"band"`
}

// A Band is a range that contains the value whatever the unjudged items would have been.
type Band struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// An Attribution says at which stages wrong answers went wrong.
type Attribution struct {
	Wrong  int    `json:"wrong"`
	Losses []Loss `json:"losses"`
}

// Times are sums in minutes, as in upstream. Null means unknown.
type Times struct {
	AddDialogue *float64 `json:"add_dialogue_minutes"`
	Search      *float64 `json:"search_minutes"`
}

// JSON returns the [Summary].
func (m *Metrics) JSON() any { return m.Summary() }

// Summary returns the metrics of the records so far.
func (m *Metrics) Summary() Summary {
	s := Summary{
		Benchmark: Name, Reading: m.reading,
		Metrics:     m.figures(),
		MemoryTypes: m.typeFigures(),
		Failures:    m.failures,
		Attribution: Attribution{Wrong: len(m.where.lost), Losses: m.where.losses()},
		Times:       Times{AddDialogue: minutes(m.times.adding, m.times.knowsAdding), Search: minutes(m.times.searching, m.times.knowsSearching)},
		Notes:       m.notes(),
	}
	for _, t := range []*scores{&m.recall, &m.resisted, &m.memories, m.updates[correct], m.questions[correct]} {
		s.Items += t.items
		s.Unjudged += t.items - t.judged
	}
	s.QuestionType = m.questionFigures(m.byKind)
	s.Difficulty = m.questionFigures(m.byHard)
	return s
}

func minutes(ms float64, known bool) *float64 {
	if !known {
		return nil
	}
	value := ms / 1000 / 60
	return &value
}

// figures returns the metrics of upstream's file in its order.
func (m *Metrics) figures() []Figure {
	w := &m.weighted
	weighted := Figure{Name: "weighted_recall", Paper: "weighted memory recall", Items: w.items, Unjudged: w.items - w.judged}
	list := []Figure{
		m.figure("recall", "memory recall", &m.recall),
		m.finish(weighted, &w.all, &w.valid, w.sum, w.weight, w.weight-w.judgedWeight),
		m.figure("interference_accuracy", "false memory resistance", &m.resisted),
		m.targetAccuracy(),
		m.figure("weighted_accuracy", "memory accuracy", &m.memories),
		m.f1(),
	}
	list = append(list, m.shares("", m.updates, updateLabels, updateRatios, "memory update ")...)
	return append(list, m.shares("", m.questions, qaLabels, qaRatios, "question answering ")...)
}

// The names of the ratios in upstream's file.
var (
	updateRatios = map[string]string{
		correct: "correct_update_memory_ratio", hallucination: "hallucination_update_memory_ratio",
		omission: "omission_update_memory_ratio", other: "other_update_memory_ratio",
	}
	qaRatios = map[string]string{
		correct: "correct_qa_ratio", hallucination: "hallucination_qa_ratio", omission: "omission_qa_ratio",
	}
)

func (m *Metrics) figure(name, paper string, t *scores) Figure {
	f := Figure{Name: name, Paper: paper, Items: t.items, Unjudged: t.items - t.judged}
	return m.finish(f, &t.all, &t.valid, t.sum, float64(t.items), float64(f.Unjudged))
}

// targetAccuracy returns the precision. It is unknown whether an unjudged memory would be
// in the denominator, so upstream leaves it out of both numbers. Unjudged is therefore the
// count of the whole stage.
func (m *Metrics) targetAccuracy() Figure {
	lost := m.memories.items - m.memories.judged
	f := Figure{Name: "target_accuracy", Paper: "target memory precision", Items: m.target.items + lost, Unjudged: lost}
	return m.finish(f, &m.target.valid, &m.target.valid, m.target.sum, float64(f.Items), float64(lost))
}

// finish fills in the estimates, or says why they are withheld. The band is computed from
// the sum of scores, its denominator, and the unjudged part of that.
func (m *Metrics) finish(f Figure, all, valid *benchmark.Clustered, sum, total, unjudged float64) Figure {
	if total > 0 {
		f.Band = &Band{Lo: sum / total, Hi: math.Min(1, (sum+unjudged)/total)}
	}
	switch limit := cmp.Or(m.MaxUnjudged, defaultMaxUnjudged); {
	case f.Items == 0:
		f.Withheld = "there is no such item; upstream divides by zero here"
	case float64(f.Unjudged) > limit*float64(f.Items):
		f.Withheld = fmt.Sprintf("%d of %d items are unjudged", f.Unjudged, f.Items)
	case valid.Moments().N() == 0:
		f.Withheld = "no judged item counts here; upstream divides by zero"
	default:
		f.All, f.Valid = m.estimate(all, benchmark.Level), m.estimate(valid, benchmark.Level)
	}
	return f
}

// clustered reports whether some user has two or more items.
func (m *Metrics) clustered() bool { return m.users.Moments().N() > m.users.Clusters() }

// estimate returns the mean of scores with the same interval as in a report.
func (m *Metrics) estimate(of *benchmark.Clustered, level float64) *benchmark.Estimate {
	est := of.Score(level, m.clustered())
	return &est
}

// f1 returns upstream's F1 of precision and recall. Its interval is derived from theirs at
// 97.5% each: F1 increases with both, so it covers both true values with at least 95%
// (Bonferroni), whatever the dependence between the two stages.
func (m *Metrics) f1() Figure {
	p, r := m.targetAccuracy(), m.figure("", "", &m.recall)
	f := Figure{Name: "memory_extraction_f1", Paper: "memory extraction F1", Items: p.Items + r.Items, Unjudged: p.Unjudged + r.Unjudged}
	if p.Band != nil && r.Band != nil {
		f.Band = &Band{Lo: f1Of(p.Band.Lo, r.Band.Lo), Hi: f1Of(p.Band.Hi, r.Band.Hi)}
	}
	if p.Withheld != "" || r.Withheld != "" {
		f.Withheld = "it is made of target_accuracy and recall, and one of them is withheld"
		return f
	}
	precision := m.estimate(&m.target.valid, jointLevel)
	f.All = joined(precision, m.estimate(&m.recall.all, jointLevel))
	f.Valid = joined(precision, m.estimate(&m.recall.valid, jointLevel))
	return f
}

// jointLevel is the level of two intervals that together have the default level.
const jointLevel = 1 - (1-benchmark.Level)/2

func joined(precision, recall *benchmark.Estimate) *benchmark.Estimate {
	est := benchmark.Estimate{
		Value: f1Of(precision.Value, recall.Value), Lo: f1Of(precision.Lo, recall.Lo), Hi: f1Of(precision.Hi, recall.Hi),
		Level: benchmark.Level, N: precision.N + recall.N, Clusters: max(precision.Clusters, recall.Clusters), Method: "bonferroni",
	}
	if precision.Method == benchmark.MethodNone || recall.Method == benchmark.MethodNone {
		est.Method = benchmark.MethodNone
	}
	for _, warning := range slices.Concat(precision.Warnings, recall.Warnings) {
		est = est.Warn(warning)
	}
	return &est
}

// f1Of returns the harmonic mean as upstream computes it, 0 if both are 0.
func f1Of(precision, recall float64) float64 {
	if precision+recall == 0 {
		return 0
	}
	return 2 * precision * recall / (precision + recall)
}

func (m *Metrics) shares(prefix string, c choice, labels []string, names map[string]string, paper string) []Figure {
	list := make([]Figure, len(labels))
	for i, label := range labels {
		title := ""
		if paper != "" {
			title = paper + label
		}
		list[i] = m.figure(prefix+names[label], title, c[label])
	}
	return list
}

// questionFigures returns the shares of each label for each group of questions.
func (m *Metrics) questionFigures(groups map[string]choice) []Figure {
	list := []Figure{}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		list = append(list, m.shares(orUnnamed(name)+": ", groups[name], qaLabels, qaRatios, "")...)
	}
	return list
}

// typeFigures returns three figures for each type of memory point: always those that
// upstream defines, then the others.
func (m *Metrics) typeFigures() []Figure {
	list := []Figure{}
	for _, name := range m.typeNames() {
		t := m.byType[name]
		if t == nil {
			t = &typeScores{}
		}
		for _, part := range []struct {
			name string
			of   *scores
		}{{"memory_integrity_acc", &t.integrity}, {"memory_update_acc", &t.update}, {"memory_acc", &t.both}} {
			list = append(list, m.figure(orUnnamed(name)+": "+part.name, "", part.of))
		}
	}
	return list
}

// typeNames returns the types of memory points.
func (m *Metrics) typeNames() []string {
	names := slices.Clone(memoryTypes)
	for _, name := range slices.Sorted(maps.Keys(m.byType)) {
		if !knownType(name) {
			names = append(names, name)
		}
	}
	return names
}

func orUnnamed(name string) string {
	if name == "" {
		return "(none)"
	}
	return name
}

// notes returns remarks for the reader of the metrics.
func (m *Metrics) notes() []string {
	var notes []string
	switch {
	case m.users.Clusters() == 1:
		notes = append(notes, "the items are about 1 user: how far users differ cannot be seen from one, so there is no interval")
	case m.clustered():
		notes = append(notes, "the items are about "+words.Count(m.users.Clusters(), "user")+", and the intervals allow for how far these differ, as those of the report do")
	}
	if m.weighted.without > 0 {
		notes = append(notes, words.Count(m.weighted.without, "memory point")+" without a number as importance left out of the weighted recall")
	}
	if m.recall.items > 0 && m.memories.items == 0 {
		notes = append(notes, noteNoExtraction)
	}
	if m.later > 0 {
		notes = append(notes, words.Count(m.later, "record")+" of later trials left out: judging an item again makes no new item")
	}
	if m.foreign > 0 {
		notes = append(notes, words.Count(m.foreign, "record")+" left out: the category or the label does not belong to this benchmark")
	}
	if m.reading == Fixed {
		notes = append(notes, "the fixed reading: omitted updates stay updates, and interference is not part of the memory types; not comparable with published numbers")
	}
	return notes
}
