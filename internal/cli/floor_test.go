package cli_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"deem/internal/cli"
	"deem/internal/reports"
	"deem/internal/test/modeltest"
)

// keyOf is the answer to question i.
func keyOf(i int) string { return fmt.Sprintf("kelvar%03d", i+1) }

// longMemEvalOf returns n questions, each with two sessions, in the shape of LongMemEval.
func longMemEvalOf(n int) any {
	var rows []any
	for i := range n {
		rows = append(rows, map[string]any{
			"question_id": fmt.Sprintf("q%d", i), "question_type": "single-session-user", "question": fmt.Sprintf("What is word %d?", i), "answer": keyOf(i),
			"question_date": "2024/06/30 (Sun) 09:15", "haystack_session_ids": []string{fmt.Sprintf("answer_%d", i), fmt.Sprintf("s%d", i)},
			"haystack_dates": []string{"2024/06/03 (Mon) 10:00", "2024/06/04 (Tue) 10:00"}, "answer_session_ids": []string{fmt.Sprintf("answer_%d", i)},
			"haystack_sessions": []any{
				[]any{map[string]any{"role": "user", "content": fmt.Sprintf("fact %d.", i), "has_answer": true}},
				[]any{map[string]any{"role": "user", "content": "filler"}},
			},
		})
	}
	return rows
}

// locomoOf returns conversations with questions in the shape of LoCoMo.
func locomoOf(conversations, questions int) any {
	var rows []any
	for c := range conversations {
		turns := []any{map[string]any{"speaker": "Ines", "dia_id": "D1:1", "text": "filler"}}
		var qa []any
		for i := range questions {
			id, k := fmt.Sprintf("D1:%d", i+2), c*questions+i
			turns = append(turns, map[string]any{"speaker": "Mara", "dia_id": id, "text": fmt.Sprintf("fact %d.", k)})
			qa = append(qa, map[string]any{"question": fmt.Sprintf("What is word %d?", k), "answer": keyOf(k), "category": 1 + i%4, "evidence": []string{id}})
		}
		rows = append(rows, map[string]any{
			"sample_id": fmt.Sprintf("conv-%d", c), "qa": qa,
			"conversation": map[string]any{"speaker_a": "Mara", "speaker_b": "Ines", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns},
		})
	}
	return rows
}

var (
	askedWord = regexp.MustCompile(`What is word (\d+)\?`)
	shownFact = regexp.MustCompile(`fact (\d+)\.`)
)

// armShown returns the arm that a prompt belongs to, and the number of its question.
func armShown(prompt string) (arm string, k int) {
	k, _ = strconv.Atoi(askedWord.FindStringSubmatch(prompt)[1])
	shown := map[string]bool{}
	for _, f := range shownFact.FindAllStringSubmatch(prompt, -1) {
		shown[f[1]] = true
	}
	switch own := shown[fmt.Sprint(k)]; {
	case len(shown) == 0:
		return "none", k
	case strings.Contains(prompt, "filler"):
		return "full", k
	case own:
		return "oracle", k
	}
	return "shuffle", k
}

