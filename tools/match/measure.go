package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"deem/internal/agreement"
	"deem/internal/evidence"
)

// A Figure is what was measured on one set of items.
type Figure struct {
	Name      string
	N         int
	Agreement float64 // of the likelier label, on all items
	At95      float64 // share decided at 95% agreement, the surest first
	At97      float64
	ECE       float64
	Chance    float64 // the ECE that a perfectly calibrated judge shows on as many items, in the mean
	Decided   float64 // share that match decides with the limits of the program
	Agrees    float64 // its agreement there
	Accepts   float64 // share of all items that match/forced calls correct
	Sure      float64 // share of all items that match calls correct
	Open      int     // items that match does not decide
	Gap       float64 // the mean of their probabilities minus the share of them that is right
	Weak      int     // references of a few words to which the trees give 0.1 to 0.4
	WeakRight int     // how many of these responses the labeller calls right
}

// figure measures scores against labels.
func figure(name string, scored []Scored, right []bool) (Figure, error) {
	probs := make([]float64, len(scored))
	for i, s := range scored {
		probs[i] = s.P
	}
	drawn := make([]bool, len(probs))
	f := Figure{Name: name, N: len(probs), At95: Coverage(probs, right, .95), At97: Coverage(probs, right, .97)}
	ece, err := agreement.ECE(probs, right, nil, agreement.Binning{})
	if err != nil {
		return f, fmt.Errorf("%s: %w", name, err)
	}
	f.ECE = ece.Mean
	draw := rand.New(rand.NewPCG(1, 2))
	for range chanceDraws {
		for i, p := range probs {
			drawn[i] = draw.Float64() < p
		}
		ece, err := agreement.ECE(probs, drawn, nil, agreement.Binning{})
		if err != nil {
			return f, err
		}
		f.Chance += ece.Mean / chanceDraws
	}
	agree, decided, decidedAgree, accepts, sure := 0, 0, 0, 0, 0
	for i, p := range probs {
		yes := p >= .5
		accepts += count(yes)
		agree += count(yes == right[i])
		if scored[i].Decides {
			decided++
			decidedAgree += count(yes == right[i])
			sure += count(yes)
			continue
		}
		f.Open++
		f.Gap += p - number(right[i])
	}
	f.Gap /= float64(max(1, f.Open))
	n := float64(len(probs))
	f.Agreement, f.Decided, f.Accepts, f.Sure = float64(agree)/n, float64(decided)/n, float64(accepts)/n, float64(sure)/n
	f.Agrees = float64(decidedAgree) / float64(max(1, decided))
	return f, nil
}

// chanceDraws is how many times labels are drawn to see what chance does to the ECE.
const chanceDraws = 100

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A Judged item has what match sees in it, and the probability before the slopes.
type Judged struct {
	Set   string // the folder, and after a space the part of it
	Right bool
	evidence.Evidence
	P float64
}

// People judges the items of a file, each by a model that was fitted to the other folds of its
// questions. A set is what one system answered.
func People(name string) ([]Judged, error) {
	rows, err := ReadFile(name)
	if err != nil {
		return nil, err
	}
	sheet, err := NewSheet(rows)
	if err != nil {
		return nil, err
	}
	scored := sheet.Scores(sheet.HeldOut(Settings{}), evidence.Default().Accept)
	list := make([]Judged, len(rows))
	for i, r := range rows {
		list[i] = Judged{filepath.Base(filepath.Dir(name)) + " " + r.From, r.Right, sheet.seen[i], scored[i].P}
	}
	return list, nil
}

// others are the sets that the model was never fitted to. People gave the labels of the
// first, and models those of the rest.
var others = []string{
	"human_cognee_hotpot/evals/old/*/*_huma*_eval.json",
	"lme_cognitive_memory/derived.jsonl.gz",
	"lme_gemini_image_text/derived.jsonl.gz",
	"lme_mflow5/derived.jsonl",
	"locomo_audit/derived.jsonl.gz",
	"locomo_memobase/derived.jsonl.gz",
	"locomo_acb_raw/derived.jsonl.gz",
	"locomo_core_raw/derived.jsonl.gz",
	"locomo_mflow5/derived.jsonl.gz",
	"zh_halluqa_gpt4judge/derived.jsonl.gz",
}

