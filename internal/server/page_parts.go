package server

// A pageNote is a footnote.
type pageNote struct {
	N    int
	Text string
}