// TestBelowFloor judges what a reader answers from useless contexts: the report says that the
// score is below a floor, if questions, judge and reader are the same.
func TestBelowFloor(t *testing.T) {
	t.Parallel()
	srv := modeltest.NewServer(t, func(a modeltest.Asked) modeltest.Answer {
		if arm, k := armShown(a.Prompt()); arm == "shuffle" && k%2 == 0 {
			return modeltest.Say(keyOf(k))
		}
		return modeltest.Say("something else")
	})
	dir := t.TempDir()
	write := func(name string, v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const n = 8
	var found []any
	for i := range n {
		found = append(found, map[string]any{"question_id": fmt.Sprintf("q%d", i), "contexts": []string{"It rains."}})
	}
	data, useless := write("lme.json", longMemEvalOf(n)), write("found.json", found)
	deem := func(args ...string) string {
		var out, log strings.Builder
		args = append(args, "--data", data, "--reader-model", "openai:reader", "--base-url", srv.URL, "--judge", "match", "--db", filepath.Join(dir, "deem.db"))
		if code := cli.Main(args, strings.NewReader(""), &out, &log); code != 0 {
			t.Fatalf("deem %s: exit %d: %s%s", args[0], code, out.String(), log.String())
		}
		return strings.Join(strings.Fields(out.String()), " ")
	}
	deem("floor", "longmemeval")
	const note = "the score is below a floor: 0.0% "
	if text := deem("run", "longmemeval", "--contexts", useless); !strings.Contains(text, note) || !strings.Contains(text, "of arm shuffle (the contexts of another question)") {
		t.Errorf("there is no note of the floor:\n%s", text)
	}
	if text := deem("run", "longmemeval", "--contexts", useless, "--context-tokens", "100"); strings.Contains(text, note) {
		t.Errorf("another budget has the note of the floor:\n%s", text)
	}
}

// TestFloorCovers runs floors with a scripted reader whose true rates are known for each arm.
// The intervals of the card contain them about as often as they should.
func TestFloorCovers(t *testing.T) {
	notQuick(t)
	t.Parallel()
	const draws, most = 5, 7 // of 40 intervals 2 miss on average, and more than 7 with a probability of one in a thousand
	rates := map[string]float64{"none": 0.1, "full": 0.6, "oracle": 0.85, "shuffle": 0.2}
	var missed []string
	checked := 0
	for draw := range draws {
		srv := modeltest.NewServer(t, func(a modeltest.Asked) modeltest.Answer {
			arm, k := armShown(a.Prompt())
			h := fnv.New64a()
			fmt.Fprint(h, arm)
			luck := rand.New(rand.NewPCG(h.Sum64()+uint64(draw), uint64(k))) //nolint:gosec // a scripted model
			if luck.Float64() < rates[arm] {
				return modeltest.Say(keyOf(k))
			}
			return modeltest.Say("something else")
		})
		for name, data := range map[string]any{"longmemeval": longMemEvalOf(150), "locomo": locomoOf(12, 15)} {
			dir := t.TempDir()
			text, err := json.Marshal(data)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, name+".json")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			var out, log strings.Builder
			args := []string{
				"floor", name, "--data", file, "--reader-model", "openai:reader", "--base-url", srv.URL, "--judge", "match",
				"--db", filepath.Join(dir, "deem.db"), "--json",
			}
			if code := cli.Main(args, strings.NewReader(""), &out, &log); code != 0 {
				t.Fatalf("exit %d: %s%s", code, out.String(), log.String())
			}
			var card reports.Floor
			if err := json.Unmarshal([]byte(out.String()), &card); err != nil {
				t.Fatal(err)
			}
			if len(card.Arms) != 5 {
				t.Fatalf("%s: %d arms", name, len(card.Arms))
			}
			for _, a := range card.Arms {
				rate := rates[a.Arm] // 0 for a refusal, which is never right
				if a.Arm == "refuse" && a.Score.Value != 0 {
					t.Errorf("%s: a refusal scores %v", name, a.Score)
				}
				if checked++; rate < a.Score.Lo || rate > a.Score.Hi {
					missed = append(missed, fmt.Sprintf("%s %s: %.2f is not in [%.3f, %.3f]", name, a.Arm, rate, a.Score.Lo, a.Score.Hi))
				}
			}
			if card.Lowest.Arm != "shuffle" || card.Ceiling.Arm != "oracle" {
				t.Errorf("%s: the floor is %s and the ceiling %s", name, card.Lowest.Arm, card.Ceiling.Arm)
			}
			if checked++; card.Spread.Lo > 0.65 || card.Spread.Hi < 0.65 {
				missed = append(missed, fmt.Sprintf("%s spread: 0.65 is not in [%.3f, %.3f]", name, card.Spread.Lo, card.Spread.Hi))
			}
			if d := card.Detectable; d == nil || d.Difference <= 0 || d.Difference >= 0.5 {
				t.Errorf("%s: the smallest difference is %v", name, d)
			}
		}
	}
	t.Logf("%d of %d intervals miss the true rate: %s", len(missed), checked, strings.Join(missed, "; "))
	if len(missed) > most {
		t.Errorf("%d of %d intervals miss the true rate, want at most %d", len(missed), checked, most)
	}
}
