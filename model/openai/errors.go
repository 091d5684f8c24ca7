package openai

import (
	"slices"
	"strings"

	"deem/internal/wire"
)

// Codes that some servers use with any status.
var (
	quotaCodes   = []string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "access_terminated", "insufficient_user_quota"}
	keyCodes     = []string{"invalid_api_key", "account_deactivated", "invalid_organization", "mismatched_organization"}
	modelCodes   = []string{"model_not_found", "DeploymentNotFound", "invalid_model", "model_not_available"}
	settingCodes = []string{"unsupported_parameter", "unsupported_value", "unknown_parameter", "invalid_json_schema"}
	lengthCodes  = []string{"context_length_exceeded", "string_above_max_length", "exceed_context_size_error"}
	filterCodes  = []string{"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}

	// settingParams are the request fields that are the same for all items, so that an
	// error in one of them affects all items. The token limit is not included: whether it
	// fits depends on the length of the prompt.
	settingParams = []string{"model", "temperature", "top_p", "seed", "stop", "n", "logprobs", "top_logprobs", "response_format", "reasoning_effort", "stream", "service_tier"}
)

// cause classifies an error of the server. The order matters: an error about a prompt that
// is too long may name a parameter. Google and llama.cpp report some causes only in the
// message.
func cause(t wire.Trouble) wire.Cause {
	param := t.Param
	if i := strings.IndexAny(param, ".["); i >= 0 {
		param = param[:i] // "response_format" of "response_format.json_schema"
	}
	switch {
	case t.Is(quotaCodes...):
		return wire.Quota
	case t.Status == 404 && t.Message == "File Not Found": // llama.cpp, for a path
		return wire.NoCall
	case t.Is(modelCodes...):
		return wire.NoModel
	case t.Is(keyCodes...), strings.HasPrefix(t.Message, "API key not valid"):
		return wire.BadKey
	case t.Is(filterCodes...):
		return wire.Filtered
	case t.Is(lengthCodes...), strings.Contains(t.Message, "maximum context length"), strings.HasPrefix(t.Message, "Request too large"):
		return wire.TooLong
	case t.Status == 400 && (t.Is(settingCodes...) || slices.Contains(settingParams, param) || t.Says("JSON schema error")):
		return wire.Setting
	default:
		return wire.ByStatus
	}
}
