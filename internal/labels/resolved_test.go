package labels

import "testing"

// A resolved label decides, however many votes disagree, and is not a vote.
func TestResolved(t *testing.T) {
	t.Parallel()
	no := func(who string) Label { return Label{Item: "q", Annotator: who, Label: "no"} }
	list := []Label{no("anna"), no("bert"), {Item: "q", Annotator: Resolved, Label: "yes", Yes: true, Score: 1}}
	set := Set{Labels: list}
	for name, o := range map[string]Opinion{"Together": Together(list), "Opinions": set.Opinions()["q"]} {
		if !o.Yes || o.Label != "yes" || o.Tie || o.Score != 1 || len(o.Labels) != 2 || o.Against != 2 {
			t.Errorf("%s: %+v, want yes, with the two votes against it", name, o)
		}
	}
	if o := Together([]Label{no("anna"), {Item: "q", Annotator: "bert", Yes: true, Score: 1}}); !o.Tie {
		t.Errorf("Together = %+v, want a tie", o)
	}
}