// adversarial is the run whose answers were all made wrong. Its items have that label,
// whatever a judge said about them.
const adversarial = "adversarial-v1"

// Others judges the items of the sets that the trees were not fitted to.
func Others(data string) ([]Judged, error) {
	var judged []Judged
	m := evidence.Default()
	for _, pattern := range others {
		files, err := filepath.Glob(filepath.Join(data, pattern))
		if err != nil {
			return nil, err
		}
		set, _, _ := strings.Cut(pattern, "/")
		for _, file := range files {
			list, err := ReadFile(file)
			if err != nil {
				return nil, err
			}
			for _, r := range list {
				e := evidence.New(r.Item, m.Words.Weight)
				j := Judged{set, r.Right, e, e.Bounded(m.Probability(e.Numbers))}
				if r.From == adversarial {
					j.Set, j.Right = set+" "+adversarial, false
				}
				judged = append(judged, j)
			}
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s is not there", filepath.Join(data, pattern))
		}
	}
	return judged, nil
}

// measuredOnly is the folder that nothing is fitted to: it is not free for all uses.
const measuredOnly = "locomo_audit"

// FitSlopes fits the slopes to the items of all folders but one. The folders have the same
// weight, for each has a labeller of its own, and how labellers differ is what the slopes are
// for.
func FitSlopes(items []Judged, without string) evidence.Slopes {
	type point struct{ odds, right, weight float64 }
	var points [len(evidence.Slopes{})][]point
	sizes := map[string]float64{}
	for _, j := range items {
		sizes[j.folder()]++
	}
	for _, j := range items {
		if k, folder := j.Slope(j.P), j.folder(); k >= 0 && folder != without && folder != measuredOnly {
			points[k] = append(points[k], point{math.Log(j.P / (1 - j.P)), number(j.Right), perFolder / sizes[folder]})
		}
	}
	var slopes evidence.Slopes
	for k := range slopes {
		slope, step := 1.0, 1.0
		for math.Abs(step) > 1e-4 {
			// Newton's step for the logistic loss, with a weak pull towards 1.
			grad, curve := 1-slope, 1.0
			for _, q := range points[k] {
				p := 1 / (1 + math.Exp(-slope*q.odds))
				grad += q.weight * q.odds * (q.right - p)
				curve += q.weight * q.odds * q.odds * p * (1 - p)
			}
			step = grad / curve
			slope += step
		}
		slopes[k] = math.Round(100*slope) / 100
	}
	return slopes
}

func (j Judged) folder() string {
	folder, _, _ := strings.Cut(j.Set, " ")
	return folder
}

// perFolder is as how many items a folder counts.
const perFolder = 400

// Figures measures each set with slopes that were fitted to the other folders, and all sets
// together last.
func Figures(judged, fitted []Judged) ([]Figure, error) {
	var names []string
	sets := map[string][]Judged{}
	for _, j := range judged {
		if sets[j.Set] == nil {
			names = append(names, j.Set)
		}
		sets[j.Set] = append(sets[j.Set], j)
	}
	var list []Figure
	var all []Scored
	var allRight []bool
	weak, weakRight := 0, 0
	for _, name := range names {
		scored, right := scores(sets[name], FitSlopes(fitted, sets[name][0].folder()))
		f, err := figure(name, scored, right)
		if err != nil {
			return nil, err
		}
		for _, j := range sets[name] {
			if j.Slope(j.P) == 3 && j.P >= .1 && j.P <= .4 {
				f.Weak++
				f.WeakRight += count(j.Right)
			}
		}
		weak, weakRight = weak+f.Weak, weakRight+f.WeakRight
		list = append(list, f)
		all, allRight = append(all, scored...), append(allRight, right...)
	}
	f, err := figure("all", all, allRight)
	f.Weak, f.WeakRight = weak, weakRight
	return append(list, f), err
}

