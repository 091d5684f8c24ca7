package command

// What tests outside the package see of the types behind [Open] and [Dial].
type (
	Model  = program
	Server = server
)
