package deem_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
)

// The same message about many places of a file is one sentence with the first place.
func TestProblemsOnce(t *testing.T) {
	for _, tt := range []struct {
		name  string
		add   []deem.Problem
		want  string
		total int
	}{
		{"one", []deem.Problem{{File: "a", Message: "bad"}}, "a: bad", 1},
		{"twice", []deem.Problem{{File: "a", Line: 3, Message: "bad"}, {File: "a", Line: 9, Message: "bad"}}, "a:3: bad; the same in 1 more place", 2},
		{
			"elements",
			[]deem.Problem{{File: "a", Line: 1, Element: 2, Message: "bad"}, {File: "a", Line: 1, Element: 3, Message: "bad"}, {File: "a", Line: 1, Element: 7, Message: "bad"}},
			"a:1 (element 2): bad; the same in 2 more places", 3,
		},
		{
			"other files and messages",
			[]deem.Problem{{File: "a", Line: 1, Message: "bad"}, {File: "b", Line: 1, Message: "bad"}, {File: "a", Line: 2, Message: "worse"}, {File: "b", Line: 4, Message: "bad"}},
			"a:1: bad\nb:1: bad; the same in 1 more place\na:2: worse", 4,
		},
		{"added together", []deem.Problem{{File: "a", Line: 1, Message: "bad", More: 4}, {File: "a", Line: 8, Message: "bad", More: 2}}, "a:1: bad; the same in 7 more places", 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var ps deem.Problems
			for _, p := range tt.add {
				ps.Add(p)
			}
			if diff := cmp.Diff(tt.want, ps.Error()); diff != "" || ps.Total != tt.total {
				t.Errorf("total %d, want %d (-want +got):\n%s", ps.Total, tt.total, diff)
			}
		})
	}
}

// Twenty messages are listed. What they do not count is counted at the end.
func TestProblemsMany(t *testing.T) {
	var ps deem.Problems
	for i := range 30 {
		for line := range 3 {
			ps.Add(deem.Problem{File: "a", Line: line + 1, Message: fmt.Sprintf("bad %d", i)})
		}
	}
	want := ""
	for i := range 20 {
		want += fmt.Sprintf("a:1: bad %d; the same in 2 more places\n", i)
	}
	if diff := cmp.Diff(want+"and 30 more", ps.Error()); diff != "" || ps.Total != 90 {
		t.Errorf("total %d, want 90 (-want +got):\n%s", ps.Total, diff)
	}
}
