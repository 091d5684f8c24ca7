package sensitivity_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/doc"
	"deem/internal/reports/sensitivity"
	"deem/stat"
)

var update = flag.Bool("update", false, "write the golden files anew")

var judges = []sensitivity.Judge{
	{Name: "published", Kind: sensitivity.Published},
	{Name: "re-read", Kind: sensitivity.Reread},
	{Name: "universal", Kind: sensitivity.Rejudged, Model: "openai:gpt-4o-mini", Hash: "abc"},
}

// verdict parses a letter: y, n, or - for no verdict.
func verdict(c byte) *deem.Verdict {
	switch c {
	case 'y':
		return &deem.Verdict{Label: "yes", Score: 1}
	case 'n':
		return &deem.Verdict{Label: "no"}
	}
	return nil
}

// add adds a system whose items are words with a letter for each judge.
func add(b *sensitivity.Builder, s sensitivity.System, words string) {
	items := strings.Fields(words)
	p := b.System(s)
	for j := range items[0] {
		k, n := 0, 0
		for _, w := range items {
			if v := verdict(w[j]); v != nil {
				n++
				k += int(v.Score)
			}
		}
		score := sensitivity.Score{Judge: j, Items: len(items), Unjudged: len(items) - n, Lo: float64(k) / float64(len(items)), Hi: float64(k+len(items)-n) / float64(len(items))}
		if n == len(items) {
			est := stat.Proportion(k, n, stat.DefaultLevel)
			score.Estimate = &est
		} else {
			score.Withheld = true
		}
		p.Score(score)
	}
	for i, w := range items {
		verdicts := make([]*deem.Verdict, len(w))
		for j := range len(w) {
			verdicts[j] = verdict(w[j])
		}
		p.Add(deem.Item{ID: fmt.Sprintf("q%d", i)}, verdicts)
	}
}

func report() sensitivity.Report {
	b := sensitivity.New(judges)
	add(b, sensitivity.System{
		Name: "mem0",
		Source: sensitivity.Source{
			Files: []string{"mem0.json"}, Shape: "LoCoMo results as Mem0 writes them", Columns: []string{"question=question", "label=llm_score"},
			Rule: "a row is right when llm_score is 1", Judge: "recorded:mem0", Hash: "3f9c2a10b7e4aa", Model: "gpt-4o-mini", Replies: 8, Trials: 1,
		},
		Claims: []sensitivity.Claim{
			{Name: "accuracy", Claimed: "0.75", Value: 0.75, Given: 0.75, Share: true, Right: 6, N: 8, Counted: true, Agrees: true, Main: true},
			{Name: "correct", Claimed: "5", Value: 5, Given: 6, Right: 6, N: 8, Counted: true, Because: "only the label spelt \"yes\" was counted: 5 of 8", Main: true},
			{Name: "category 1", Claimed: "0.5", Value: 0.5, Given: 0.5, Share: true, Counted: true, Agrees: true},
		},
		Also:  []sensitivity.Aspect{{Name: "f1_score", Mean: 0.4884, N: 8}},
		Notes: []string{"8 rows, and there should be 10"},
	}, "yyy yyn yyn yyy yyn yny nnn nny")
	add(b, sensitivity.System{Name: "zep", Source: sensitivity.Source{Files: []string{"zep.json"}, Shape: "LoCoMo results of Zep", Judge: "recorded:zep"}},
		"yyy yyy yyy yyy yyy nny nnn n-n")
	return b.Report()
}

func TestText(t *testing.T) {
	var buf bytes.Buffer
	if err := doc.Text(&buf, report().Document(), doc.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "two_systems.txt", buf.Bytes())
}

