package google

import (
	"encoding/json"
	"time"
)

// A trouble is what the body of an error says: a google.rpc.Status with its details.
type trouble struct {
	message string
	status  string // "RESOURCE_EXHAUSTED"
	code    int    // the HTTP status that the body itself names
	reason  string // of an ErrorInfo, "API_KEY_INVALID"
	quotas  []quota
	fields  []string      // of a BadRequest, "generation_config.seed"
	delay   time.Duration // of a RetryInfo

	structured bool // it came as the JSON of the API, and not from a web server
}

// A quota is a limit that was hit.
type quota struct {
	ID    string `json:"quotaId"`    // "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
	Value any    `json:"quotaValue"` // "0"; the API writes 64-bit numbers as texts
}

// wireTrouble is the body of an error.
type wireTrouble struct {
	Error struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Status  string          `json:"status"`
		Details json.RawMessage `json:"details"`
	} `json:"error"`
}

// detail is any of the details that we read, which differ in their fields.
type detail struct {
	Reason          string  `json:"reason"`
	RetryDelay      string  `json:"retryDelay"`
	Violations      []quota `json:"violations"`
	FieldViolations []struct {
		Field string `json:"field"`
	} `json:"fieldViolations"`
}

// readTrouble reads the body of an error, which is an object or a list of one. What
// is neither has its text as the message.
func readTrouble(text string) trouble {
	body := []byte(text)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var w wireTrouble
	if json.Unmarshal(body, &w) != nil || w.Error.Message == "" && w.Error.Status == "" {
		return trouble{message: text}
	}
	t := trouble{message: w.Error.Message, status: w.Error.Status, code: w.Error.Code, structured: true}
	t.readDetails(w.Error.Details)
	return t
}

// readDetails reads what it knows of the details, and leaves out each that has
// another form: they only add to what the status says.
func (t *trouble) readDetails(raw json.RawMessage) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, one := range list {
		var d detail
		if json.Unmarshal(one, &d) != nil {
			continue
		}
		if d.Reason != "" {
			t.reason = d.Reason
		}
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			t.delay = max(t.delay, wait)
		}
		t.quotas = append(t.quotas, d.Violations...)
		for _, f := range d.FieldViolations {
			t.fields = append(t.fields, f.Field)
		}
	}
}
