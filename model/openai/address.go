package openai

import (
	"strings"

	"deem/model/internal/wire"
)

// The paths of the calls, below the base URL.
const (
	chatPath  = "/chat/completions"
	embedPath = "/embeddings"
)

// parseAddress reads a base URL in any of the forms that people write: with the
// whole path of a call at its end, or without any path.
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

// azure reports whether the server is Azure's, which wants its key in a header of
// its own.
func azure(b wire.Base) bool {
	for _, suffix := range []string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"} {
		if strings.HasSuffix(b.Host(), suffix) {
			return true
		}
	}
	return false
}
