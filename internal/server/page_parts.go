package server

// A pageCard is one of the numbers in large letters.
type pageCard struct {
	Name, Value, Small string
	Marks              []int
}

// A pageNote is a footnote.
type pageNote struct {
	N    int
	Text string
}
