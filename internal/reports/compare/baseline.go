package compare

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// A Saved is a baseline from a file: a run's numbers without its items.
type Saved struct {
	Side   Side
	Metric string
}

// reportFile is the part of a report's JSON that a baseline needs.
type reportFile struct {
	Version string `json:"version"`
	Head    struct {
		Run         string `json:"run"`
		Judge       string `json:"judge"`
		JudgeHash   string `json:"judge_hash"`
		Reading     string `json:"reading"`
		Model       string `json:"model"`
		Dataset     string `json:"dataset"`
		DatasetHash string `json:"dataset_hash"`
		Items       int    `json:"items"`
		Trials      int    `json:"trials"`
		Complete    bool   `json:"complete"`
	} `json:"head"`
	Metrics    []reportFigures `json:"metrics"`
	Categories []reportFigures `json:"categories"`
	System     []doc.Sum       `json:"system_under_test"`
}

type reportFigures struct {
	Figures
	Name   string `json:"name"`
	Metric string `json:"metric"`
}

// ReadBaseline reads a report written by "deem report --json", or a comparison written by
// "deem compare --json", in which case its baseline is used.
func ReadBaseline(r io.Reader) (Saved, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return Saved{}, err
	}
	var file reportFile
	if err := json.Unmarshal(text, &file); err != nil {
		return Saved{}, fmt.Errorf("this is not a report: %w", err)
	}
	var s Saved
	switch file.Version {
	case Version:
		var c Comparison
		if err := json.Unmarshal(text, &c); err != nil {
			return Saved{}, fmt.Errorf("this is not a comparison: %w", err)
		}
		if len(c.Runs) == 0 {
			return Saved{}, errors.New("this comparison has no run")
		}
		s = Saved{Side: c.Runs[0], Metric: c.Metric}
	case "deem.report/1":
		if len(file.Metrics) == 0 {
			return Saved{}, errors.New("this report has no number")
		}
		h := file.Head
		s.Metric = file.Metrics[0].Metric
		s.Side.Run = Run{
			Name: h.Run, Run: h.Run, Judge: h.Judge, JudgeHash: h.JudgeHash, Reading: h.Reading, Model: h.Model,
			Dataset: h.Dataset, DatasetHash: h.DatasetHash, DatasetItems: h.Items, Trials: h.Trials, Complete: h.Complete,
		}
		s.Side.Figures, s.Side.Categories, s.Side.System = file.Metrics[0].figures(), []Figures{}, file.System
		for _, c := range file.Categories {
			s.Side.Categories = append(s.Side.Categories, c.figures())
		}
	default:
		return Saved{}, deem.WithHint(fmt.Errorf("this is not a report, but %q", doc.Clip(file.Version, 32)),
			"deem report RUN --json writes one")
	}

	// A difference from impossible numbers, and a gate on it, would be meaningless.
	for _, f := range append([]Figures{s.Side.Figures}, s.Side.Categories...) {
		if !possible(f.Strict) || f.Judged != nil && !possible(*f.Judged) || f.Unjudged < 0 || f.Items < f.Unjudged {
			return Saved{}, fmt.Errorf("this is not a report: the numbers of %q are impossible", doc.Clip(cmp.Or(f.Category, "overall"), 32))
		}
	}
	return s, nil
}

// possible reports whether an estimate is a valid score: the value is within its interval,
// and the interval is within 0 and 1.
func possible(est stat.Estimate) bool {
	return est.Lo >= 0 && est.Lo <= est.Value && est.Value <= est.Hi && est.Hi <= 1 && est.N >= 0
}

func (f reportFigures) figures() Figures {
	f.Category = f.Name
	return f.Figures
}