func TestJSON(t *testing.T) {
	var buf bytes.Buffer
	if err := report().JSON(&buf); err != nil {
		t.Fatal(err)
	}
	var back sensitivity.Report
	if err := json.Unmarshal(buf.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := back.JSON(&again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(buf.String(), again.String()); diff != "" {
		t.Errorf("JSON loses something:\n%s", diff)
	}
	if bytes.Contains(buf.Bytes(), []byte(": null")) {
		for _, line := range strings.Split(buf.String(), "\n") {
			if strings.Contains(line, ": null") && !strings.Contains(line, "estimate") && !strings.Contains(line, "columns") && !strings.Contains(line, `"lo"`) && !strings.Contains(line, `"hi"`) {
				t.Errorf("%s: only an estimate and the ends of an interval may be null here", line)
			}
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: -want +got:\n%s", name, diff)
	}
}

func TestNumbers(t *testing.T) {
	r := report()
	mem0 := r.Systems[0]
	change := mem0.Scores[2].Change
	if change.Up.N != 1 || change.Down.N != 3 || change.Both != 8 || change.Difference.Value != -0.25 {
		t.Errorf("universal beside published: %+v, want one up, three down, -25pp", change)
	}
	if strings.Join(change.Down.Examples, " ") != "q1 q2 q4" {
		t.Errorf("from yes to no: %v, want q1 q2 q4", change.Down.Examples)
	}
	if mem0.Band == nil || mem0.Band.Lo != 0.5 || mem0.Band.Hi != 0.75 {
		t.Errorf("band = %+v, want 50%% to 75%%", mem0.Band)
	}
	if mem0.Flips != 5 || mem0.Judged != 8 {
		t.Errorf("%d flips of %d, want 5 of 8", mem0.Flips, mem0.Judged)
	}
	if zep := r.Systems[1]; zep.Scores[1].Estimate != nil || !zep.Scores[1].Withheld || zep.Scores[1].Change.Unpaired != 1 {
		t.Errorf("zep re-read = %+v, want it withheld and one item unpaired", zep.Scores[1])
	}
	// mem0 is above zep as published, and below it under universal; re-read has no score
	// for zep and cannot rank them.
	if len(r.Ranks) != 1 || r.Ranks[0].Tau == nil || *r.Ranks[0].Tau != -1 {
		t.Errorf("ranks = %+v, want two judges with opposite orders", r.Ranks)
	}
	if len(r.Orders) != 1 || r.Orders[0].Outcome != sensitivity.Unclear || !r.Orders[0].Paired || len(r.Orders[0].Under) != 2 {
		t.Errorf("orders = %+v, want one pair of systems under two judges, with no order established", r.Orders)
	}
	if len(r.Disagreeing()) != 1 {
		t.Errorf("disagreeing = %v, want one", r.Disagreeing())
	}
}

// A single judge has nothing to be compared with, and systems with equal scores have no
// order.
func TestLittle(t *testing.T) {
	b := sensitivity.New(judges[:1])
	add(b, sensitivity.System{Name: "only"}, "y n")
	r := b.Report()
	if len(r.Pairs)+len(r.Ranks) != 0 || r.Systems[0].Band != nil || r.Systems[0].Scores[0].Change != nil || len(r.Disagreeing()) > 0 {
		t.Errorf("one judge: %+v", r)
	}
	b = sensitivity.New(judges[:2])
	add(b, sensitivity.System{Name: "a"}, "yy nn")
	add(b, sensitivity.System{Name: "b"}, "yy nn")
	r = b.Report()
	if len(r.Ranks) != 1 || r.Ranks[0].Tau != nil || r.Orders[0].Outcome != sensitivity.Unclear {
		t.Errorf("equal systems: %+v %+v, want no tau and no order", r.Ranks, r.Orders)
	}
	if err := doc.Text(&bytes.Buffer{}, sensitivity.New(nil).Report().Document(), doc.TextOptions{}); err != nil {
		t.Error(err)
	}
}

// A score of at least one half is a yes, and the report says so.
func TestGraded(t *testing.T) {
	b := sensitivity.New(judges[:2])
	p := b.System(sensitivity.System{Name: "a"})
	p.Add(deem.Item{ID: "q"}, []*deem.Verdict{{Label: "x", Score: 0.5}, {Label: "no", Score: 0.4, Pass: new(false)}})
	r := b.Report()
	if r.Systems[0].Flips != 1 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "published gives scores") {
		t.Errorf("%d flips, notes %q, want one flip and a note about the first judge alone", r.Systems[0].Flips, r.Notes)
	}
}

// For any verdicts, counts add up and every value is within its bounds.
func TestCountsAddUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(rt, "items")
		words := make([]string, n)
		for i := range words {
			words[i] = rapid.StringMatching(`[yn-]{3}`).Draw(rt, "verdicts")
		}
		b := sensitivity.New(judges)
		add(b, sensitivity.System{Name: "a"}, strings.Join(words, " "))
		add(b, sensitivity.System{Name: "b"}, strings.Join(words[:1], " "))
		r := b.Report()
		for _, p := range r.Pairs {
			if both := p.BothYes + p.FirstOnly + p.SecondOnly + p.BothNo; both == 0 || both > n+1 || math.IsNaN(p.Kappa.Value) {
				rt.Errorf("pair %+v of %d items", p, n+1)
			}
		}
		for _, s := range r.Systems {
			if s.Flips > s.Judged || s.Judged > s.Items {
				rt.Errorf("%d flips of %d judged of %d", s.Flips, s.Judged, s.Items)
			}
			for _, score := range s.Scores {
				if c := score.Change; c != nil && (c.Up.N+c.Down.N > c.Both || c.Difference.Lo > c.Difference.Value || c.Difference.Hi < c.Difference.Value) {
					rt.Errorf("change %+v", c)
				}
			}
		}
		if err := doc.Text(&bytes.Buffer{}, r.Document(), doc.TextOptions{}); err != nil {
			rt.Error(err)
		}
	})
}

