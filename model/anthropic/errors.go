package anthropic

import (
	"slices"
	"strings"

	"deem/internal/wire"
)

// cause classifies an error of the server. Most have their own type, but a rejected request
// is an invalid_request_error whatever the reason, which is only in the message.
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
	case t.Is("request_too_large", "exceed_context_size_error"),
		t.Says("prompt is too long", "exceed context limit", "exceeds the available context size", "maximum context length"):
		return wire.TooLong
	case t.Status == 400 && badSetting(t.Message):
		return wire.Setting
	default:
		return wire.ByStatus
	}
}

// settings are the request fields that are the same for all items, so that an error in one
// of them affects all items.
var settings = []string{
	"model", "max_tokens", "temperature", "top_p", "stop_sequences", "thinking", "output_config", "tools", "tool_choice",
	"anthropic-version", "anthropic-beta",
}

// badSetting reports whether a message is about a setting. It begins with the path of the
// field, quoted or not, or says what the model does not support.
func badSetting(message string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(message, "`'\""), " ")
	field := strings.FieldsFunc(first, func(c rune) bool { return strings.ContainsRune(":.`'\"[", c) })
	if len(field) > 0 && slices.Contains(settings, field[0]) {
		return true
	}
	return strings.Contains(message, "not supported") || strings.Contains(message, "does not support")
}
