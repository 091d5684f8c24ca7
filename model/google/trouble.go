package google

import (
	"cmp"
	"encoding/json"
	"time"
)

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