// scores returns what match says of items with the given slopes, and their labels.
func scores(items []Judged, slopes evidence.Slopes) ([]Scored, []bool) {
	scored, right := make([]Scored, len(items)), make([]bool, len(items))
	for i, j := range items {
		p := j.Sloped(j.P, slopes)
		scored[i], right[i] = Scored{p, j.Decides(p, evidence.Default())}, j.Right
	}
	return scored, right
}

// enough is how many undecided items a set has for its gap to say something.
const enough = 30

// Error returns the error of the probabilities of undecided items: the root mean square of
// the gaps of the sets, rounded up to hundredths, and how many sets there are. Sums over several
// sets do not count, and neither does the set of answers that were made wrong on purpose.
func Error(sets []Figure) (rms float64, n int) {
	sum := 0.0
	for _, f := range sets {
		if f.Open >= enough && !strings.HasSuffix(f.Name, "all") && !strings.HasSuffix(f.Name, "adversarial-v1") {
			sum += f.Gap * f.Gap
			n++
		}
	}
	return math.Ceil(100*math.Sqrt(sum/float64(max(1, n)))) / 100, n
}

// Results are what was measured on all sets.
type Results struct {
	People, Others []Figure
	Slopes         evidence.Slopes // fitted to all sets
	Error          float64
	Sets           int // that the error was measured on
	items          []Judged
}

// Measure measures match on the sets of a folder.
func Measure(data string) (*Results, error) {
	people, err := People(filepath.Join(data, "human_evouna/derived.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	others, err := Others(data)
	if err != nil {
		return nil, err
	}
	r := &Results{items: append(slices.Clone(people), others...)}
	if r.People, err = Figures(people, r.items); err != nil {
		return nil, err
	}
	if r.Others, err = Figures(others, r.items); err != nil {
		return nil, err
	}
	r.Slopes = FitSlopes(r.items, "")
	r.Error, r.Sets = Error(append(slices.Clone(r.People), r.Others...))
	return r, nil
}

// Page renders the figures.
func (r *Results) Page() string {
	var b strings.Builder
	m := evidence.Default()
	b.WriteString("# How good match is\n\n")
	fmt.Fprintf(&b, "Made by `make bench-match`. Model %s, %s; it accepts from %.2f and rejects up to %.2f. The gap is the mean probability of undecided items minus the share of them that is right; its root mean square over %d sets is %.2f, and the model says %.2f. The ECE has ten bins of equal width; by chance, a perfectly calibrated judge would show the one beside it.\n\n",
		m.Hash(), m.About, m.Accept, m.Reject, r.Sets, r.Error, m.Error)
	fmt.Fprintf(&b, "The slopes for a set are fitted to the other folders. Fitted to all folders they are %v, and the model says %v. Nothing is fitted to locomo_audit. Weak phrases are references of three to eight words to which the trees give a probability of 0.1 to 0.4: how many the labeller calls right shows how strict it is.\n\n", r.Slopes, m.Slopes)
	b.WriteString("## Against people\n\nEach question is judged by trees fitted to the other four fifths of the questions.\n\n")
	figureTable(&b, r.People)
	b.WriteString("\n## On sets that the trees were not fitted to\n\nPeople gave the labels of human_cognee_hotpot, and models those of the others, with their faults: they accept half of a list and answers on the topic. All answers of `adversarial-v1` were made wrong, and have that label.\n\n")
	figureTable(&b, r.Others)
	return b.String()
}

func figureTable(b *strings.Builder, list []Figure) {
	b.WriteString("| set | n | agreement | decided at 95% | at 97% | ECE | by chance | match decides | and agrees | accepts, forced | accepts | undecided | gap | weak phrases right |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, f := range list {
		fmt.Fprintf(b, "| %s | %d | %.4f | %.3f | %.3f | %.4f | %.4f | %.3f | %.4f | %.4f | %.4f | %d | %+.3f | %d of %d |\n",
			f.Name, f.N, f.Agreement, f.At95, f.At97, f.ECE, f.Chance, f.Decided, f.Agrees, f.Accepts, f.Sure, f.Open, f.Gap, f.WeakRight, f.Weak)
	}
}
