package published_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deem"
	"deem/internal/published"
)

// rows writes rows with the given labels, one item each, in category a or b.
func rows(labels ...string) string {
	var list []string
	for i, l := range labels {
		list = append(list, fmt.Sprintf(`{"id":"%d","question":"q","answer":"a","response":"r","category":"%c","f1_score":%g,"label":%s}`, i, 'a'+rune(i%2), 0.25*float64(i%3), l))
	}
	return "[" + strings.Join(list, ",") + "]"
}

func TestClaims(t *testing.T) {
	yes, no := `"yes"`, `"no"`
	for _, c := range []struct {
		name, text, claim string
		agrees            bool
		given             float64
		how, because      string
	}{
		{"a share", rows(yes, yes, no, no), "50%", true, 0.5, "", ""},
		{"as a fraction", rows(yes, yes, no, no), "2/4", true, 0.5, "", ""},
		{"as a decimal", rows(yes, yes, no), "0.667", true, 2.0 / 3, "", ""},
		{"only as far as the digits go", rows(yes, yes, no), "0.6667", true, 2.0 / 3, "", ""},
		{"one digit too many", rows(yes, yes, no), "66.6%", false, 2.0 / 3, "", ""},
		{"points above one are percent", rows(yes, yes, no), "66.67", true, 2.0 / 3, "", ""},
		{"failures as wrong", rows(yes, `"ERROR"`), "50%", true, 0.5, "with failures counted as wrong", ""},
		{"failures left out", rows(yes, `"ERROR"`), "100%", true, 1, "", ""},
		{"only one spelling", rows(yes, `"Yes"`, `"Yes"`, no), "25%", false, 0.75, "", `only the label spelt "yes" was counted: 1 of 4`},
		{"the mean over categories", rows(yes, no, no, no, yes), "33.3%", false, 0.4, "", "that is the mean over categories, not over items"},
		{"one category", rows(yes, no, no, no, yes), "66.7%", false, 0.4, "", "that is category a alone"},
		{"the share of wrong ones", rows(yes, yes, yes, no, no, yes, yes, yes), "25%", false, 0.75, "", "that is the share of wrong ones"},
		{"nothing gives it", rows(yes, no), "77.7%", false, 0.5, "", ""},
		{"a category", rows(yes, no, no), "a=50%", true, 0.5, "", ""},
		{"all categories", rows(yes, no, no), "categories=25%", true, 0.25, "", ""},
		{"another number", rows(yes, no, no), "f1_score=0.25", true, 0.25, "", ""},
		{"right ones", rows(yes, yes, no), "right=2", true, 2, "", ""},
		{"wrong ones", rows(yes, yes, no), "wrong=1", true, 1, "", ""},
		{"unjudged ones", rows(yes, `null`, no), "unjudged=1", true, 1, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, "a.json", c.text, published.Source{})
			claim, err := s.ParseClaim(c.claim)
			if err != nil {
				t.Fatal(err)
			}
			got := s.Check([]published.Claim{claim})[0]
			if got.Agrees != c.agrees || got.How != c.how || got.Because != c.because || got.Given-c.given > 1e-12 || c.given-got.Given > 1e-12 {
				t.Errorf("agrees %v, given %v, how %q, because %q, want %v, %v, %q, %q", got.Agrees, got.Given, got.How, got.Because, c.agrees, c.given, c.how, c.because)
			}
		})
	}
}

func TestClaimsThatAreNone(t *testing.T) {
	s := open(t, "a.json", rows(`"yes"`), published.Source{})
	for spec, want := range map[string]string{"much": "not a number", "3/2": "not a share", "x/2": "not a share", "nonsense=3": `no number "nonsense"`, "-1": "not a number", "NaN": "not a number"} {
		_, err := s.ParseClaim(spec)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseClaim(%q) = %v, want %q", spec, err, want)
		}
	}
	if _, err := s.ParseClaim("nonsense=3"); !strings.Contains(deem.HintOf(err), "overall, right") {
		t.Errorf("hint = %q, want the names there are", deem.HintOf(err))
	}
}

// FuzzParseClaim checks that a claim is rejected, or can be checked.
func FuzzParseClaim(f *testing.F) {
	for _, seed := range []string{
		"88.6%", "0.886", "443/500", "right=2", "a=50%", "f1_score=0.25", "categories=25%", "unjudged=1", "=", "a=", "=1", "1e309", "-0", "5/0", "NaN/2", "1/Inf", "0x1p-2", "1_000", "٣%",
	} {
		f.Add(seed)
	}
	file := filepath.Join(f.TempDir(), "a.json")
	if err := os.WriteFile(file, []byte(rows(`"yes"`, `"no"`, `"no"`)), 0o600); err != nil {
		f.Fatal(err)
	}
	s, err := published.Open(f.Context(), published.Source{Names: []string{file}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		claim, err := s.ParseClaim(spec)
		if err != nil {
			return
		}
		if math.IsNaN(claim.Value) || math.IsInf(claim.Value, 0) {
			t.Errorf("ParseClaim(%q) = %v", spec, claim.Value)
		}
		if got := s.Check([]published.Claim{claim}); len(got) != 1 {
			t.Errorf("the claim %q has %d results", spec, len(got))
		}
	})
}

