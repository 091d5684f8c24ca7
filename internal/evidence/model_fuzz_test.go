package evidence_test

import (
	"encoding/json"
	"testing"

	"deem/internal/evidence"
)

// FuzzDecode reads any model. One that is taken gives a probability for any evidence, and
// comes to an end.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"evidence":["a","b"],"base":0.5,"trees":[{"f":[0,-1,1,0,0,0,0],"m":[0.5],"v":[1,-1,1e300]}],"line":[{"x":-1,"p":0.1},{"x":1,"p":0.9}],"accept":0.9,"reject":0.1}`), 0.3)
	f.Add([]byte(`{"evidence":["a"],"base":-1.7e308,"trees":[{"v":[-1.7e308]}],"line":[{"x":-1.7e308,"p":0.1},{"x":1.7e308,"p":0.9}],"accept":0.9,"reject":0.1}`), 0.3)
	f.Add([]byte(`{"accept":1,"reject":0}`), 1.0)
	small := *evidence.Default()
	small.Trees = small.Trees[:1]
	small.Words = evidence.Words{}
	text, err := json.Marshal(&small)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, -1.0)
	f.Fuzz(func(t *testing.T, text []byte, x float64) {
		m, err := evidence.Decode(text)
		if err != nil {
			return
		}
		evidence := make([]float64, len(m.Evidence))
		for i := range evidence {
			evidence[i] = x * float64(1-i%3)
		}
		if p := m.Probability(evidence); !(p >= 0 && p <= 1) {
			t.Errorf("the model %s gives %v for %v", text, p, evidence)
		}
	})
}
