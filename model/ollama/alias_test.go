package ollama

// Model is the type behind [New], for tests outside the package.
type Model = client
