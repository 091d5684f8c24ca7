package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A set is a file of labelled items, or several that a pattern names.
type set struct {
	name, family, files string
	people              bool // people gave the labels, and not a model
}

// sets are the labelled sets whose responses can be judged again.
var sets = []set{
	{"human_evouna", "nq", "human_evouna/derived.jsonl.gz", true},
	{"human_cognee_hotpot", "hotpot", "human_cognee_hotpot/evals/old/*/*_huma*_eval.json", true},
	{"lme_cognitive_memory", "longmemeval", "lme_cognitive_memory/derived.jsonl.gz", false},
	{"lme_gemini_image_text", "longmemeval", "lme_gemini_image_text/derived.jsonl.gz", false},
	{"lme_mflow5", "longmemeval", "lme_mflow5/derived.jsonl", false},
	{"locomo_audit", "locomo", "locomo_audit/derived.jsonl.gz", false},
	{"locomo_memobase", "locomo", "locomo_memobase/derived.jsonl.gz", false},
	{"locomo_acb_raw", "locomo", "locomo_acb_raw/derived.jsonl.gz", false},
	{"locomo_core_raw", "locomo", "locomo_core_raw/derived.jsonl.gz", false},
	{"locomo_mflow5", "locomo", "locomo_mflow5/derived.jsonl.gz", false},
	{"zh_halluqa_gpt4judge", "halluqa", "zh_halluqa_gpt4judge/derived.jsonl.gz", false},
}

// adversarial is the run whose answers were all made wrong. Its items have that label,
// whatever a judge said about them.
const adversarial = "adversarial-v1"

// ReadSets reads the labelled sets under a folder. Row.From is the set, with the run where
// that matters.
func ReadSets(data string) ([]Row, error) {
	var rows []Row
	for _, s := range sets {
		files, err := filepath.Glob(filepath.Join(data, s.files))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s is not there", filepath.Join(data, s.files))
		}
		slices.Sort(files)
		for _, file := range files {
			list, err := ReadFile(file)
			if err != nil {
				return nil, err
			}
			for _, r := range list {
				wrong := strings.Contains(r.From, adversarial)
				r.Family, r.Right, r.From = s.family, r.Right && !wrong, s.name
				if wrong {
					r.From += " " + adversarial
				}
				rows = append(rows, r)
			}
		}
	}
	return rows, nil
}

// LeftOut returns the probability of each item by a model that was fitted to the items of
// other groups: other sets, or other families of sets that share their questions.
func (s *Sheet) LeftOut(set Settings, group func(Row) string) ([]float64, error) {
	probs := make([]float64, len(s.Rows))
	done := map[string]bool{}
	for _, r := range s.Rows {
		out := group(r)
		if done[out] {
			continue
		}
		done[out] = true
		m, err := s.Fit(func(i int) bool { return group(s.all[i]) != out }, set, .95)
		if err != nil {
			return nil, err
		}
		for i, r := range s.Rows {
			if group(r) == out {
				probs[i] = s.seen[i].Probability(m)
			}
		}
	}
	return probs, nil
}

func bySet(r Row) string    { return strings.TrimSuffix(r.From, " "+adversarial) }
func byFamily(r Row) string { return r.Family }
