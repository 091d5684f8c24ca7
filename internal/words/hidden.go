package words

import (
	"fmt"
	"io"
)

// Hidden is embedded in a struct that holds secrets, so that nothing of it is printed or
// logged.
type Hidden struct{}

// Format writes dots in place of the struct, whatever the verb.
func (Hidden) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "{...}") }
