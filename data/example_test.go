package data_test

import (
	"fmt"

	"deem/data"
)

func ExampleOpen() {
	for it, err := range data.Open("../examples/library/testdata/answers.jsonl") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s %q\n", it.ID, it.Question, it.Response)
	}
	// Output:
	// q1: Where does Mara live? "In Porto."
	// q2: How many hives has she? "Six."
}
