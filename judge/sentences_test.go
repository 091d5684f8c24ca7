package judge_test

import (
	"slices"
	"testing"

	"deem"
	"deem/judge"
)

// TestSplitSentences checks which statements the judge faithful asks about.
func TestSplitSentences(t *testing.T) {
	d, _ := judge.Builtin("faithful")
	p, err := d.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		response string
		want     []string
	}{
		{"It opens at ten. It is closed on Mondays!", []string{"It opens at ten.", "It is closed on Mondays!"}},
		{"- Opens at 10:00\n- Closes at 5 p.m. on Fridays\n", []string{"Opens at 10:00", "Closes at 5 p.m. on Fridays"}},
		{"Dr. Silva met J. Moreira, e.g. on 3. May. They spoke.", []string{"Dr. Silva met J. Moreira, e.g. on 3. May.", "They spoke."}},
		{"It costs 4.50 euros", []string{"It costs 4.50 euros"}},
		{"\"Really?\" he asked. \"Yes.\" She left.", []string{"\"Really?\" he asked.", "\"Yes.\"", "She left."}},
		{"门票是十元。周一关门！", []string{"门票是十元。", "周一关门！"}},
		{"...\n\n---\n", nil},
	} {
		it := deem.Item{ID: "a", Question: "q", Response: c.response, Fields: map[string]string{"context": "c"}}
		var got []string
		v, err := p.(judge.Dialogue).Talk(it, func(deem.Request) (deem.Reply, error) {
			return deem.Reply{Text: "SUPPORTED", Stop: deem.StopEnd}, nil
		})
		for _, part := range v.Parts {
			got = append(got, part.Name)
		}
		if !slices.Equal(got, c.want) || (err != nil) != (c.want == nil) {
			t.Errorf("%q is split into %q, %v, want %q", c.response, got, err, c.want)
		}
	}
	// A list of statements in the item takes precedence.
	it := deem.Item{ID: "a", Response: "One. Two.", Fields: map[string]string{"context": "c", "statements": "- both"}}
	if reqs, err := judge.Requests(p, it); err != nil || len(reqs) != 1 {
		t.Errorf("an item with one statement asks %d times, %v", len(reqs), err)
	}
}
