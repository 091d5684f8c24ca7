package tokens

import (
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
)

// TestVocabularies holds the packed vocabularies to those of the library that they were
// made from, token by token, and every token to its rank.
func TestVocabularies(t *testing.T) {
	for _, tt := range []struct {
		v    *vocabulary
		from *codec.Codec
		n    int
	}{{o200k, codec.NewO200kBase(), 199998}, {cl100k, codec.NewCl100kBase(), 100256}} {
		got := tt.v.load()
		if len(got.ends) != tt.n {
			t.Errorf("%s has %d tokens, want %d", tt.v.name, len(got.ends), tt.n)
		}
		for rank := range uint32(len(got.ends)) {
			token := got.token(rank)
			if want, err := tt.from.Decode([]uint{uint(rank)}); err != nil || token != want {
				t.Fatalf("%s: token %d = %q, want %q (%v)", tt.v.name, rank, token, want, err)
			}
			if back := got.rank(token); back != rank {
				t.Fatalf("%s: rank of %q = %d, want %d", tt.v.name, token, back, rank)
			}
		}
		for _, no := range []string{"", "no such token", "<|endoftext|>"} {
			if rank := got.rank(no); rank != noRank {
				t.Errorf("%s: rank of %q = %d, want none", tt.v.name, no, rank)
			}
		}
	}
}

func BenchmarkUnpack(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		unpack(o200kPacked)
	}
}
