package tokens

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestPieces holds where texts are cut to what Python's regex 2026.5.9 finds with the
// patterns that OpenAI publishes. The texts are drawn from the characters that matter:
// letters of each kind, with and without case, accents that stand by themselves, digits
// that are no ASCII, white space of each kind, signs, endings of English words, and
// characters of every category of Unicode.
func TestPieces(t *testing.T) {
	f, err := os.Open(filepath.Join("testdata", "pieces.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for lines := bufio.NewScanner(zr); lines.Scan(); n++ {
		var row struct {
			Text   string
			O200k  []string `json:"o200k_base"`
			Cl100k []string `json:"cl100k_base"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			v    *vocabulary
			want []string
		}{{o200k, row.O200k}, {cl100k, row.Cl100k}} {
			if d := cmp.Diff(tt.want, pieces(tt.v, row.Text)); d != "" {
				t.Errorf("%s: pieces of %q (-want +got):\n%s", tt.v.name, row.Text, d)
			}
		}
	}
	if n != 4000 {
		t.Errorf("read %d texts, want 4000", n)
	}
}

func pieces(v *vocabulary, s string) []string {
	var list []string
	for s != "" {
		n := v.piece(s)
		list = append(list, s[:n])
		s = s[n:]
	}
	return list
}

// TestLines holds that to count line by line gives what counting the whole gives.
func TestLines(t *testing.T) {
	runes := rapid.StringOf(rapid.RuneFrom([]rune("aZé界7.,-/'\"{}\n\r\t \u00a0\u2028\u3000’")))
	text := rapid.OneOf(runes, rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "s")
		for _, v := range []*vocabulary{o200k, cl100k} {
			if got, want := v.count(s), v.cut(s); got != want {
				t.Errorf("%s: count of %q = %d, want %d", v.name, s, got, want)
			}
		}
	})
}