// The order of two systems stands, is kept, is unclear or is turned. Pairing by id
// establishes differences that two independent lists of items would not.
func TestFates(t *testing.T) {
	// wins gives how many of 200 items only the first system passes, and only the second.
	run := func(wins ...[2]int) sensitivity.Order {
		b := sensitivity.New(judges[:len(wins)])
		yes, no := &deem.Verdict{Label: "yes", Score: 1}, &deem.Verdict{Label: "no"}
		for system := range 2 {
			part := b.System(sensitivity.System{Name: string(rune('a' + system))})
			right := make([]int, len(wins))
			verdict := func(j, i int) *deem.Verdict {
				w := wins[j]
				if i < w[0] && system == 0 || i >= w[0] && i < w[0]+w[1] && system == 1 || i >= w[0]+w[1] && i%2 == 0 {
					return yes
				}
				return no
			}
			for j := range wins {
				for i := range 200 {
					right[j] += int(verdict(j, i).Score)
				}
				est := stat.Proportion(right[j], 200, stat.DefaultLevel)
				part.Score(sensitivity.Score{Judge: j, Estimate: &est, Items: 200})
			}
			for i := range 200 {
				var list []*deem.Verdict
				for j := range wins {
					list = append(list, verdict(j, i))
				}
				part.Add(deem.Item{ID: fmt.Sprint(i)}, list)
			}
		}
		return b.Report().Orders[0]
	}
	for _, tt := range []struct {
		want string
		got  sensitivity.Order
	}{
		{sensitivity.Stands, run([2]int{16, 0}, [2]int{20, 1})},
		{sensitivity.Kept, run([2]int{16, 0}, [2]int{6, 4})},
		{sensitivity.Unclear, run([2]int{16, 0}, [2]int{4, 6})},
		{sensitivity.Turned, run([2]int{16, 0}, [2]int{0, 16})},
	} {
		if tt.got.Outcome != tt.want || !tt.got.Paired {
			t.Errorf("outcome %q of %+v, want %q", tt.got.Outcome, tt.got.Under, tt.want)
		}
	}
}

// The page contains the plot and its numbers.
func TestPage(t *testing.T) {
	var page bytes.Buffer
	r := report()
	if err := r.HTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "<circle", "Every score", ">published</th>", "no common order", "75.0%"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
}

// text renders the report of one system under two judges.
func text(t *testing.T, claims []sensitivity.Claim, scores ...sensitivity.Score) string {
	t.Helper()
	b := sensitivity.New([]sensitivity.Judge{{Kind: sensitivity.Published}, {Kind: sensitivity.Rejudged, Name: "match"}})
	part := b.System(sensitivity.System{Name: "s", Items: 1540, Source: sensitivity.Source{Judge: "recorded:s"}, Claims: claims})
	for _, s := range scores {
		part.Score(s)
	}
	for i := range 4 {
		v := &deem.Verdict{Score: float64(i % 2)}
		part.Add(deem.Item{ID: fmt.Sprint(i)}, []*deem.Verdict{v, v})
	}
	var out strings.Builder
	if err := doc.Text(&out, b.Report().Document(), doc.TextOptions{Width: 400}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A score that rests on items that its judge did not decide says so, as the report of a run
// does.
func TestUndecidedItemsAreShown(t *testing.T) {
	score, decided := stat.Proportion(471, 1540, stat.DefaultLevel), stat.Proportion(200, 755, stat.DefaultLevel)
	got := text(t, nil, sensitivity.Score{Judge: 0, Estimate: &score, Items: 1540},
		sensitivity.Score{Judge: 1, Estimate: &score, Items: 1540, Undecided: 785, Decided: &decided, Lo: .13, Hi: .64})
	for _, want := range []string{
		"match decided 755 of 1,540 items and counts the other 785 by probability. Over decided items it is 26.5% [",
		"With all open items wrong it would be 13.0%, with all right 64.0%.",
		"The same responses score 30.6% under every judge.",
		"match gives the same verdicts as published.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, never := range []string{"0.0 pp apart", "-0"} {
		if strings.Contains(got, never) {
			t.Errorf("%q in\n%s", never, got)
		}
	}
}

// A mean does not stand beside a count that is another share.
func TestMeanIsNotACount(t *testing.T) {
	got := text(t, []sensitivity.Claim{
		{Name: "f1", Claimed: "0.9", Counted: true, Share: true, Given: .2128, Right: 186, N: 1986},
		{Name: "accuracy", Claimed: "0.9", Counted: true, Share: true, Given: .5, Right: 993, N: 1986},
	})
	for _, want := range []string{"21.28%  mean of 1,986  not confirmed", "50.00%   993 of 1,986  not confirmed"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// The number that a file publishes is shown, even if it counts fewer items than the rows have.
func TestHeadlineIsThePublishedNumber(t *testing.T) {
	score := stat.Proportion(400, 1540, stat.DefaultLevel)
	got := text(t, []sensitivity.Claim{
		{Name: "mean_f1", Claimed: "0.27", Counted: true, Agrees: true, Given: .2742, N: 1094, How: "without category 5"},
		{Name: "single-hop.mean_f1", Claimed: "0.21", Counted: true, Agrees: true, Given: .2161, N: 282},
	}, sensitivity.Score{Judge: 0, Estimate: &score, Items: 1540})
	for _, want := range []string{
		"The file publishes 0.2742 (mean_f1), without category 5. The scores here count all 1,544 items.",
		"mean_f1     0.27    0.2742  n=1,094  agrees, without category 5",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
