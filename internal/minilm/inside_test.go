package minilm

import (
	"math"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                        nil,
		" \t\n\u00a0\u3000\u2028": nil,
		"Hello, World!":           {"hello", ",", "world", "!"},
		"don't":                   {"don", "'", "t"},
		"$3.50+5%":                {"$", "3", ".", "50", "+", "5", "%"},
		"a_b~c`d^e|f":             {"a", "_", "b", "~", "c", "`", "d", "^", "e", "|", "f"},
		"Ünïcödé ŞİŞLİ":           {"unicode", "sisli"},
		"e\u0301":                 {"e"},
		"ﬁne ½":                   {"ﬁne", "½"}, // only canonical decompositions
		"北京是首都":                   {"北", "京", "是", "首", "都"},
		"カタカナ ひらがな":               {"カタカナ", "ひらかな"}, // the mark of が is removed
		"한국":                      {"\u1112\u1161\u11ab\u1100\u116e\u11a8"},
		"ΣΑΣ":                     {"σασ"}, // letter by letter: no final sigma
		"naïve—co‑op “quoted”…":   {"naive", "—", "co", "‑", "op", "“", "quoted", "”", "…"},
		"soft\u00adhyphen zero\u200dwidth \ufeffbom": {"softhyphen", "zerowidth", "bom"},
		"a\x00b\x07c\x0bd\u0085e":                    {"abcde"}, // vertical tab and next line count as control characters
		"tab\tand\r\nline":                           {"tab", "and", "line"},
		"\xff\xfe bad":                               {"bad"},
		"👍🏽 ok":                                      {"👍🏽", "ok"},
		"\ue000private":                              {"private"},
	} {
		if diff := cmp.Diff(want, words(text)); diff != "" {
			t.Errorf("words(%q) (-want +got):\n%s", text, diff)
		}
	}
}

// small is a tokenizer with few words.
func small(tb testing.TB) *tokenizer {
	tb.Helper()
	t, err := readVocab([]byte("[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\n[MASK]\r\nun\r\n##able\r\n##a\r\n##ff\r\nfan\r\n#\r\n京\r\n[\r\n##"))
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func TestEncode(t *testing.T) {
	const unk, cls, sep, mask, un, able, a, ff, fan, hash, jing, bracket = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
	for _, tt := range []struct {
		text  string
		limit int
		want  []int
	}{
		{"", 256, []int{cls, sep}},
		{"unaffable", 256, []int{cls, un, a, ff, able, sep}},
		{"Unable", 256, []int{cls, un, able, sep}},
		{"able", 256, []int{cls, unk, sep}},         // it only continues a word
		{"unx fan", 256, []int{cls, unk, fan, sep}}, // the whole word is unknown
		{"##able", 256, []int{cls, hash, hash, unk, sep}},
		{"京fan", 256, []int{cls, jing, fan, sep}},
		{"fan [SEP]un[MASK] [sep] [", 256, []int{cls, fan, sep, un, mask, bracket, unk, unk, bracket, sep}},
		{"[UNK][PAD]", 256, []int{cls, unk, 0, sep}},
		{"fan fan fan", 4, []int{cls, fan, fan, sep}},
		{"unaffable", 4, []int{cls, un, a, sep}},
		{"fan[MASK][MASK]", 4, []int{cls, fan, mask, sep}},
		{"fan", 2, []int{cls, sep}},
		{"un" + strings.Repeat("a", 98), 256, append(append([]int{cls, un}, slicesOf(a, 98)...), sep)},
		{"un" + strings.Repeat("a", 99), 256, []int{cls, unk, sep}},
	} {
		if diff := cmp.Diff(tt.want, small(t).encode(tt.text, tt.limit)); diff != "" {
			t.Errorf("encode(%.30q, %d) (-want +got):\n%s", tt.text, tt.limit, diff)
		}
	}
}

func slicesOf(id, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = id
	}
	return list
}

