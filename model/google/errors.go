package google

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"deem/internal/wire"
)

// statusError returns the error for an unsuccessful answer.
func (m *client) statusError(a wire.Answer) error {
	t := readTrouble(m.Client.ErrorText(a))
	status := a.Status
	if a.OK() {
		// A gateway passes on the error of its upstream server.
		status = http.StatusBadGateway
		if t.code >= 400 && t.code <= 599 {
			status = t.code
		}
	}
	cause, hint := m.cause(t, status)
	return m.Client.Failure(a, wire.Trouble{
		Status:     status,
		Message:    t.message,
		Code:       wire.OneLine([]byte(cmp.Or(t.reason, t.status))),
		Param:      strings.Join(t.fields, " ") + " " + t.message,
		RetryAfter: t.delay,
		Hint:       hint,
	}, cause)
}

// cause classifies an error of the server, and returns advice if the usual does not fit.
// The order matters: an invalid key comes as a 400, and an exhausted daily quota as a 429.
func (m *client) cause(t trouble, status int) (cause wire.Cause, hint string) {
	switch {
	case strings.HasPrefix(t.reason, "API_KEY_"), strings.HasPrefix(strings.ToLower(t.message), "api key "), status == http.StatusUnauthorized:
		if !m.Client.Keyed() {
			hint = fmt.Sprintf("%s wants a key; set %s", m.Client.Host(), keyVariable)
		}
		return wire.BadKey, hint
	case status == http.StatusPaymentRequired, t.says("spending cap", "credits are depleted"):
		return wire.Quota, fmt.Sprintf("the account at %s has no credit left; add some, raise its limit, or use another key", m.Client.Host())
	case status == http.StatusTooManyRequests && t.noQuota():
		return wire.Quota, fmt.Sprintf("the quota of this key for %s is used up for the day, or it has none; wait for the next day, turn on billing, or choose another model", m.name)
	case status == http.StatusForbidden, status == http.StatusBadRequest && t.status == "FAILED_PRECONDITION":
		return wire.Denied, ""
	case status == http.StatusNotFound && t.structured:
		return wire.NoModel, ""
	case slices.Contains([]int{404, 405, 410, 415}, status):
		return wire.NoCall, ""
	case status == http.StatusProxyAuthRequired, status < 400:
		return wire.ByStatus, ""
	case t.says("exceeds the maximum number of tokens", "token count exceeds", "payload size exceeds", "input is too long"):
		return wire.TooLong, "" // The API reports it only in the message.
	case status == http.StatusBadRequest && t.badSetting():
		return wire.Setting, ""
	case status == 499, status == http.StatusNotImplemented:
		return wire.Busy, ""
	}
	return wire.ByStatus, ""
}

// says reports whether the message contains any of the words.
func (t trouble) says(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(t.message, w) })
}

// zeroLimit finds a quota of zero in a message, such as "limit: 0, model: gemini-3-pro".
var zeroLimit = regexp.MustCompile(`\blimit: 0\b[^.\d]`)

// noQuota reports whether waiting is useless within a run: the quota is per day or month,
// or zero, as for a model that is not in the free tier. Even then, the API asks to retry in
// seconds.
func (t trouble) noQuota() bool {
	long := func(q quota) bool {
		return strings.Contains(q.ID, "PerDay") || strings.Contains(q.ID, "PerMonth") || q.Value == "0" || q.Value == float64(0)
	}
	return slices.ContainsFunc(t.quotas, long) || zeroLimit.MatchString(t.message+" ")
}

// settings are words in messages about fields that are the same for all items, so that an
// error in one of them affects all items. The messages name the fields and do not quote
// prompts.
var settings = []string{
	"generation_config", "generationConfig", "Unknown name", "ogprobs", "hinking", "Budget ", "JSON mode",
	"JsonSchema", "json_schema", "response_schema", "response_mime_type", "response mime type",
	"eveloper instruction", "ystem instruction", "maxOutputTokens", "max_output_tokens", "stop_sequences", "stopSequences",
	"temperature", "topP", "top_p",
}

// badSetting reports whether a setting is the cause, by the named field or else by the
// message.
func (t trouble) badSetting() bool {
	inConfig := func(field string) bool {
		return strings.HasPrefix(field, "generation_config") || strings.HasPrefix(field, "generationConfig") || strings.HasPrefix(field, "system_instruction")
	}
	return slices.ContainsFunc(t.fields, inConfig) || t.says(settings...)
}

// A trouble is the body of an error: a google.rpc.Status with its details.
type trouble struct {
	message string
	status  string // for example "RESOURCE_EXHAUSTED"
	code    int    // the HTTP status in the body
	reason  string // of an ErrorInfo, for example "API_KEY_INVALID"
	quotas  []quota
	fields  []string      // of a BadRequest, for example "generation_config.seed"
	delay   time.Duration // of a RetryInfo

	structured bool // it is the API's JSON, and not from a web server
}

// A quota is a limit that was exceeded.
type quota struct {
	ID    string `json:"quotaId"`    // for example "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
	Value any    `json:"quotaValue"` // for example "0"; the API writes 64-bit numbers as strings
}

// readTrouble parses the body of an error, which is an object or a list of one. If it is
// neither, its text is the message. Unknown details are skipped: they only add to the status.
func readTrouble(text string) trouble {
	body := []byte(text)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var w struct {
		Error struct {
			Code    int             `json:"code"`
			Message string          `json:"message"`
			Status  string          `json:"status"`
			Details json.RawMessage `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &w) != nil || w.Error.Message == "" && w.Error.Status == "" {
		return trouble{message: text}
	}
	t := trouble{message: w.Error.Message, status: w.Error.Status, code: w.Error.Code, structured: true}
	var details []json.RawMessage
	if json.Unmarshal(w.Error.Details, &details) != nil {
		return t
	}
	for _, one := range details {
		var d struct {
			Reason          string  `json:"reason"`
			RetryDelay      string  `json:"retryDelay"`
			Violations      []quota `json:"violations"`
			FieldViolations []struct {
				Field string `json:"field"`
			} `json:"fieldViolations"`
		}
		if json.Unmarshal(one, &d) != nil {
			continue
		}
		t.reason = cmp.Or(d.Reason, t.reason)
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			t.delay = max(t.delay, wait)
		}
		t.quotas = append(t.quotas, d.Violations...)
		for _, f := range d.FieldViolations {
			t.fields = append(t.fields, f.Field)
		}
	}
	return t
}
