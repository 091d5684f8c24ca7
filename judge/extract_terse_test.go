package judge

import "testing"

// Mask blanks nothing of a terse reply, whatever the response is.
func FuzzTerse(f *testing.F) {
	for _, reply := range []string{"CORRECT", "Verdict: CORRECT", "no, not at all", "yes.", "ÉTÉ: ça", "label_a", "a: b, c.", ""} {
		f.Add(reply, "CORRECT")
		f.Add(reply, reply)
		f.Add(reply, "so I say: "+reply+" and "+reply)
	}
	f.Fuzz(func(t *testing.T, reply, response string) {
		if got := mask(reply, response); terse(reply) && got != reply {
			t.Errorf("of the terse %q about %q is left %q", reply, response, got)
		}
	})
}
