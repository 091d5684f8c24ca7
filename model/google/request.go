package google

import (
	"encoding/json"
	"errors"
	"math"
	"strings"

	"deem"
	"deem/internal/wire"
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

// A generationConfig contains the settings of a call. Pointers distinguish 0 from unset: a
// temperature of 0 must be sent as 0.
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

// think decides how much the model thinks and its room for that. The 2.5 models take a
// budget, and later ones a level.
func (m *client) think(o Options) error {
	if o.Thinking != "" {
		if o.ThinkingBudget != nil || o.ThinkingLevel != "" {
			return errors.New("thinking excludes a thinking budget and a thinking level")
		}
		t, err := wire.ParseThinking(o.Thinking)
		switch byLevel := thinksByLevel(m.name); {
		case err != nil:
			return err
		case t.Off && byLevel:
			return wire.AlwaysThinking("google", m.name)
		case !byLevel && !strings.Contains(m.name, "gemini-2.5"):
			return wire.NotThinking("google", m.name)
		case !byLevel:
			o.ThinkingBudget = &t.Tokens
		default:
			o.ThinkingLevel = t.Level // "" for a number: it sets the room, and the level is left to the model
		}
		m.room = t.Tokens
	}
	if o.ThinkingBudget != nil || o.ThinkingLevel != "" {
		m.thinking = &thinkingConfig{ThinkingBudget: o.ThinkingBudget, ThinkingLevel: o.ThinkingLevel}
	}
	switch {
	case o.Thinking != "":
	case o.ThinkingBudget != nil && *o.ThinkingBudget >= 0:
		m.room = *o.ThinkingBudget
	case m.thinking != nil, thinksByLevel(m.name), strings.Contains(m.name, "gemini-2.5") && !strings.Contains(m.name, "lite"):
		m.room = wire.DefaultRoom
	}
	return nil
}

// thinksByLevel reports whether the named model takes a thinking level: from Gemini 3 on
// they do.
func thinksByLevel(name string) bool {
	_, rest, ok := strings.Cut(name, "gemini-")
	return ok && rest != "" && rest[0] >= '3' && rest[0] <= '9'
}

// maxTopLogprobs is the API's maximum number of alternatives per token.
const maxTopLogprobs = 20

// encode returns the body of the call for req. The API has one system instruction, so
// system messages become its parts, wherever they were. It requires at least one turn, so a
// prompt with only system messages is sent as the user's.
func (m *client) encode(req deem.Request) wireRequest {
	w := wireRequest{GenerationConfig: m.config(req), Contents: []content{}}
	var instruction content
	for _, msg := range req.Messages {
		p := part{Text: msg.Content}
		switch msg.Role {
		case "system":
			instruction.Parts = append(instruction.Parts, p)
		case "assistant":
			w.Contents = append(w.Contents, content{Role: "model", Parts: []part{p}})
		default:
			w.Contents = append(w.Contents, content{Role: msg.Role, Parts: []part{p}})
		}
	}
	switch {
	case len(instruction.Parts) == 0:
	case len(w.Contents) == 0:
		instruction.Role = "user"
		w.Contents = []content{instruction}
	default:
		w.SystemInstruction = &instruction
	}
	return w
}

// Wire returns the parameters of the call for req. All parameters of a request can be sent.
func (m *client) Wire(req deem.Request) (sent, dropped string) { return wire.Sent(m.config(req)), "" }

// config returns the settings for req, or nil if there are none.
func (m *client) config(req deem.Request) *generationConfig {
	c := generationConfig{
		Temperature:      req.Temperature,
		TopP:             req.TopP,
		Seed:             fold(req.Seed),
		StopSequences:    req.Stop,
		MaxOutputTokens:  req.MaxTokens,
		ResponseLogprobs: req.TopLogprobs > 0,
		Logprobs:         min(req.TopLogprobs, maxTopLogprobs),
		ThinkingConfig:   m.thinking,
	}
	if c.MaxOutputTokens > 0 {
		c.MaxOutputTokens += m.room // Thinking counts against the limit, and the judge's limit is for its answer.
	}
	if req.JSON || len(req.Schema) > 0 {
		c.ResponseMIMEType = "application/json"
	}
	// responseSchema, the older field, supports only a part of OpenAPI's schemas and
	// rejects additionalProperties, which all of ours have.
	c.ResponseJSONSchema = req.Schema
	if c.Temperature == nil && c.TopP == nil && c.Seed == nil && len(c.StopSequences) == 0 && c.MaxOutputTokens == 0 &&
		c.ResponseMIMEType == "" && !c.ResponseLogprobs && c.ThinkingConfig == nil {
		return nil
	}
	return &c
}

// fold maps a seed to the 32 bits of the API. The value does not matter, only that equal
// seeds stay equal.
func fold(seed *int64) *int32 {
	if seed == nil {
		return nil
	}
	s := *seed
	if s < math.MinInt32 || s > math.MaxInt32 {
		s = (s ^ s>>32) & math.MaxInt32
	}
	folded := int32(s) //nolint:gosec // checked above to fit
	return &folded
}
