package openai

import (
	"strings"

	"deem/internal/wire"
)

// The paths of the calls, below the base URL.
const (
	chatPath  = "/chat/completions"
	embedPath = "/embeddings"
)

// parseAddress parses a base URL in the common forms: with the full path of a call, or
// without any path.
func parseAddress(base string) (wire.Base, error) {
	b, err := wire.ParseBase(base, defaultBaseURL)
	if err != nil {
		return wire.Base{}, err
	}
	switch {
	case b.Path() == "" && azure(b):
		return b.WithPath("/openai/v1"), nil
	case b.Path() == "":
		return b.WithPath("/v1"), nil
	}
	for _, call := range []string{chatPath, embedPath} {
		if path, whole := strings.CutSuffix(b.Path(), call); whole {
			return b.WithPath(path), nil
		}
	}
	return b, nil
}

// azure reports whether the server is Azure's, which expects its key in a separate header.
func azure(b wire.Base) bool {
	for _, suffix := range []string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"} {
		if strings.HasSuffix(b.Host(), suffix) {
			return true
		}
	}
	return false
}
