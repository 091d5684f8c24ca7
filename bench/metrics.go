package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"
)

// sampled is how many items of each sort the rules judge.
const sampled = 300

// metrics are the judges without a model, each beside a bare count of words in common.
func metrics() workload {
	return workload{
		name: "rules, beside a bare count of words in common",
		once: func(ctx context.Context, l *lab) ([]value, error) {
			rules, err := l.rules(ctx)
			var values []value
			for _, r := range rules {
				values = append(values, value{
					measure{what: r.Rule, kind: processor},
					r.Ratio,
					fmt.Sprintf("%.1f µs / %.1f µs, %s", micros(r.Took), micros(r.Bare), r.Sort),
				})
			}
			return values, err
		},
	}
}

// A ruled is what one rule took, as bench/metrics writes it: the ratio of its time of the
// processor to that of the bare count, and the two for an item.
type ruled struct {
	Rule string        `json:"rule"`
	Sort string        `json:"sort"`
	Took time.Duration `json:"took"`
	Bare time.Duration `json:"bare"`

	Ratio  float64 `json:"ratio"`
	Judged int     `json:"judged"`
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// rules lets every rule judge the same items, and returns what each took.
func (l *lab) rules(ctx context.Context) ([]ruled, error) {
	data, err := l.sorts()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(filepath.Dir(self()), "bench-metrics")
	s, err := start(ctx, l.dir, program, "-data", data)
	if err != nil {
		return nil, err
	}
	var list []ruled
	if err := json.Unmarshal([]byte(s.out), &list); err != nil {
		return nil, fmt.Errorf("%s prints no JSON: %w", program, err)
	}
	for _, r := range list {
		if r.Judged != sampled {
			return nil, fmt.Errorf("the rule %s judged %d items, want %d", r.Rule, r.Judged, sampled)
		}
	}
	return list, nil
}

// sorts writes items of each sort that rules are made for: prose, short answers, and
// Chinese.
func (l *lab) sorts() (string, error) {
	return l.file("sorts.jsonl", 3*sampled, func(i int) string {
		switch i % 3 {
		case 0:
			it := english(i / 3)
			it.Category = "prose"
			return it.String()
		case 1:
			return short(i / 3).String()
		default:
			return chinese(i / 3).String()
		}
	})
}
