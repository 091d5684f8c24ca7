package catalog

import (
	"context"
	"strings"
	"testing"

	"deem"
	"deem/judge/match"
	"deem/judge/panel"
)

// A member that panics over a forged record gives an error. It runs in its own goroutine, where
// nothing else would recover.
func TestMemberPanics(t *testing.T) {
	t.Parallel()
	record := func(context.Context) (deem.Record, bool) { panic("oh") }
	bad := &takenJudge{name: "bad", record: record}
	p, err := panel.New([]panel.Member{{Name: "match", Judge: checkedMember{match.New()}}, {Name: "bad", Judge: checkedMember{bad}}}, panel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Judge(t.Context(), deem.Item{References: []string{"7"}, Response: "7"})
	if err == nil || !strings.Contains(err.Error(), "bad panics over this record: oh") {
		t.Errorf("error %v, want that it panics", err)
	}
}
