package jieba_test

import (
	"fmt"
	"strings"

	"deem/internal/text/jieba"
)

func ExampleCut() {
	fmt.Println(strings.Join(jieba.Cut("有两人叫阿四。"), " | "))
	// Output: 有 | 两人 | 叫 | 阿四 | 。
}
