package match_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"deem"
	"deem/judge/match"
)

// TestTricky judges answers that were written to mislead a judge: ten kinds, both labels,
// three languages. tricky_held.txt was written after the rules, and no rule was changed to please
// it.
func TestTricky(t *testing.T) {
	all := &trickyScore{}
	for _, name := range []string{"tricky.txt", "tricky_held.txt", "tricky_fresh.txt", "tricky_last.txt"} {
		if _, err := os.Stat("testdata/" + name); err != nil {
			t.Fatal(err)
		}
		file := &trickyScore{}
		kinds := map[string]*trickyScore{}
		var order []string
		for _, p := range readPairs(t, name) {
			if kinds[p.theme] == nil {
				kinds[p.theme] = &trickyScore{}
				order = append(order, p.theme)
			}
			v, err := match.New().Judge(t.Context(), p.it)
			for _, s := range []*trickyScore{all, file, kinds[p.theme]} {
				s.count(v, err, p.want)
			}
			if err == nil && v.Label != p.want {
				t.Logf("%s: %.2f sure that it is %s: %s\n\t%s", p.theme, *v.Confidence, v.Label, strings.TrimSpace(p.line), v.Reason)
			}
			if testing.Verbose() && err != nil {
				t.Logf("UNSURE %s: %s\n\t%v", p.theme, strings.TrimSpace(p.line), err)
			}
		}
		for _, kind := range order {
			t.Logf("%-45s %s", kind, kinds[kind])
		}
		t.Logf("%s: %s", name, file)
	}
	if all.n < 460 || len(all.labels) != 2 {
		t.Errorf("there are %d cases with %d labels, want at least 460 with 2", all.n, len(all.labels))
	}
	if wrong := float64(all.wrong) / float64(all.n); wrong > .10 {
		t.Errorf("wrong on %.3f of the cases, want at most 0.10", wrong)
	}
	if sure := float64(all.sure) / float64(all.n); sure > .02 {
		t.Errorf("wrong and more than 0.9 sure on %.3f of the cases, want at most 0.02", sure)
	}
}

// TestTrickyFirst checks the form of the cases that are kept for the first try of the next model. It
// does not judge them.
func TestTrickyFirst(t *testing.T) {
	kinds, labels, questions := map[string]int{}, map[string]int{}, 0
	for _, p := range readPairs(t, "tricky_first.txt") {
		kinds[p.theme]++
		labels[p.want]++
		if p.it.Question != "" {
			questions++
		}
	}
	if len(kinds) != 12 || questions != 60 || labels[match.Correct]+labels[match.Incorrect] != 60 || labels[match.Correct] < 20 {
		t.Errorf("kinds %v, labels %v, %d with a question; want 60 of 12 kinds, all with a question, and at least 20 correct", kinds, labels, questions)
	}
	for kind, n := range kinds {
		if n != 5 {
			t.Errorf("%s has %d cases, want 5", kind, n)
		}
	}
}

type trickyScore struct {
	n, right, unsure, wrong, sure int
	labels                        map[string]bool
}

func (s *trickyScore) count(v deem.Verdict, err error, want string) {
	if s.labels == nil {
		s.labels = map[string]bool{}
	}
	s.labels[want] = true
	s.n++
	f, ok := errors.AsType[*deem.Failure](err)
	switch {
	case ok && f.Kind == deem.Unsure:
		s.unsure++
	case v.Label == want:
		s.right++
	default:
		s.wrong++
		if v.Confidence == nil || *v.Confidence > .9 {
			s.sure++
		}
	}
}

func (s *trickyScore) String() string {
	return fmt.Sprintf("n %3d  right %3d  unsure %3d  wrong %3d  of them sure %3d", s.n, s.right, s.unsure, s.wrong, s.sure)
}
