package metric_test

import (
	"fmt"
	"strings"

	"deem/internal/text/metric"
)

func ExampleJiebaCut() {
	fmt.Println(strings.Join(metric.JiebaCut("有两人叫阿四。"), " | "))
	// Output: 有 | 两人 | 叫 | 阿四 | 。
}
