package web

import (
	"strings"
	"testing"

	"deem"
)

// shownAs returns pieces with their classes, for example "12[found] March".
func shownAs(list []piece) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p.Text)
		if p.Class != "" {
			b.WriteString("[" + p.Class + "]")
		}
	}
	return b.String()
}

// Evidence for and against a response is marked as the judge match sees it, in the
// reference and in the response, and neither text loses anything.
func TestHighlight(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, question, reference, response, wantRef, wantResp string }{
		{
			"another day", "When did Mara move?", "12 March 2019", "On 21 March 2019.",
			"12 March 2019[missing]", "On 21 March 2019[against].",
		},
		{"thousands", "How much?", "1,450 euros", "It cost 1450 euros.", "1,450 euros[found]", "It cost 1450 euros[found]."},
		{"the question's figure", "Who came in 1999?", "7 people", "In 1999 nobody.", "7 people[missing]", ""},
		{"no figure wanted", "Who?", "Ines", "Her, aged 44.", "Ines[missing]", ""},
		{"denied", "Where does she live?", "Lisbon", "She does not live in Lisbon.", "Lisbon[found]", "She does not live in Lisbon[doubt]."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := itemView{Item: deem.Item{ID: "q", Question: tt.question, References: []string{tt.reference}, Response: tt.response}}
			v.texts()
			v.highlight()
			if got := shownAs(v.References[0].Pieces); got != tt.wantRef {
				t.Errorf("reference: %s, want %s", got, tt.wantRef)
			}
			if got := shownAs(v.Response.Pieces); got != tt.wantResp {
				t.Errorf("response: %s, want %s", got, tt.wantResp)
			}
		})
	}
}

// Values filled into a prompt are marked once, and the text of the prompt does not change.
func TestSlots(t *testing.T) {
	t.Parallel()
	it := deem.Item{Question: "Who?", References: []string{"Ines", "no"}, Response: "It was Ines."}
	got := shownAs(slots("Question: Who?\nReference: Ines\nResponse: It was Ines.\nno more", it))
	if got := shownAs(slots("A: It was Ines.\nB: Ines\nC: Ines", it)); got != "A: It was Ines.[slot]\nB: Ines[slot]\nC: Ines" {
		t.Errorf("slots = %q, want the reference marked where it is not part of the response", got)
	}
	want := "Question: Who?[slot]\nReference: Ines[slot]\nResponse: It was Ines.[slot]\nno more"
	if got != want {
		t.Errorf("slots = %q, want %q", got, want)
	}
}

func TestPretty(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{`{"a":[1,2]}`: "{\n  \"a\": [\n    1,\n    2\n  ]\n}", "{broken": "{broken", "12": "12"} {
		if got := pretty(in); got != want {
			t.Errorf("pretty(%q) = %q, want %q", in, got, want)
		}
	}
}
