package wire

import (
	"fmt"
	"regexp"
	"strings"
)

// params maps the vendors' names of parameters to those of a [deem.Request].
var params = map[string]string{
	"temperature": "temperature", "top_p": "top_p", "topP": "top_p", "seed": "seed",
	"stop": "stop", "stop_sequences": "stop", "stopSequences": "stop",
	"max_tokens": "max_tokens", "max_completion_tokens": "max_tokens", "maxOutputTokens": "max_tokens", "max_output_tokens": "max_tokens", "num_predict": "max_tokens",
	"top_logprobs": "top_logprobs", "logprobs": "top_logprobs", "responseLogprobs": "top_logprobs",
	"response_format": "schema", "responseJsonSchema": "schema", "response_json_schema": "schema", "json_schema": "schema", "format": "schema",
	"reasoning_effort": "thinking", "reasoning": "thinking", "thinking": "thinking", "think": "thinking", "thinkingConfig": "thinking",
	"thinking_config": "thinking", "thinkingLevel": "thinking", "thinking_level": "thinking", "thinkingBudget": "thinking", "effort": "thinking",
}

// identifier matches possible names of parameters.
var identifier = regexp.MustCompile(`[A-Za-z_]+`)

// paramOf returns the parameter of a request that an error is about, by our name: the one
// that the vendor names, for example "response_format.json_schema", or else the first one
// in its message, or "".
func paramOf(param, message string) string {
	for _, text := range []string{param, message} {
		for _, name := range identifier.FindAllString(text, -1) {
			if p, ok := params[name]; ok {
				return p
			}
		}
	}
	return ""
}

// unsupported reports whether the trouble is a parameter that is not supported at all,
// rather than a wrong value.
func (t Trouble) unsupported() bool {
	return t.Is("unsupported_parameter", "unsupported_value", "unknown_parameter") || t.Says(
		"unsupported", "not support", "n't support", "unknown name", "unknown parameter", "unrecognized", "not permitted", "deprecated", "not available")
}

// settingHint returns advice about a parameter that a model rejects: it is unsupported, or
// the value is wrong.
func settingHint(model, param string, unsupported bool) string {
	advice := fmt.Sprintf("change params.%s in the judge's file", param)
	switch param {
	case "":
		return fmt.Sprintf("the model %q does not take this setting; leave it out, or choose another model", model)
	case "thinking":
		return fmt.Sprintf("the model %q rejects this --thinking; use another (low, medium, high or a number of tokens), or leave --thinking out", model)
	case "temperature", "max_tokens":
		advice = fmt.Sprintf("set another with --%s, or %s", strings.ReplaceAll(param, "_", "-"), advice)
	case "schema":
		advice = "take params.schema out of the judge's file"
	}
	if unsupported {
		advice += fmt.Sprintf(", or allow the judge to go without it there: params.optional: [%s]", param)
	}
	return fmt.Sprintf("the judge sets %s, and the model %q does not take it so: %s", param, model, advice)
}
