package judge

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// wrappings are ways to state a label, which replaces %. All of them must be read.
var wrappings = []string{
	"%", "%.", "**%**", "`%`", "\"%\"", "\n\n%\n", "### %", "Verdict: %", "**Verdict:** %", "Final answer: **%**",
	"Label - %", "My final verdict is %.", "判断：%", "结论: %。", "[[%]]", "\\boxed{%}", "<answer>%</answer>",
	"The town agrees.\n\nVerdict: %\n", "The town agrees.\n\n%\n", "%\n\nThe town agrees.", "%. The town agrees.",
	`{"label": "%"}`, "```json\n{\"reason\": \"x\", \"verdict\": \"%\"}\n```", "{'label': '%',}", "{“label”：“%”}",
	"<think>I wonder.</think>%", "{\"label\": \"%\", \"reason\": \"cut off he",
}

// TestWrappings checks every wrapping of every label of every menu, in its own
// spelling and in others.
func TestWrappings(t *testing.T) {
	for _, labels := range menus {
		for _, label := range labels {
			for _, w := range wrappings {
				for _, spelt := range []string{label, strings.ToUpper(label), strings.ToLower(label)} {
					if strings.HasPrefix(w, "%. ") && strings.Trim(label, "0123456789") == "" {
						continue // "1. The town agrees." may be a list.
					}
					text := strings.ReplaceAll(w, "%", spelt)
					got, err := FindLabel(text, "", labels)
					if err != nil || got.Label != label {
						t.Errorf("Label(%q, %q) = %+v, %v, want %q", text, labels, got, err, label)
						continue
					}
					if at := text[got.Start:got.End]; !strings.Contains(at, spelt) {
						t.Errorf("Label(%q, %q) points at %q, want %q", text, labels, at, spelt)
					}
				}
			}
		}
	}
}

// TestNothingSaid generates texts from words that state no label, and checks that none is
// found.
func TestNothingSaid(t *testing.T) {
	words := []string{
		"the", "response", "is", "not", "correct", "answer", "yesterday", "nothing", "incorrectly", "correctness", "correctly",
		"yes-man", "non-correct", "is_correct", "there", "no", "evidence", "of", "a", "harbour", "Lisbon", "town",
	}
	phrases := []string{
		"The correct answer is Lisbon.", "There is no evidence of a harbour.", "The response is not correct.",
		"It is hard to say whether it is correct.", "It would be correct if it named the town.", "Yesterday it rained.",
		"Nothing incorrectly spelt here.", "The response says yes.", "Is it correct?", "Reference answer: yes",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(phrases), 1, 6).Draw(t, "phrases"), " ")
		if rapid.Bool().Draw(t, "noise") {
			text = strings.Join(rapid.SliceOfN(rapid.SampledFrom(words[6:13]), 1, 8).Draw(t, "words"), " ") + ". " + text
		}
		for _, labels := range [][]string{{"correct", "incorrect"}, {"CORRECT", "INCORRECT"}, {"yes", "no"}} {
			if f, err := FindLabel(text, "", labels); err == nil {
				t.Fatalf("Label(%q, %q) = %+v, want a failure", text, labels, f)
			}
		}
	})
}

// TestLabelPlace checks that Start and End are the position of the label in the original
// text, including its reasoning.
func TestLabelPlace(t *testing.T) {
	const text = "<think>CORRECT?</think>\n**Verdict:** incorrect"
	f, err := FindLabel(text, "", []string{"CORRECT", "INCORRECT"})
	if err != nil || text[f.Start:f.End] != "incorrect" {
		t.Errorf("Label = %+v, %v, want it to point at %q", f, err, "incorrect")
	}
}

// TestOddMenus checks that senseless menus do no harm.
func TestOddMenus(t *testing.T) {
	for _, labels := range [][]string{nil, {}, {""}, {" ", "\t"}, {"\xff"}, {"*"}, {"-"}, {"a", "A"}, {"[["}, {"\n"}} {
		for _, text := range []string{"", "a", "*", "-", "\xff", "[[", "x\n\ny", "- - -"} {
			f, err := FindLabel(text, "", labels)
			checkFound(t, text, labels, f, err)
		}
	}
}
