package rule_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"deem"
	"deem/judge/rule"
)

// A labelled item is one that somebody else has judged.
type labelled struct {
	deem.Item
	want bool
}

// A sharedRow is one line of a derived file. References are a string, a number or
// a list; the label is a person's, a judge's, or that of three judges.
type sharedRow struct {
	Set, System, Run, Question string
	Reference                  any
	Response                   string
	HumanLabel                 *bool  `json:"human_label"`
	JudgeLabel                 *bool  `json:"judge_label"`
	JudgeLabels                []bool `json:"judge_labels"`
	Improper                   bool
}

func (r sharedRow) label() (bool, bool) {
	switch {
	case r.HumanLabel != nil:
		return *r.HumanLabel, true
	case r.JudgeLabel != nil:
		return *r.JudgeLabel, true
	case len(r.JudgeLabels) == 3:
		n := 0
		for _, l := range r.JudgeLabels {
			if l {
				n++
			}
		}
		return n >= 2, true
	}
	return false, false
}

func (r sharedRow) references() []string {
	if list, ok := r.Reference.([]any); ok {
		var refs []string
		for _, v := range list {
			refs = append(refs, fmt.Sprint(v))
		}
		return refs
	}
	return []string{fmt.Sprint(r.Reference)}
}

// readShared reads a derived file from outside of the repository, or returns nil
// and says so if it is not there.
func readShared(t *testing.T, name string) []sharedRow {
	t.Helper()
	path := "../../../shared/data/" + name
	f, err := os.Open(path)
	if err != nil {
		t.Logf("not there, not tested: %s", path)
		return nil
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var rows []sharedRow
	sc := bufio.NewScanner(in)
	sc.Buffer(nil, 1<<26)
	for sc.Scan() {
		var row sharedRow
		dec := json.NewDecoder(strings.NewReader(sc.Text()))
		dec.UseNumber()
		if err := dec.Decode(&row); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		rows = append(rows, row)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func labelledItems(rows []sharedRow, keep func(sharedRow) bool) []labelled {
	var list []labelled
	for _, r := range rows {
		want, ok := r.label()
		if !ok || r.Improper || !keep(r) {
			continue
		}
		list = append(list, labelled{deem.Item{Question: r.Question, References: r.references(), Response: r.Response}, want})
	}
	return list
}

// A confusion counts a judge's verdicts against labels.
type confusion struct{ tp, fp, fn, tn, unsure int }

func (c confusion) decided() int      { return c.tp + c.fp + c.fn + c.tn }
func (c confusion) coverage() float64 { return float64(c.decided()) / float64(c.decided()+c.unsure) }
func (c confusion) agreement() float64 {
	return float64(c.tp+c.tn) / float64(c.decided())
}
func (c confusion) falseAccepts() float64 { return float64(c.fp) / float64(max(1, c.fp+c.tn)) }
func (c confusion) falseRejects() float64 { return float64(c.fn) / float64(max(1, c.fn+c.tp)) }

func (c confusion) kappa() float64 {
	n := float64(c.decided())
	yes, no := float64(c.tp+c.fp), float64(c.fn+c.tn)
	refYes, refNo := float64(c.tp+c.fn), float64(c.fp+c.tn)
	chance := (yes*refYes + no*refNo) / (n * n)
	return (c.agreement() - chance) / (1 - chance)
}

func (c confusion) String() string {
	return fmt.Sprintf("n %5d  coverage %.3f  agreement %.4f  kappa %.4f  false accepts %.3f  false rejects %.3f",
		c.decided()+c.unsure, c.coverage(), c.agreement(), c.kappa(), c.falseAccepts(), c.falseRejects())
}

func confuse(t *testing.T, j deem.Judge, items []labelled) confusion {
	t.Helper()
	var c confusion
	for _, it := range items {
		v, err := j.Judge(t.Context(), it.Item)
		var f *deem.Failure
		if errors.As(err, &f) && f.Kind == deem.Unsure {
			c.unsure++
			continue
		}
		if err != nil {
			t.Fatalf("%q: %v", it.Question, err)
		}
		switch yes := v.Score >= .5; {
		case yes && it.want:
			c.tp++
		case yes:
			c.fp++
		case it.want:
			c.fn++
		default:
			c.tn++
		}
		if os.Getenv("DUMP") != "" {
			conf := 0.
			if v.Confidence != nil {
				conf = *v.Confidence
			}
			fmt.Printf("%s\t%v\t%.2f\t%v\t%s\t%q\t%q\t%q\n", j.Name(), it.want, conf, v.Label, v.Reason, it.Question, it.References, it.Response)
		}
	}
	return c
}

func all(sharedRow) bool { return true }

func TestAgainstPeople(t *testing.T) {
	for _, name := range []string{"human_evouna/derived.jsonl.gz", "locomo_audit/derived.jsonl.gz", "lme_cognitive_memory/derived.jsonl.gz", "lme_gemini_image_text/derived.jsonl.gz", "lme_mflow5/derived.jsonl"} {
		rows := readShared(t, name)
		if rows == nil {
			continue
		}
		systems := map[string]bool{}
		var order []string
		for _, r := range rows {
			if k := r.System + r.Run; !systems[k] {
				systems[k] = true
				order = append(order, k)
			}
		}
		for _, s := range append(order, "") {
			items := labelledItems(rows, func(r sharedRow) bool { return s == "" || r.System+r.Run == s })
			if len(items) == 0 {
				continue
			}
			for _, j := range []deem.Judge{rule.Contains(), rule.Match(), rule.MatchForced()} {
				t.Logf("%-12.12s %-24.24s %-12s %s", name, s, j.Name(), confuse(t, j, items))
			}
		}
	}
}
