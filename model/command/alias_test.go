package command

// The types behind [Open] and [Dial], for tests outside the package.
type (
	Model  = program
	Server = server
)

const ItemRole = itemRole
