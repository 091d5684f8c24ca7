package text_test

import (
	"fmt"

	"deem/internal/text"
)

// Values are written as in Python, because published prompts were made that way.
func ExampleStr() {
	fmt.Println(text.Str(2.50), text.Str(true), text.Str(nil))
	fmt.Println(text.Str([]any{"2", "两个"}))
	// Output:
	// 2.5 True None
	// ['2', '两个']
}

// SQuAD's normalisation: lower case, no punctuation, no articles, single blanks.
func ExampleSQuAD() {
	fmt.Printf("%q\n", text.SQuAD("The  Eiffel Tower, in Paris!"))
	// Output: "eiffel tower in paris"
}

// Round works like Python's round, which uses the binary value.
func ExampleRound() {
	fmt.Println(text.Round(2.675, 2), text.Round(0.5, 0), text.Round(1.5, 0))
	// Output: 2.67 0 2
}
