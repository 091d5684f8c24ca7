package published

import "context"

func isToy(c *content) bool { return c.pieces[0].has("toys") }

// readToy reads {"toys": [...]}, whose rows are like other rows.
func (s *Set) readToy(_ context.Context, src Source, c *content) error {
	rows := *c
	rows.pieces = nil
	for _, r := range c.pieces[0].member("toys").vals {
		rows.pieces = append(rows.pieces, piece{file: c.pieces[0].file, line: c.pieces[0].line, node: r})
	}
	err := s.readAny(src, &rows)
	s.Shape = "toy"
	return err
}
