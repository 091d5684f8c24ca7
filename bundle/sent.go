package bundle

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deem"
)

// wireNames are the vendors' names of the parameters of a request.
var wireNames = map[string][]string{
	"max_tokens":   {"max_tokens", "max_completion_tokens", "maxOutputTokens", "num_predict"},
	"seed":         {"seed"},
	"temperature":  {"temperature"},
	"top_logprobs": {"top_logprobs", "logprobs"},
	"top_p":        {"top_p", "topP"},
}

// maxTopLogprobs is the maximum number of alternatives to a token that vendors return.
const maxTopLogprobs = 20

// A wireCheck compares the parameters that a reply reports as sent with the judge's
// request, and with the model settings that are part of the judge.
type wireCheck struct {
	rejects []string
	sent    url.Values
	dropped url.Values
}

// checkSent describes an error in the parameters of a call, "" if there is none. It does
// not check replies that do not report the parameters, such as those of older versions.
func checkSent(req deem.Request, settings string, reply deem.Reply) (problem string, checked bool) {
	if reply.Sent == "" && reply.Dropped == "" {
		return "", false
	}
	set, err := url.ParseQuery(settings)
	if err != nil {
		set = url.Values{}
	}
	c := wireCheck{rejects: strings.Split(set.Get("rejects"), ",")}

	if c.sent, err = url.ParseQuery(reply.Sent); err == nil {
		c.dropped, err = url.ParseQuery(reply.Dropped)
	}
	if err != nil {
		return fmt.Sprintf("what was sent cannot be read: %v", err), true
	}
	params := []struct {
		name string
		want *float64 // nil if the judge does not set it
	}{{"temperature", req.Temperature}, {"top_p", req.TopP}, {"max_tokens", nil}, {"seed", nil}, {"top_logprobs", nil}}
	if req.MaxTokens > 0 {
		room, _ := strconv.Atoi(set.Get("room"))
		n := float64(req.MaxTokens + room)
		params[2].want = &n
	}
	if req.Seed != nil {
		n := float64(*req.Seed)
		params[3].want = &n
	}
	if req.TopLogprobs > 0 {
		n := float64(min(req.TopLogprobs, maxTopLogprobs))
		params[4].want = &n
	}
	for _, p := range params {
		if problem := c.param(p.name, p.want); problem != "" {
			return problem, true
		}
	}
	if len(req.Schema) == 0 || c.dropped.Has("schema") {
		return "", true
	}
	hash, err := deem.Hash(req.Schema)
	if err != nil {
		return fmt.Sprintf("the schema of the judge cannot be read: %v", err), true
	}
	for _, values := range c.sent {
		if slices.Contains(values, "sha256:"+deem.ShortHash(hash)) {
			return "", true
		}
	}
	return fmt.Sprintf("the judge asks for a reply by schema %s, and the call does not say that it was sent", deem.ShortHash(hash)), true
}

// param compares one parameter.
func (c wireCheck) param(name string, want *float64) string {
	got, found := c.find(name)
	why := c.dropped.Get(name)
	switch {
	case found && slices.Contains(c.rejects, name):
		return fmt.Sprintf("the call says that %s %v was sent, and the judge that its model rejects it", name, got)
	case found && why != "":
		return fmt.Sprintf("the call says that %s %v was sent, and that it was not: %s", name, got, why)
	case want == nil && why != "":
		return fmt.Sprintf("the call says that %s was dropped, and the judge does not set it", name)
	case want == nil && found && name != "max_tokens": // some vendors require a limit
		return fmt.Sprintf("the call says that %s %v was sent, and the judge does not set it", name, got)
	case want != nil && !found && why == "":
		return fmt.Sprintf("the judge sets %s %v, and the call says neither that it was sent nor why not", name, *want)
	case want != nil && found && got != *want && (name != "seed" || math.Abs(*want) <= math.MaxInt32): // some vendors truncate longer seeds
		return fmt.Sprintf("the judge sets %s %v, and the call says that %v was sent", name, *want, got)
	}
	return ""
}

// find returns the value of a parameter under one of its names. The name of a nested
// parameter is a path.
func (c wireCheck) find(name string) (float64, bool) {
	for _, alias := range wireNames[name] {
		for path, values := range c.sent {
			if path != alias && !strings.HasSuffix(path, "."+alias) {
				continue
			}
			if n, err := strconv.ParseFloat(values[0], 64); err == nil {
				return n, true
			}
		}
	}
	return 0, false
}