// TestRealVocabulary checks known pieces of BERT's uncased vocabulary.
func TestRealVocabulary(t *testing.T) {
	data, err := os.ReadFile("../../.tools/minilm/tokenizer.json")
	if err != nil {
		t.Skipf("the vocabulary is missing: %v; scripts/minilm.sh .tools/minilm downloads it", err)
	}
	tok, err := readTokenizer(data)
	if err != nil {
		t.Fatal(err)
	}
	if got := tok.size(); got != miniLM.Vocab {
		t.Errorf("%d pieces, want %d", got, miniLM.Vocab)
	}
	// "hello world" and "embeddings" (em ##bed ##ding ##s) are standard examples.
	want := []int{101, 7592, 2088, 7861, 8270, 4667, 2015, 102}
	if diff := cmp.Diff(want, tok.encode("Hello world embeddings", maxTokens)); diff != "" {
		t.Errorf("encode (-want +got):\n%s", diff)
	}
}

func FuzzEncode(f *testing.F) {
	for _, text := range []string{"", "un[MASK]fan", "[[[]]]", "\xff京\u0301", strings.Repeat("una", 100)} {
		f.Add(text, 256)
	}
	tok := small(f)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = 2 + int(uint(limit)%300)
		tokens := tok.encode(text, limit)
		if n := len(tokens); n < 2 || n > limit || tokens[0] != tok.begin || tokens[n-1] != tok.end {
			t.Fatalf("encode(%q, %d) = %v", text, limit, tokens)
		}
		for _, id := range tokens {
			if id < 0 || id >= tok.size() {
				t.Fatalf("encode(%q, %d) has the token %d", text, limit, id)
			}
		}
		for _, word := range words(text) {
			if word == "" || !utf8.ValidString(word) || strings.ContainsFunc(word, unicode.IsSpace) {
				t.Fatalf("words(%q) has %q", text, word)
			}
		}
	})
}

// TestHalf compares every half-precision number with its definition.
func TestHalf(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		exponent, fraction := int(h>>10)&0x1f, float64(h&0x3ff)/1024
		var want float64
		switch exponent {
		case 0:
			want = math.Ldexp(fraction, -14)
		case 31:
			want = math.Inf(1)
			if fraction != 0 {
				want = math.NaN()
			}
		default:
			want = math.Ldexp(1+fraction, exponent-15)
		}
		if h>>15 == 1 {
			want = -want
		}
		got := float64(half(h))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != (h>>15 == 1) {
			t.Fatalf("half(%#04x) = %v, want %v", h, got, want)
		}
	}
}

func TestGelu(t *testing.T) {
	for x := float32(-9); x <= 9; x += 1.0 / 1999 {
		list := []float32{x}
		gelu(list)
		want := float64(x) * 0.5 * math.Erfc(-float64(x)/math.Sqrt2)
		if math.Abs(float64(list[0])-want) > 1e-7*(1+math.Abs(float64(x))) {
			t.Fatalf("gelu(%v) = %v, want %v", x, list[0], want)
		}
	}
}

// TestLinear compares the unrolled loops with a plain one, for sizes that they do and do
// not divide.
func TestLinear(t *testing.T) {
	for _, size := range []struct{ rows, in, out int }{{1, 1, 1}, {2, 3, 3}, {3, 5, 7}, {4, 384, 6}, {5, 8, 2}, {7, 13, 8}} {
		number := func(i int) float32 { return float32(i*i%17) - 8 }
		var weight, bias, x, want []float32
		for i := range size.in * size.out {
			weight = append(weight, number(i))
		}
		for i := range size.out {
			bias = append(bias, number(i+3))
		}
		for i := range size.rows * size.in {
			x = append(x, number(i+5))
		}
		for i := range size.rows {
			for j := range size.out {
				sum := bias[j]
				for k := range size.in {
					sum += x[i*size.in+k] * weight[j*size.in+k] // small whole numbers: exact
				}
				want = append(want, sum)
			}
		}
		l := newLinear(weight, bias, size.in, size.out)
		got := make([]float32, size.rows*size.out)
		l.apply(got, x)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", size, diff)
		}
	}
}

