package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestStand(t *testing.T) {
	b := baseline{Ratios: map[string]float64{"a": 2}}
	for _, tt := range []struct {
		name string
		now  float64
		want standing
		bad  bool
	}{
		{"a", 2, same, false},
		{"a", 2.28, same, false}, // 14 percent
		{"a", 2.32, worse, true}, // 16 percent
		{"a", 1.8, same, false},
		{"a", 1, better, false},
		{"b", 9, unknown, false},
	} {
		if got := b.stand(tt.name, tt.now); got != tt.want || got.bad() != tt.bad {
			t.Errorf("stand(%s, %v) = %s, bad %v, want %s, %v", tt.name, tt.now, got, got.bad(), tt.want, tt.bad)
		}
	}
	if !lost.bad() {
		t.Error("a ratio that is measured no more is not bad")
	}
	if got := b.missing(map[string]float64{"b": 1}); !slices.Equal(got, []string{"a"}) {
		t.Errorf("missing = %v, want a", got)
	}
}

// told is a guard that measures what it is told, one list of values for each time it is
// asked, and the last one again when there are no more.
func told(times *int, lists ...[]float64) guard {
	return guard{"told", func(context.Context, *lab) ([]value, error) {
		list := lists[min(*times, len(lists)-1)]
		*times++
		var vs []value
		for i, x := range list {
			vs = append(vs, value{measure{what: string(rune('a' + i))}, x, ""})
		}
		return vs, nil
	}}
}

// TestHold holds what the job stands for: a ratio that is worse each time fails it, one
// that was worse by chance does not, and a machine that nobody measured fails nothing.
func TestHold(t *testing.T) {
	this, other := thisMachine(), thisMachine()
	other.Go = "go1.1"
	ratios := map[string]float64{"a": 1, "b": 2}
	for _, tt := range []struct {
		name    string
		machine machine
		lists   [][]float64
		asked   int
		err     string
		says    string
	}{
		{"the same", this, [][]float64{{1, 2}}, 1, "", "+0.0%  same"},
		{"14 percent", this, [][]float64{{1.14, 2}}, 1, "", "+14.0%  same"},
		{"16 percent", this, [][]float64{{1.16, 2}}, 3, "1 of 2 ratios are worse", "+16.0%  WORSE"},
		{"both", this, [][]float64{{1.3, 2.6}}, 3, "2 of 2 ratios are worse", "WORSE"},
		{"better", this, [][]float64{{0.5, 2}}, 1, "", "-50.0%  better"},
		{"worse once", this, [][]float64{{1.4, 2}, {1.1, 9}}, 2, "", "+10.0%  same"},
		{"worse twice", this, [][]float64{{1.4, 2}, {1.3, 2}, {1.0, 2}}, 3, "", "+0.0%  same"},
		{"each worse in its turn", this, [][]float64{{1.4, 2}, {1, 3}, {1, 3}}, 2, "", "+0.0%  same"},
		{"one is gone", this, [][]float64{{1}}, 1, "1 of 2 ratios", "LOST"},
		{"one more", this, [][]float64{{1, 2, 5}}, 1, "", "new"},
		{"another machine", other, [][]float64{{9, 9}}, 1, "", "There is no baseline for this machine"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			var b bytes.Buffer
			all := baselines{Entries: []baseline{{Machine: tt.machine, Date: "2026-11-16", Ratios: ratios}}}
			err := (&lab{}).hold(t.Context(), &b, []guard{told(&asked, tt.lists...)}, all)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("hold = %v, want %q", err, tt.err)
			}
			if asked != tt.asked {
				t.Errorf("measured %d times, want %d", asked, tt.asked)
			}
			if !strings.Contains(b.String(), tt.says) {
				t.Errorf("it says %q, want %q in it", b.String(), tt.says)
			}
		})
	}
}

// TestHoldError holds that what could not be measured is not taken for well.
func TestHoldError(t *testing.T) {
	broken := guard{"broken", func(context.Context, *lab) ([]value, error) { return nil, errors.New("no") }}
	if err := (&lab{}).hold(t.Context(), &bytes.Buffer{}, []guard{broken}, baselines{}); err == nil || err.Error() != "broken: no" {
		t.Errorf("hold = %v, want broken: no", err)
	}
}

// TestLearn holds that the baseline is the median, that it is kept by machine, and that
// what was learnt is held.
func TestLearn(t *testing.T) {
	asked := 0
	var b bytes.Buffer
	ratios, err := (&lab{}).medians(t.Context(), &b, []guard{told(&asked, []float64{3}, []float64{1}, []float64{2})})
	if err != nil || ratios["a"] != 2 || len(ratios) != 1 {
		t.Fatalf("medians = %v, %v, want a: 2", ratios, err)
	}
	name := filepath.Join(t.TempDir(), "baseline.json")
	all, err := loadBaselines(name)
	if err != nil {
		t.Fatalf("no file: %v", err)
	}
	other := thisMachine()
	other.Processors += 2
	all.put(baseline{Machine: other, Ratios: map[string]float64{"a": 7}})
	all.put(baseline{Machine: thisMachine(), Ratios: map[string]float64{"a": 5}})
	all.put(baseline{Machine: thisMachine(), Ratios: ratios})
	if err := all.save(name); err != nil {
		t.Fatal(err)
	}
	if all, err = loadBaselines(name); err != nil || len(all.Entries) != 2 {
		t.Fatalf("read again: %+v, %v, want two machines", all, err)
	}
	if e, ok := all.of(other); !ok || e.Ratios["a"] != 7 {
		t.Errorf("the other machine has %+v, want a: 7", e)
	}
	asked = 0
	if err := (&lab{}).hold(t.Context(), &b, []guard{told(&asked, []float64{2.4})}, all); err == nil {
		t.Error("20 percent above what was learnt are well")
	}
	if err := os.WriteFile(name, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := loadBaselines(name); err == nil {
		t.Error("a broken file was read")
	}
}