// Claims are found next to the rows of a file, and only there.
func TestClaimsInFiles(t *testing.T) {
	row := func(id, category string, llm int) string {
		return fmt.Sprintf(`{"id":%q,"question":"q","answer":"a","response":"r","category":%q,"llm_score":%d,"f1_score":0.5,"correct":null}`, id, category, llm)
	}
	text := `{"summary":{"llm_accuracy":0.67,"avg_f1":0.5,"llm_judge_correct":2,"total":3,"config":{"accuracy":0.9}},
"by_category":{"x":{"accuracy":1.0,"count":1},"y":0.5,"z":0.1},
"comparison":{"accuracy":0.1},"vs_other":{"accuracy":0.2},
"results":[` + row("1", "x", 1) + `,` + row("2", "y", 1) + `,` + row("3", "y", 0) + `]}`
	s := open(t, "a.json", text, published.Source{})
	var got []string
	for _, c := range s.Check(s.Claims) {
		got = append(got, fmt.Sprintf("%s=%s %v", c.Name, c.Text, c.Agrees))
	}
	want := "summary.llm_accuracy=0.67 true, summary.avg_f1=0.5 true, summary.llm_judge_correct=2 true, by_category.x.accuracy=1.0 true, by_category.y=0.5 true"
	if strings.Join(got, ", ") != want {
		t.Errorf("claims = %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// With several verdicts per item, several numbers can be claimed.
func TestClaimsOfTrials(t *testing.T) {
	item := func(id string, votes ...bool) string {
		var list []string
		for i, v := range votes {
			list = append(list, fmt.Sprintf(`"judgment_%d":%v`, i+1, v))
		}
		return fmt.Sprintf(`{"question_id":%q,"question":"q","golden_answer":"a","generated_answer":"r","category":"1","llm_judgments":{%s}}`, id, strings.Join(list, ","))
	}
	text := `{"correct":3,"accuracy":0.5833333333333334,"metadata":{"majority_vote_accuracy":0.75,"std_accuracy":0.11785113019775793,"run_scores":[0.5,0.75,0.5]},
"detailed_results":{"locomo_exp_user_0":[` + strings.Join([]string{item("1", true, true, true), item("2", true, true, false), item("3", false, true, true), item("4", false, false, false)}, ",") + `]}}`
	s := open(t, "a.json", text, published.Source{})
	if len(s.Claims) != 7 {
		t.Errorf("%d claims, want seven", len(s.Claims))
	}
	for _, c := range s.Check(s.Claims) {
		if !c.Agrees {
			t.Errorf("%s = %s, and the rows give %v", c.Name, c.Text, c.Given)
		}
	}
	for spec, want := range map[string]string{"75%": "that is the majority of 3 verdicts", "50%": "that is the first of 3 verdicts", "25%": "that counts items that all of 3 verdicts call right"} {
		c, err := s.ParseClaim(spec)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Check([]published.Claim{c})[0]; got.Because != want {
			t.Errorf("%s because %q, want %q", spec, got.Because, want)
		}
	}
}

// The counts of several files are added up.
func TestClaimsOfSeveralFiles(t *testing.T) {
	file := func(conv string, correct int, rate string) string {
		return write(t, conv+".json", fmt.Sprintf(`{"summary":{"correctAnswers":%d,"answerAccuracyRate":%q},"conversations":[{"conversationId":%q,"results":[{"question":"q","expectedAnswer":"a","generatedAnswer":"a","category":1,"evaluationResult":"CORRECT"},{"question":"q","expectedAnswer":"a","generatedAnswer":"b","category":1,"evaluationResult":"WRONG"}]}]}`, correct, rate, conv))
	}
	one := file("c1", 1, "50.0")
	check := func(names ...string) []published.Check {
		s, err := published.Open(t.Context(), published.Source{Names: names})
		if err != nil {
			t.Fatal(err)
		}
		return s.Check(s.Claims)
	}
	if got := check(one); len(got) != 2 || !got[0].Agrees || !got[1].Agrees || got[1].Text != "50.0%" {
		t.Errorf("one file: %+v, want that both numbers agree", got)
	}
	if got := check(one, file("c2", 2, "50.0")); len(got) != 1 || got[0].Agrees || got[0].Value != 3 || got[0].Given != 2 {
		t.Errorf("two files: %+v, want 3 claimed and 2 given", got)
	}
}

// A claim that equals the value of the rows agrees at any precision.
func TestClaimsAgreeAtAnyPrecision(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(rt, "n")
		k := rapid.IntRange(0, n).Draw(rt, "k")
		digits := rapid.IntRange(0, 12).Draw(rt, "digits")
		labels := make([]string, n)
		for i := range labels {
			labels[i] = map[bool]string{true: `"yes"`, false: `"no"`}[i < k]
		}
		s := open(t, "a.json", rows(labels...), published.Source{})
		c, err := s.ParseClaim(fmt.Sprintf("%.*f%%", digits, 100*float64(k)/float64(n)))
		if err != nil {
			rt.Fatal(err)
		}
		if got := s.Check([]published.Claim{c})[0]; !got.Agrees {
			rt.Errorf("%d of %d with %d digits: claimed %s, given %v", k, n, digits, c.Text, got.Given)
		}
		c, err = s.ParseClaim(fmt.Sprintf("%d/%d", (k+1)%(n+1), n))
		if err != nil {
			rt.Fatal(err)
		}
		if got := s.Check([]published.Claim{c})[0]; got.Agrees {
			rt.Errorf("%s agrees with %d of %d", c.Text, k, n)
		}
	})
}
