package run

// Text returns the tokens of a text without a message around it.
func (c Counter) Text(s string) int { return c.text(s) }
