package bundle

// Constants that tests compare with.
const (
	CheckVerdict = checkVerdict
)
