package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"deem/judge/match"
	"deem/stat"
)

// A Figure is what was measured on one set of items.
type Figure struct {
	Name      string
	N         int
	Agreement float64 // of the likelier label, on all items
	At95      float64 // share decided at 95% agreement, the surest first
	At97      float64
	ECE       float64
	Decided   float64 // share that match decides with the limits of the program
	Agrees    float64 // its agreement there
	Accepts   float64 // share of all items that match/forced calls correct
	Sure      float64 // share of all items that match calls correct
	Open      int     // items that match does not decide
	Gap       float64 // the mean of their probabilities minus the share of them that is right
}

// figure measures scores against labels.
func figure(name string, scored []Scored, right []bool) (Figure, error) {
	probs := make([]float64, len(scored))
	for i, s := range scored {
		probs[i] = s.P
	}
	f := Figure{Name: name, N: len(probs), At95: Coverage(probs, right, .95), At97: Coverage(probs, right, .97)}
	ece, err := stat.ECE(probs, right, stat.Binning{})
	if err != nil {
		return f, fmt.Errorf("%s: %w", name, err)
	}
	f.ECE = ece.Mean
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

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// HeldOut measures match on the questions of a file, each by a model that was fitted
// to the other folds of it: per system, and all together last.
func HeldOut(name string) ([]Figure, error) {
	rows, err := ReadFile(name)
	if err != nil {
		return nil, err
	}
	sheet, err := NewSheet(rows)
	if err != nil {
		return nil, err
	}
	return bySystem(rows, sheet.Scores(sheet.HeldOut(Settings{}), match.Default().Accept))
}

func bySystem(rows []Row, scored []Scored) ([]Figure, error) {
	var names []string
	index := map[string][]int{}
	for i, r := range rows {
		if index[r.From] == nil {
			names = append(names, r.From)
		}
		index[r.From] = append(index[r.From], i)
		index["all"] = append(index["all"], i)
	}
	var list []Figure
	if len(names) > 1 {
		names = append(names, "all")
	}
	for _, name := range names {
		var part []Scored
		var right []bool
		for _, i := range index[name] {
			part, right = append(part, scored[i]), append(right, rows[i].Right)
		}
		f, err := figure(name, part, right)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
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

// Others measures the model of the program on sets that it was not fitted to.
func Others(data string) ([]Figure, error) {
	var rows []Row
	var scored []Scored
	m := match.Default()
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
				e := match.NewEvidence(r.Item, &m.Words)
				p := e.Probability(m)
				scored = append(scored, Scored{p, e.Decides(p, m)})
				if r.From == adversarial {
					r.From, r.Right = set+" "+adversarial, false
				} else {
					r.From = set
				}
				rows = append(rows, r)
			}
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s is not there", filepath.Join(data, pattern))
		}
	}
	return bySystem(rows, scored)
}

// enough is how many undecided items a set has for its gap to say something.
const enough = 30

// Error returns the error of the probabilities of undecided items: the root mean square of
// the gaps of the sets, rounded up to hundredths. Sums over several sets do not count, and
// neither does the set of answers that were made wrong on purpose.
func Error(sets []Figure) float64 {
	sum, n := 0.0, 0
	for _, f := range sets {
		if f.Open >= enough && !strings.HasSuffix(f.Name, "all") && !strings.HasSuffix(f.Name, "adversarial-v1") {
			sum += f.Gap * f.Gap
			n++
		}
	}
	return math.Ceil(100*math.Sqrt(sum/float64(max(1, n)))) / 100
}

// Page renders the figures.
func Page(people, others []Figure) string {
	var b strings.Builder
	m := match.Default()
	b.WriteString("# How good match is\n\n")
	fmt.Fprintf(&b, "Made by `make bench-match`. Model %s, %s; it accepts from %.2f and rejects up to %.2f. The gap is the mean probability of undecided items minus the share of them that is right; its root mean square over the sets is %.2f, and the model says %.2f.\n\n",
		m.Hash(), m.About, m.Accept, m.Reject, Error(append(slices.Clone(people), others...)), m.Error)
	b.WriteString("## Against people\n\nEach question is judged by a model fitted to the other four fifths of the questions.\n\n")
	figureTable(&b, people)
	b.WriteString("\n## On sets that it was not fitted to\n\nPeople gave the labels of human_cognee_hotpot, and models those of the others, with their faults: they accept half of a list and answers on the topic. All answers of `adversarial-v1` were made wrong, and have that label.\n\n")
	figureTable(&b, others)
	return b.String()
}

func figureTable(b *strings.Builder, list []Figure) {
	b.WriteString("| set | n | agreement | decided at 95% | at 97% | ECE | match decides | and agrees | accepts, forced | accepts | undecided | gap |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, f := range list {
		fmt.Fprintf(b, "| %s | %d | %.4f | %.3f | %.3f | %.4f | %.3f | %.4f | %.4f | %.4f | %d | %+.3f |\n",
			f.Name, f.N, f.Agreement, f.At95, f.At97, f.ECE, f.Decided, f.Agrees, f.Accepts, f.Sure, f.Open, f.Gap)
	}
}
