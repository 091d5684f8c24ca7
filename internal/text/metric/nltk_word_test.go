package metric_test

import (
	"strings"
	"testing"

	"deem/internal/text"
	"deem/internal/text/metric"

	"github.com/google/go-cmp/cmp"
)

func TestSentences(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" \n", nil},
		{"One. Two.", []string{"One.", "Two."}},
		{" One.\n\nTwo. ", []string{" One.", "Two."}},
		{"Mr. Hale met Dr. Vance.", []string{"Mr. Hale met Dr. Vance."}},
		{"It is 3 p.m. in Porto.", []string{"It is 3 p.m. in Porto."}},
		{"He came at 3 p.m. He left.", []string{"He came at 3 p.m.", "He left."}}, // a word that often begins a sentence
		{"He came at 3 p.m. She left.", []string{"He came at 3 p.m. She left."}},  // one that does not, for NLTK
		{"Plays by J. Marsh.", []string{"Plays by J. Marsh."}},                    // an initial
		{"Version 2. Marsh wrote it.", []string{"Version 2.", "Marsh wrote it."}}, // a number
		{"In part 2. marsh is wet.", []string{"In part 2. marsh is wet."}},        // a small letter follows
		{"Really?! Yes.", []string{"Really?!", "Yes."}},                           // the last of several
		{"(It rained.) We left.", []string{"(It rained.)", "We left."}},           // brackets close
		{`"Go!" he said.`, []string{`"Go!"`, `he said.`}},                         // and quotes
		{"Stop.Go", []string{"Stop.Go"}},                                          // no space
		{"Wait... what?", []string{"Wait... what?"}},                              // dots
		{"Wait... But why?", []string{"Wait...", "But why?"}},                     // a word that begins sentences
		{"End. . . . More", []string{"End.", ".", ".", ".", "More"}},              // dots apart
		{"北京。上海. 广州", []string{"北京。上海.", "广州"}},                                   // only ASCII ends sentences
		{"One.\u00a0Two.\u2028Three.", []string{"One.\u00a0Two.", "Three."}},      // only ASCII white space ends the word before
		{"Sales of 1,250. (See below.) Ok.", []string{"Sales of 1,250.", "(See below.)", "Ok."}},
	} {
		if diff := cmp.Diff(tt.want, metric.NLTKSentences(tt.text)); diff != "" {
			t.Errorf("Sentences(%q) (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestLineWords(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		"It's 3.88, isn't it?":        "It 's 3.88 , is n't it ?",
		"One. Two.":                   "One. Two .",
		"Done.)":                      "Done . )",
		`"Go," she said.`:             "`` Go , '' she said .",
		`say "hi"`:                    "say `` hi ''",
		"''tis ''so''":                "'' tis `` so ''",
		"1,000:30, 4:30":              "1,000:30 , 4:30",
		"a,,b":                        "a , ,b",
		"end,":                        "end ,",
		"end:\n":                      "end :",
		"wait...no":                   "wait ... no",
		"a--b -c":                     "a -- b -c",
		"cannot Gimme GONNA wanna go": "can not Gim me GON NA wan na go",
		"wanna":                       "wan na",
		"wanna.":                      "wan na .",
		"cannots":                     "cannots",
		"'tis 'Twas":                  "'t is 'T was",
		"d'ye more'n":                 "d 'ye more 'n",
		"we'll WE'LL we'Ll":           "we 'll WE 'LL we'Ll",
		"the dogs' tails":             "the dogs ' tails",
		"rock 'n' roll":               "rock 'n ' roll",
		"'a' 's'":                     "' a ' 's '",
		"«a» “b” ‘c’ „d":              "« a » “ b ” ‘ c ’ „ d",
		"x@y.z #1 50% *a* <b> [c]":    "x @ y.z # 1 50 % * a * < b > [ c ]",
		"`code` ``q''":                "` code ` `` q ''",
		"gımme":                       "gım me", // Python's case-insensitive i
		"３,３":                         "３,３",
	} {
		if got := strings.Join(metric.NLTKLineWords(in), " "); got != want {
			t.Errorf("LineWords(%q) = %q, want %q", in, got, want)
		}
	}
}

// Only the period at the end of a sentence is a word.
func TestWords(t *testing.T) {
	const want = "Mr. Hale left . He ca n't stay ."
	if got := strings.Join(metric.NLTKWords("Mr. Hale left. He can't stay."), " "); got != want {
		t.Errorf("Words = %q, want %q", got, want)
	}
}

// FuzzWords checks that splitting removes and adds only white space, and changes only
// double quotes.
func FuzzWords(f *testing.F) {
	for _, s := range []string{newsParagraph, another, "", ". . . .", "'t'is", "\xff.\xfe ", "a.\u2028)", "''''", "x,:\n", "İ. ſ' ı"} {
		f.Add(s)
	}
	quotes := strings.NewReplacer(`"`, "", "``", "", "''", "", "`", "", "'", "")
	squeeze := func(texts ...string) string {
		var b strings.Builder
		for _, s := range texts {
			b.WriteString(strings.Join(text.Split(s), ""))
		}
		return quotes.Replace(b.String())
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := squeeze(s)
		for name, words := range map[string][]string{
			"Sentences": metric.NLTKSentences(s), "Words": metric.NLTKWords(s), "LineWords": metric.NLTKLineWords(s),
		} {
			if got := squeeze(words...); got != want {
				t.Errorf("%s(%q) = %q", name, s, words)
			}
		}
	})
}
