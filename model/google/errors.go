package google

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"deem"
	"deem/internal/wire"
)

// maxTrouble is how much of the body of an error is read.
const maxTrouble = 1 << 20

// statusError returns the error for an unsuccessful answer.
func (m *client) statusError(a wire.Answer) error {
	// Redact before shortening: otherwise the text could end in half a key.
	t := readTrouble(m.Client.Redact(string(a.Text[:min(len(a.Text), maxTrouble)])))
	status := a.Status
	if a.OK() {
		// A gateway passes on the error of its upstream server.
		status = http.StatusBadGateway
		if t.code >= 400 && t.code <= 599 {
			status = t.code
		}
	}
	me := &deem.ModelError{Kind: deem.Provider, Status: status, Code: wire.OneLine([]byte(cmp.Or(t.reason, t.status)))}
	if status == http.StatusRequestTimeout || status == http.StatusGatewayTimeout {
		me.Kind = deem.Timeout
	}
	why := t.cause(status)
	me.Fatal = why != ""
	if !me.Fatal && !t.tooLong() && (status >= 500 || slices.Contains([]int{408, 409, 425, 429, 499}, status)) {
		me.Passing = true
		me.RetryAfter = wire.RetryAfter(a.Header, time.Now())
		if me.RetryAfter == 0 {
			me.RetryAfter = t.delay
		}
	}
	if why == badSetting {
		me.Param = wire.ParamOf("", strings.Join(t.fields, " ")+" "+t.message)
		me.Unsupported = me.Param != "" && wire.Unsupports(t.message)
	}
	me.Err = errors.New(wire.Explain(wire.OneLine([]byte(t.message)), status))
	if why != "" {
		me.Err = deem.WithHint(me.Err, "%s", m.hint(why, me))
	}
	return me
}

// hint returns what the user can do about a cause.
func (m *client) hint(why cause, me *deem.ModelError) string {
	host := m.Client.Host()
	switch why {
	case badKey:
		if !m.Client.Keyed() {
			return fmt.Sprintf("%s wants a key; set %s", host, keyVariable)
		}
		return fmt.Sprintf("%s is not accepted by %s", keyVariable, host)
	case noQuota:
		return fmt.Sprintf("the quota of this key for %s is used up for the day, or it has none; wait for the next day, turn on billing, or choose another model", m.name)
	case noCredit:
		return fmt.Sprintf("the account at %s has no credit left; add some, raise its limit, or use another key", host)
	case notAllowed:
		return fmt.Sprintf("%s does not allow this; check what the key may do, and whether the service is offered where you are", host)
	case noModel:
		return fmt.Sprintf("%s does not know the model %q, or the key may not use it; check the name", host, m.name)
	case badAddress:
		return fmt.Sprintf("nothing at %s answers such calls; check the base URL, which usually ends with /v1beta", m.Client.Endpoint())
	case redirected:
		return fmt.Sprintf("%s redirects elsewhere; give the base URL it redirects to", m.Client.Endpoint())
	case badProxy:
		return "the proxy wants a user and a password; check HTTPS_PROXY"
	default:
		return wire.SettingHint(m.name, me.Param, me.Unsupported)
	}
}

// A cause is what the user would have to fix, or "".
type cause string

// The causes that end a run.
const (
	badKey     cause = "key"      // it is rejected
	noQuota    cause = "quota"    // it is used up for the day, or was never granted
	noCredit   cause = "credit"   // the account has no credit
	notAllowed cause = "allowed"  // the key may not do this, or not from this address
	noModel    cause = "model"    // it is unknown
	badAddress cause = "address"  // the address does not serve this API
	redirected cause = "redirect" // the server has moved
	badProxy   cause = "proxy"    // it requires a password
	badSetting cause = "setting"  // the model does not support it
)

// cause returns what the user would have to fix. The order matters: an invalid key comes as
// a 400, and an exhausted daily quota as a 429.
func (t trouble) cause(status int) cause {
	switch {
	case strings.HasPrefix(t.reason, "API_KEY_"), strings.HasPrefix(strings.ToLower(t.message), "api key "), status == http.StatusUnauthorized:
		return badKey
	case status == http.StatusPaymentRequired, t.says("spending cap", "credits are depleted"):
		return noCredit
	case status == http.StatusTooManyRequests && t.noQuota():
		return noQuota
	case status == http.StatusForbidden, status == http.StatusBadRequest && t.status == "FAILED_PRECONDITION":
		return notAllowed
	case status == http.StatusNotFound && t.structured:
		return noModel
	case slices.Contains([]int{404, 405, 410, 415}, status):
		return badAddress
	case status == http.StatusProxyAuthRequired:
		return badProxy
	case status < 400:
		return redirected
	case status == http.StatusBadRequest && !t.tooLong() && t.badSetting():
		return badSetting
	}
	return ""
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

// tooLong reports whether the prompt exceeds the maximum length, which the API reports only
// in the message.
func (t trouble) tooLong() bool {
	return t.says("exceeds the maximum number of tokens", "token count exceeds", "payload size exceeds", "input is too long")
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
