package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"deem"
	"deem/internal/wire"
)

// A wireRequest is the body of a call. Pointers distinguish 0 from unset: a temperature of
// 0 must be sent as 0.
type wireRequest struct {
	Model         string         `json:"model"`
	MaxTokens     int            `json:"max_tokens"`
	System        string         `json:"system,omitempty"`
	Messages      []deem.Message `json:"messages"`
	Temperature   *float64       `json:"temperature,omitempty"`
	TopP          *float64       `json:"top_p,omitempty"`
	StopSequences []string       `json:"stop_sequences,omitempty"`
	Thinking      *thinking      `json:"thinking,omitempty"`
	OutputConfig  *outputConfig  `json:"output_config,omitempty"`
	Tools         []tool         `json:"tools,omitempty"`
	ToolChoice    *toolChoice    `json:"tool_choice,omitempty"`
}

type thinking struct {
	Type         string `json:"type"`
	BudgetTokens int    `json:"budget_tokens,omitempty"`
}

type outputConfig struct {
	Effort string  `json:"effort,omitempty"`
	Format *format `json:"format,omitempty"`
}

type format struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type tool struct {
	Name        string          `json:"name"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type toolChoice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

// toolName is the name of the tool whose input is the reply.
const toolName = "reply"

// think decides how the model thinks and its room for that. Models before 4.6 take a
// budget, later ones an effort.
func (m *client) think(o Options, f family) error {
	switch {
	case o.ThinkingTokens > 0:
		m.thinking, m.room = &thinking{Type: "enabled", BudgetTokens: o.ThinkingTokens}, o.ThinkingTokens
	case o.Thinking == "adaptive":
		m.thinking, m.room = &thinking{Type: "adaptive"}, wire.DefaultRoom
	case o.Thinking == "disabled":
		m.thinking = &thinking{Type: "disabled"}
	case o.Thinking != "":
		t, err := wire.ParseThinking(o.Thinking)
		switch {
		case err != nil:
			return err
		case t.Off:
			m.thinking = &thinking{Type: "disabled"}
		case f.thinksByEffort():
			m.thinking, m.room, m.effort = &thinking{Type: "adaptive"}, t.Tokens, cmp.Or(t.Level, m.effort)
		case f.claude && !f.atLeast(3, 7):
			return wire.NotThinking("anthropic", o.Model)
		case t.Tokens < minBudget:
			return fmt.Errorf("a budget of %d tokens for thinking is below the %d that the API wants", t.Tokens, minBudget)
		default:
			m.thinking, m.room = &thinking{Type: "enabled", BudgetTokens: t.Tokens}, t.Tokens
		}
	case f.thinksUnasked():
		m.room = wire.DefaultRoom
	}
	return nil
}

// minBudget is the smallest thinking budget that the API accepts.
const minBudget = 1024

// on reports whether the model is requested to think.
func (t *thinking) on() bool { return t != nil && t.Type != "disabled" }

// encode returns the body of the call for req.
func (m *client) encode(req deem.Request) *wireRequest {
	w := &wireRequest{
		Model:         m.name,
		MaxTokens:     req.MaxTokens,
		StopSequences: req.Stop,
		Thinking:      m.thinking,
	}
	// The API expects the system messages in their own field.
	w.Messages = make([]deem.Message, 0, len(req.Messages))
	for _, msg := range req.Messages {
		switch {
		case msg.Role != "system":
			w.Messages = append(w.Messages, msg)
		case w.System == "":
			w.System = msg.Content
		default:
			w.System += "\n\n" + msg.Content
		}
	}
	if w.MaxTokens <= 0 {
		w.MaxTokens = defaultMaxTokens
	}
	// The API counts thinking as part of the reply. The judge's limit is for the answer,
	// not for the thinking.
	w.MaxTokens += m.room
	if m.samples() {
		w.Temperature, w.TopP = req.Temperature, req.TopP
	}
	if m.effort != "" {
		w.OutputConfig = &outputConfig{Effort: m.effort}
	}
	var tree any
	switch {
	case len(req.Schema) == 0:
	case m.structured == "format", m.structured == "" && json.Unmarshal(req.Schema, &tree) == nil && enforceable(tree):
		if w.OutputConfig == nil {
			w.OutputConfig = &outputConfig{}
		}
		w.OutputConfig.Format = &format{Type: "json_schema", Schema: req.Schema}
	default:
		w.Tools = []tool{{Name: toolName, InputSchema: req.Schema}}
		w.ToolChoice = &toolChoice{Type: "tool", Name: toolName}
		if m.thinks {
			w.ToolChoice = &toolChoice{Type: "auto"} // A model that thinks cannot be forced to call a tool.
		}
	}
	return w
}

// Wire returns the parameters of the call for req, and those that the API or the model does
// not accept.
func (m *client) Wire(req deem.Request) (sent, dropped string) {
	return m.encode(req).sent(), m.dropped(req)
}

// sent returns the parameters of the call.
func (w *wireRequest) sent() string {
	params := *w
	params.System, params.Messages = "", nil
	return wire.Sent(params, "model", "messages")
}

// dropped returns the parameters of req that are not sent.
func (m *client) dropped(req deem.Request) string {
	why := m.name + " rejects it"
	if m.sampling {
		why = "a model that thinks rejects it"
	}
	return wire.Dropped(
		wire.Drop{Param: "temperature", Has: req.Temperature != nil && !m.samples(), Why: why},
		wire.Drop{Param: "top_p", Has: req.TopP != nil && !m.samples(), Why: why},
		wire.Drop{Param: "seed", Has: req.Seed != nil, Why: "the API has no seed"},
		wire.Drop{Param: "top_logprobs", Has: req.TopLogprobs > 0, Why: "the API has no log-probabilities"},
		wire.Drop{Param: "json", Has: req.JSON && len(req.Schema) == 0, Why: "the API has no JSON mode without a schema"},
	)
}

// samples reports whether temperature and top_p are sent.
func (m *client) samples() bool { return m.sampling && !m.thinking.on() }

// bounds are the schema keywords that the server does not enforce and therefore rejects.
var bounds = []string{
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
	"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "patternProperties", "not", "if",
}

// enforceable reports whether a schema meets the conditions under which the server enforces
// it: no object allows properties that it does not list, and there are no bounds. The
// names below "properties" are the user's and not schema keywords.
func enforceable(tree any) bool {
	if list, ok := tree.([]any); ok {
		return !slices.ContainsFunc(list, func(sub any) bool { return !enforceable(sub) })
	}
	object, _ := tree.(map[string]any)
	if _, typed := object["properties"]; (typed || object["type"] == "object") && object["additionalProperties"] != false {
		return false
	}
	for word, sub := range object {
		if slices.Contains(bounds, word) {
			return false
		}
		if properties, ok := sub.(map[string]any); ok && (word == "properties" || word == "$defs" || word == "definitions") {
			for _, p := range properties {
				if !enforceable(p) {
					return false
				}
			}
			continue
		}
		if word != "enum" && word != "const" && !enforceable(sub) {
			return false
		}
	}
	return true
}
