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

// wireNames are the names that vendors give to the parameters of a request.
var wireNames = map[string][]string{
	"max_tokens":   {"max_tokens", "max_completion_tokens", "maxOutputTokens", "num_predict"},
	"seed":         {"seed"},
	"temperature":  {"temperature"},
	"top_logprobs": {"top_logprobs", "logprobs"},
	"top_p":        {"top_p", "topP"},
}

// maxTopLogprobs is as many rivals of a token as vendors give.
const maxTopLogprobs = 20

// A wireCheck compares what a reply says that was sent with the request that the judge
// makes, and with the settings of the model that are part of the judge.
type wireCheck struct {
	room    int
	rejects []string
	sent    url.Values
	dropped url.Values
}

// checkSent says what is wrong with the parameters of a call, "" if nothing is. Replies
// that do not say what was sent, as those of older versions, are not checked.
func checkSent(req deem.Request, settings string, reply deem.Reply) (problem string, checked bool) {
	if reply.Sent == "" && reply.Dropped == "" {
		return "", false
	}
	set, err := url.ParseQuery(settings)
	if err != nil {
		set = url.Values{}
	}
	c := wireCheck{rejects: strings.Split(set.Get("rejects"), ",")}
	c.room, _ = strconv.Atoi(set.Get("room"))
	if c.sent, err = url.ParseQuery(reply.Sent); err == nil {
		c.dropped, err = url.ParseQuery(reply.Dropped)
	}
	if err != nil {
		return fmt.Sprintf("what was sent cannot be read: %v", err), true
	}
	for _, p := range declared(req, c.room) {
		if problem := c.param(p.name, p.want); problem != "" {
			return problem, true
		}
	}
	return c.schema(req), true
}

// A declaredParam is a parameter that a request has or not.
type declaredParam struct {
	name string
	want *float64
}

func declared(req deem.Request, room int) []declaredParam {
	list := []declaredParam{{"temperature", req.Temperature}, {"top_p", req.TopP}, {"max_tokens", nil}, {"seed", nil}, {"top_logprobs", nil}}
	if req.MaxTokens > 0 {
		n := float64(req.MaxTokens + room)
		list[2].want = &n
	}
	if req.Seed != nil {
		n := float64(*req.Seed)
		list[3].want = &n
	}
	if req.TopLogprobs > 0 {
		n := float64(min(req.TopLogprobs, maxTopLogprobs))
		list[4].want = &n
	}
	return list
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
	case want == nil && found && name != "max_tokens": // Some vendors demand a limit.
		return fmt.Sprintf("the call says that %s %v was sent, and the judge does not set it", name, got)
	case want != nil && !found && why == "":
		return fmt.Sprintf("the judge sets %s %v, and the call says neither that it was sent nor why not", name, *want)
	case want != nil && found && got != *want && (name != "seed" || math.Abs(*want) <= math.MaxInt32): // Some vendors fold longer seeds.
		return fmt.Sprintf("the judge sets %s %v, and the call says that %v was sent", name, *want, got)
	}
	return ""
}

// find returns the value of a parameter under one of its names. A parameter inside an
// object has a path for its name.
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

// schema compares the schema of a reply, of which the call has the hash.
func (c wireCheck) schema(req deem.Request) string {
	if len(req.Schema) == 0 || c.dropped.Has("schema") {
		return ""
	}
	hash, err := deem.Hash(req.Schema)
	if err != nil {
		return fmt.Sprintf("the schema of the judge cannot be read: %v", err)
	}
	want := "sha256:" + deem.ShortHash(hash)
	for _, values := range c.sent {
		if slices.Contains(values, want) {
			return ""
		}
	}
	return fmt.Sprintf("the judge asks for a reply by schema %s, and the call does not say that it was sent", deem.ShortHash(hash))
}