func TestRecent(t *testing.T) {
	r := newRecent(2)
	r.put("a", []float32{1})
	r.put("b", []float32{2})
	if _, ok := r.get("a"); !ok {
		t.Error("a is gone")
	}
	r.put("c", []float32{3})
	if _, ok := r.get("b"); ok {
		t.Error("b is there, and was the oldest of three")
	}
	r.put("a", []float32{4})
	if v, ok := r.get("a"); !ok || v[0] != 4 || r.order.Len() != 2 || len(r.places) != 2 {
		t.Errorf("a = %v, %t among %d", v, ok, r.order.Len())
	}
}

// FuzzSafetensors checks that a damaged file gives an error and no panic.
func FuzzSafetensors(f *testing.F) {
	file := func(header string, body int) []byte {
		return append(append([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}, header...), make([]byte, body)...)
	}
	f.Add(file(`{"a":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]}}`, 12))
	f.Add(file(`{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}`, 4))
	f.Add(file(`{"a":{"dtype":"F16","shape":[-1],"data_offsets":[4,2]}}`, 12))
	f.Add(file(`{"a":{"dtype":"F16","shape":[9007199254740993],"data_offsets":[0,18446744073709551615]}}`, 1))
	f.Add(file(`null`, 0))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		tensors, err := readSafetensors(data)
		if err != nil {
			return
		}
		for _, tn := range tensors {
			if tn.check(tn.shape...) == nil {
				n := 1
				for _, s := range tn.shape {
					n *= s
				}
				if got := len(tn.floats()); got != n {
					t.Fatalf("shape %v has %d numbers", tn.shape, got)
				}
			}
		}
		_, _ = newNetwork(miniLM, tensors)
	})
}

// FuzzReadVocab checks that a vocabulary in either format is rejected or gives tokens that
// the network has a row for.
func FuzzReadVocab(f *testing.F) {
	f.Add([]byte("[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##able\n"), "unable [SEP] café 京")
	f.Add([]byte("[UNK]\n[CLS]\n[SEP]\n\n##\n"), "##")
	f.Add([]byte(`{"model":{"type":"WordPiece","vocab":{"[UNK]":1,"[CLS]":2,"[SEP]":3,"un":9}},"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},"added_tokens":[{"id":4,"content":"[MASK]"}]}`), "un[MASK]")
	f.Add([]byte(`{"model":{"type":"WordPiece","vocab":{"[UNK]":1,"[CLS]":2,"[SEP]":3,"un":9}},"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},"added_tokens":[{"id":-4,"content":"[MASK]"}]}`), "un[MASK]")
	f.Add([]byte(`{"model":{"type":"WordPiece","vocab":{"[UNK]":-1}},"added_tokens":[{"id":-4,"content":""}]}`), "x")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		for name, read := range map[string]func([]byte) (*tokenizer, error){"vocab.txt": readVocab, "tokenizer.json": readTokenizer} {
			tok, err := read(data)
			if err != nil {
				continue
			}
			for _, id := range tok.encode(text, 64) {
				if id < 0 || id >= tok.size() {
					t.Errorf("%s: a token of %q is %d, of %d", name, text, id, tok.size())
				}
			}
		}
	})
}

// FuzzReadConfig checks that a network is rejected or has usable sizes.
func FuzzReadConfig(f *testing.F) {
	for _, seed := range []string{
		"", `{}`, `{"hidden_size":384,"num_attention_heads":12}`, `{"hidden_size":0}`, `{"hidden_size":385}`, `{"num_hidden_layers":1e9}`,
		`{"max_position_embeddings":1}`, `{"hidden_act":"relu"}`, `{"layer_norm_eps":-1}`, `[]`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := readConfig(data)
		if err != nil {
			return
		}
		if g.Hidden < 1 || g.Heads < 1 || g.Hidden%g.Heads != 0 || g.Positions < 2 || g.Vocab > maxSize || g.Layers > maxSize || g.Inner > maxSize {
			t.Errorf("a network of %+v was taken", g)
		}
	})
}
