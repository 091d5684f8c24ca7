package google

import (
	"encoding/json"
	"math"
	"net/url"
	"strconv"

	"deem"
	"deem/model/internal/wire"
)

// A wireRequest is the body of generateContent.
type wireRequest struct {
	SystemInstruction *content          `json:"systemInstruction,omitempty"`
	Contents          []content         `json:"contents"`
	GenerationConfig  *generationConfig `json:"generationConfig,omitempty"`
}

// A content is one turn, in parts.
type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

type part struct {
	Text string `json:"text"`
}

// A generationConfig has the settings of a call. Pointers tell 0 from not given: a
// temperature of 0 must arrive as 0.
type generationConfig struct {
	Temperature        *float64        `json:"temperature,omitempty"`
	TopP               *float64        `json:"topP,omitempty"`
	Seed               *int32          `json:"seed,omitempty"`
	StopSequences      []string        `json:"stopSequences,omitempty"`
	MaxOutputTokens    int             `json:"maxOutputTokens,omitempty"`
	ResponseMIMEType   string          `json:"responseMimeType,omitempty"`
	ResponseJSONSchema json.RawMessage `json:"responseJsonSchema,omitempty"`
	ResponseLogprobs   bool            `json:"responseLogprobs,omitempty"`
	Logprobs           int             `json:"logprobs,omitempty"`
	ThinkingConfig     *thinkingConfig `json:"thinkingConfig,omitempty"`
}

type thinkingConfig struct {
	ThinkingBudget *int   `json:"thinkingBudget,omitempty"`
	ThinkingLevel  string `json:"thinkingLevel,omitempty"`
}

// settings returns the settings in the form of a query, "" for none.
func (c *thinkingConfig) settings() string {
	if c == nil {
		return ""
	}
	v := url.Values{}
	if c.ThinkingBudget != nil {
		v.Set("thinkingBudget", strconv.Itoa(*c.ThinkingBudget))
	}
	if c.ThinkingLevel != "" {
		v.Set("thinkingLevel", c.ThinkingLevel)
	}
	return v.Encode()
}

// maxTopLogprobs is as many rivals as the API gives for a token.
const maxTopLogprobs = 20

// encode returns the body of the call for req.
func encode(req deem.Request, thinking *thinkingConfig) ([]byte, error) {
	w := wireRequest{GenerationConfig: config(req, thinking)}
	w.SystemInstruction, w.Contents = contents(req.Messages)
	return wire.Encode(w)
}

// contents splits messages into the system's instruction and the turns. The API has
// one instruction, so system messages are its parts, wherever they stood. It wants
// at least one turn, so that a prompt of system messages alone is sent as the
// user's.
func contents(messages []deem.Message) (system *content, turns []content) {
	var instruction content
	turns = []content{}
	for _, m := range messages {
		p := part{Text: m.Content}
		switch m.Role {
		case "system":
			instruction.Parts = append(instruction.Parts, p)
		case "assistant":
			turns = append(turns, content{Role: "model", Parts: []part{p}})
		default:
			turns = append(turns, content{Role: m.Role, Parts: []part{p}})
		}
	}
	if len(instruction.Parts) == 0 {
		return nil, turns
	}
	if len(turns) == 0 {
		instruction.Role = "user"
		return nil, []content{instruction}
	}
	return &instruction, turns
}

// config returns the settings that req asks for, or nil when it asks for none.
func config(req deem.Request, thinking *thinkingConfig) *generationConfig {
	c := generationConfig{
		Temperature:      req.Temperature,
		TopP:             req.TopP,
		Seed:             fold(req.Seed),
		StopSequences:    req.Stop,
		MaxOutputTokens:  req.MaxTokens,
		ResponseLogprobs: req.TopLogprobs > 0,
		Logprobs:         min(req.TopLogprobs, maxTopLogprobs),
		ThinkingConfig:   thinking,
	}
	if req.JSON || len(req.Schema) > 0 {
		c.ResponseMIMEType = "application/json"
	}
	// responseSchema, the older field, knows a part of OpenAPI's schemas only and
	// rejects what all of ours have: additionalProperties.
	c.ResponseJSONSchema = req.Schema
	if c.empty() {
		return nil
	}
	return &c
}

// empty reports whether nothing is set.
func (c *generationConfig) empty() bool {
	return c.Temperature == nil && c.TopP == nil && c.Seed == nil && len(c.StopSequences) == 0 && c.MaxOutputTokens == 0 &&
		c.ResponseMIMEType == "" && !c.ResponseLogprobs && c.ThinkingConfig == nil
}

// fold returns a seed in the 32 bits that the API has for it. Which seed it is does
// not matter, only that the same one gives the same one.
func fold(seed *int64) *int32 {
	if seed == nil {
		return nil
	}
	s := *seed
	if s < math.MinInt32 || s > math.MaxInt32 {
		s = (s ^ s>>32) & math.MaxInt32
	}
	folded := int32(s) //nolint:gosec // it fits by now
	return &folded
}
