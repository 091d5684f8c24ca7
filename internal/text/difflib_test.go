package text_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deem/internal/text"
)

// ratios is a Python program: it reads pairs of texts, one JSON list a line, and prints the
// ratio of each as difflib computes it.
const ratios = `import difflib, json, sys
for line in sys.stdin:
    a, b = json.loads(line)
    print(repr(difflib.SequenceMatcher(None, a, b).ratio()))
`

// TestDifflibRatioPython compares ratios of random texts with those of Python. Two texts
// have either nothing in common or are edits of each other, and their alphabets are small
// or large, so that characters are popular in some and in others not.
func TestDifflibRatioPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 to compare with")
	}
	pairs := 10000
	if testing.Short() {
		pairs = 300
	}
	r := rand.New(rand.NewPCG(47, 1))
	alphabets := [][]rune{
		[]rune("ab"), []rune("the quick brown fox"), []rune("abcdefghijklmnopqrstuvwxyz      .,ABC\n01"),
		[]rune("aä漢字🦝e\u0301 \u00a0b"), nil, // nil: any of 2,000 characters
	}
	var in strings.Builder
	var want [][2]string
	enc := json.NewEncoder(&in)
	for range pairs {
		// Most texts are short, because Python needs seconds for some long ones.
		longest := []int{5, 50, 250, 250, 1000}[r.IntN(5)]
		if r.IntN(50) == 0 {
			longest = 5000
		}
		alphabet := alphabets[r.IntN(len(alphabets))]
		if longest > 1000 {
			alphabet = alphabets[2+r.IntN(3)]
		}
		draw := func() rune {
			if alphabet == nil {
				return rune('一' + r.IntN(2000))
			}
			return alphabet[r.IntN(len(alphabet))]
		}
		a := make([]rune, r.IntN(longest+1))
		for i := range a {
			a[i] = draw()
		}
		var b []rune
		edits := []float64{0.01, 0.1, 0.5, 1}[r.IntN(4)]
		for _, c := range a {
			switch {
			case r.Float64() >= edits:
				b = append(b, c)
			case r.IntN(3) > 0:
				b = append(b, draw())
			}
		}
		pair := [2]string{string(a), string(b)}
		if err := enc.Encode(pair); err != nil {
			t.Fatal(err)
		}
		want = append(want, pair)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", ratios)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python3: %v", err)
	}
	lines := strings.Fields(string(out))
	if len(lines) != pairs {
		t.Fatalf("Python printed %d ratios of %d", len(lines), pairs)
	}
	for i, pair := range want {
		if got := text.Float(text.DifflibRatio(pair[0], pair[1])); got != lines[i] {
			t.Errorf("ratio of %.60q and %.60q: %s, want %s", pair[0], pair[1], got, lines[i])
		}
	}
}

// TestDifflibRatioVectors compares ratios with recorded ones.
func TestDifflibRatioVectors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "field", "longcontext", "difflib.json"))
	if err != nil {
		t.Skipf("the vectors are not here: %v", err)
	}
	var file struct {
		Vectors []struct {
			Name, A, B string
			Ratio      float64
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) != 73 {
		t.Fatalf("%d vectors, want 73", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		if got := text.DifflibRatio(v.A, v.B); got != v.Ratio {
			t.Errorf("%s: %v, want %v", v.Name, got, v.Ratio)
		}
	}
}
