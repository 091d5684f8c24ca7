package nltk_test

import (
	"fmt"

	"deem/internal/text/nltk"
)

func ExampleWords() {
	fmt.Printf("%q\n", nltk.Words("Dr. Vos didn't sail. She flew."))
	// Output: ["Dr." "Vos" "did" "n't" "sail" "." "She" "flew" "."]
}

// Without a thesaurus, METEOR matches equal words and equal stems.
func ExampleMETEOR() {
	score, err := nltk.METEOR(nltk.Words("she keeps bees"), [][]string{nltk.Words("she kept bees")}, nil)
	fmt.Printf("%.3f %v\n", score, err)
	// Output: 0.333 <nil>
}
