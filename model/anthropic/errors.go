package anthropic

import (
	"strings"

	"deem/model/internal/wire"
)

// cause says what the server means by an error. Most is said by its type, but a
// request that is not taken is an invalid_request_error whatever the reason, which
// stands in words only.
func cause(t wire.Trouble) wire.Cause {
	switch {
	case t.Is("billing_error"), t.Says("credit balance is too low", "specified API usage limits"):
		return wire.Quota
	case t.Is("authentication_error"):
		return wire.BadKey
	case t.Is("not_found_error") && strings.HasPrefix(t.Message, "model"):
		return wire.NoModel
	case t.Is("not_found_error"):
		return wire.NoCall
	case t.Says("content filtering policy"):
		return wire.Filtered
	case tooLong(t):
		return wire.TooLong
	case t.Status == 400 && badSetting(t.Message):
		return wire.Setting
	default:
		return wire.ByStatus
	}
}

// tooLong reports whether the request is longer than it can ever be.
func tooLong(t wire.Trouble) bool {
	return t.Is("request_too_large", "exceed_context_size_error") ||
		t.Says("prompt is too long", "exceed context limit", "exceeds the available context size", "maximum context length")
}

// settings are the fields of a request that are the same for all items, so that
// what is wrong with them is wrong for all.
var settings = []string{
	"model", "max_tokens", "temperature", "top_p", "stop_sequences", "thinking", "output_config", "tools", "tool_choice",
	"anthropic-version", "anthropic-beta",
}

// badSetting reports whether a message is about a setting. It begins with the path
// of the field that is at fault, in quotes or not, or it says what the model does
// not take.
func badSetting(message string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(message, "`'\""), " ")
	field := strings.FieldsFunc(first, func(c rune) bool { return strings.ContainsRune(":.`'\"[", c) })
	if len(field) > 0 {
		for _, s := range settings {
			if field[0] == s {
				return true
			}
		}
	}
	return strings.Contains(message, "not supported") || strings.Contains(message, "does not support")
}
