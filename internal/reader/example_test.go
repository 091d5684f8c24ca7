package reader_test

import (
	"fmt"

	"deem/internal/reader"
)

// The passages are numbered in the order of their rank.
func ExampleDeclaration_Request() {
	d, err := reader.Open(reader.Default)
	if err != nil {
		fmt.Println(err)
		return
	}
	req, err := d.Request(reader.Question{
		Text: "Where does Mara live?",
		Date: "2024-06-30",
		Contexts: []reader.Context{
			{Text: "Mara moved to Porto.", Time: "2024-06-03"},
			{Text: "Mara likes old maps."},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(req.Messages[1].Content)
	// Output:
	// Passages:
	// [1] (2024-06-03) Mara moved to Porto.
	// [2] Mara likes old maps.
	//
	// Date of the question: 2024-06-30
	// Question: Where does Mara live?
	// Answer:
}
