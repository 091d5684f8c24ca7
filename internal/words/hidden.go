package words

import (
	"fmt"
	"io"
)

// Hidden is embedded in a struct that contains secrets, so that it is not printed or
// logged.
type Hidden struct{}

// Format writes dots in place of the struct, for any verb.
func (Hidden) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "{...}") }
