package metric_test

import (
	"fmt"

	"deem/internal/text/metric"
)

func ExampleROUGEL() {
	s := metric.ROUGEL("The cats sat on the mat.", "A cat sat on a mat", true)
	fmt.Printf("precision %.2f, recall %.2f, F1 %.2f\n", s.Precision, s.Recall, s.F1)
	// Output:
	// precision 0.67, recall 0.67, F1 0.67
}

func ExampleInfiniteBench() {
	s, err := metric.InfiniteBench("code_debug", "I think the answer is: B", []any{"find_path", "B"}, "gpt4")
	fmt.Println(s, err)
	// Output:
	// 1 <nil>
}