// Against compares runs with a saved baseline. The items of the baseline are not available,
// so nothing can be paired: the intervals are those of two independent lists of items,
// which are wider than paired ones, and there is no ranking. It is an error if the baseline
// has a different metric.
//
// The interval of a difference is combined from the intervals of both sides, whatever their
// method (G. Y. Zou and A. Donner, "Construction of confidence limits about effect
// measures: a general approach", Statistics in Medicine 27 (2008), 1693-1702). For two
// proportions it is Newcombe's.
func (b *Builder) Against(base Saved) (Comparison, error) {
	c := b.Comparison()
	if base.Metric != c.Metric {
		return c, fmt.Errorf("the baseline is a %s and the run has a %s", base.Metric, c.Metric)
	}
	c.Unpaired = "the baseline is a saved report without items: nothing is paired"
	runs := []Run{base.Side.Run}
	list := []Finding{{Level: Warning, Kind: KindUnpaired, Message: "the baseline is a saved report: whether its items, references and categories are the same is not known"}}
	for _, s := range c.Runs {
		runs = append(runs, s.Run)
		if s.Items != base.Side.Items {
			list = append(list, Finding{Level: Error, Kind: KindItems, Message: fmt.Sprintf("%s has %s and %s has %s",
				base.Side.called(), words.Count(base.Side.Items, "item"), s.called(), words.Comma(s.Items))})
		}
	}
	if !base.Side.Complete {
		list = append(list, Finding{Level: Warning, Kind: KindIncomplete, Message: base.Side.called() + " was not complete when it was saved"})
	}
	list = append(list, c.Lint...)
	for _, f := range lintRuns(runs) {
		if f.Kind != KindEndpoint { // a report does not contain the endpoint of the model
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(x, y Finding) int { return strings.Compare(x.Level, y.Level) })
	c.Lint = list
	c.Runs = append([]Side{base.Side}, c.Runs...)
	c.Frontiers = frontiers(c.Runs)
	c.Items = Items{Missing: []Named{}}
	c.Ranking, c.Pairs = nil, []Pair{}
	c.Refused = !b.opts.Anyway && slices.ContainsFunc(c.Lint, func(f Finding) bool { return f.Level == Error })
	if c.Hold == nil && base.Side.Judged == nil {
		c.Hold = &Hold{Reason: "the baseline has no score", Run: base.Side.Name, Unjudged: base.Side.Unjudged, Items: base.Side.Items, Limit: b.opts.MaxUnjudged}
	}
	if !c.Refused {
		c.Pairs = b.unpairedPairs(c)
	}
	c.Notes = slices.DeleteFunc([]string{
		noteAnyway(c),
		noteCategories(c),
		noteMargin(c),
		"items are not paired, so only large differences can be established: with the baseline's run in the store they would be",
	}, func(s string) bool { return s == "" })
	return c, nil
}

// unpairedPairs returns the differences of the runs from a saved baseline.
func (b *Builder) unpairedPairs(c Comparison) []Pair {
	base := c.Runs[0]
	pairs := []Pair{}
	var overall []*found
	for j, run := range c.Runs[1:] {
		d := b.unpaired(base.Figures, run.Figures, c)
		overall = append(overall, &d)
		p := Pair{Second: j + 1, Categories: []Difference{}, Won: Flips{First: []Flip{}}, Lost: Flips{First: []Flip{}}}
		var list []*found
		for _, f := range run.Categories {
			if at := slices.IndexFunc(base.Categories, func(g Figures) bool { return g.Category == f.Category }); at >= 0 {
				d := b.unpaired(base.Categories[at], f, c)
				d.Category = f.Category
				list = append(list, &d)
			}
		}
		b.settle(list, true)
		for _, d := range list {
			p.Categories = append(p.Categories, d.Difference)
		}
		pairs = append(pairs, p)
	}
	b.settle(overall, false)
	for i, d := range overall {
		pairs[i].Overall = d.Difference
	}
	return pairs
}

// unpaired returns the difference of two runs whose items are not paired.
func (b *Builder) unpaired(base, run Figures, c Comparison) found {
	strict := func(level float64) stat.Estimate { return stat.Difference(run.Strict, base.Strict, level) }
	d := Difference{Unjudged: base.Unjudged + run.Unjudged, Strict: strict(b.opts.Level), Detectable: 1}
	if c.Hold != nil || base.Judged == nil || run.Judged == nil {
		return found{Difference: d}
	}
	at := func(level float64) stat.Estimate { return stat.Difference(*run.Judged, *base.Judged, level) }
	est, test := at(b.opts.Level), stat.DifferenceTest(*run.Judged, *base.Judged)
	if x, y := counts(*run.Judged), counts(*base.Judged); binary(c.Metric) && x != nil && y != nil {
		test = stat.WelchTest(x, y)
		if len(test.Warnings) > 0 { // neither varies, so that 0% and 100% would count as equal
			test = stat.FisherExact(stat.Stratum{K1: ones(x), N1: len(x), K2: ones(y), N2: len(y)})
		}
		d.Detectable = stat.MinDetectableTwo(min(len(x), len(y)), base.Judged.Value, b.opts.Level, stat.DefaultPower)
	}
	d.First, d.Second, d.N, d.Estimate, d.Test = base.Judged.Value, run.Judged.Value, est.N, &est, &test
	return found{Difference: d, at: at, strict: strict, oneSided: at}
}

// ones counts the ones in a list of zeros and ones.
func ones(list []float64) int {
	n := 0
	for _, x := range list {
		n += int(x)
	}
	return n
}

// counts returns the zeros and ones of a proportion. It returns nil if items had weights,
// clusters or trials, because the proportion does not determine them.
func counts(est stat.Estimate) []float64 {
	if est.EffectiveN != 0 || est.SE != 0 || est.Clusters != 0 || est.N > 10_000_000 || est.N < 1 {
		return nil
	}
	list := make([]float64, est.N)
	for i := range int(math.Round(math.Min(math.Max(est.Value, 0), 1) * float64(est.N))) {
		list[i] = 1
	}
	return list
}
