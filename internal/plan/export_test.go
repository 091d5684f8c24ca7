package plan

// Text returns the tokens of a text by itself.
func (c Counter) Text(s string) int { return c.text(s) }
