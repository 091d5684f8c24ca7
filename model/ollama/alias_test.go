package ollama

// Model is what tests outside the package see of the type behind [New].
type Model = client
