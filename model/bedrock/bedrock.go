// Package bedrock implements the Converse API of Amazon Bedrock, which serves the models of
// several vendors in one format.
//
// The package makes one HTTP call for a request, and classifies each error as transient, as
// an error of this item, or as fatal to the run. Retries, limits and prices are handled by
// package model.
//
// A call carries a Bedrock API key, or is signed with AWS credentials. Secrets never appear
// in text that the package produces.
package bedrock

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"deem"
	"deem/internal/wire"
	"deem/internal/words"
)

// Options configure which model is called and how.
type Options struct {
	hidden
	Model  string // its id, or that of an inference profile, for example "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
	Region string // for example "us-east-1"; required unless BaseURL is set

	// BaseURL is the address of the server; "" means that of the region.
	BaseURL string `json:"-"`

	Key     string            `json:"-"` // a Bedrock API key; "" sends none
	Headers map[string]string `json:"-"` // sent with each call; secret, because they may contain keys

	// Authorize signs each call if there is no key, and returns the secret part.
	Authorize func(r *http.Request, body []byte) (secret string, err error) `json:"-"`

	Timeout  time.Duration // of one call; 0 means 120 s
	MaxReply int           // bytes of a reply; 0 means enough for the requested tokens

	HTTPClient *http.Client `json:"-"` // excludes the next two
	Proxy      string       `json:"-"` // the URL of a proxy; "" means the environment's
	CAFile     string       // a PEM file of certificate authorities, trusted in addition to the system's
}

type hidden = words.Hidden

type client struct {
	*wire.Client

	name     string
	converse wire.Target
}

var _ deem.Wired = (*client)(nil)

// New returns a model that is safe for concurrent use. It makes no call and does not check
// the key. The model is also an [io.Closer], which closes its idle connections.
func New(o Options) (deem.Model, error) {
	switch {
	case o.Model == "":
		return nil, deem.WithHint(errors.New("bedrock: no model named"), "name one, as in bedrock:amazon.nova-lite-v1:0")
	case o.Region == "" && o.BaseURL == "":
		return nil, deem.WithHint(errors.New("bedrock: no region"), "set AWS_REGION, as in AWS_REGION=us-east-1")
	}
	base, err := wire.ParseBase(o.BaseURL, "https://bedrock-runtime."+cmp.Or(o.Region, "us-east-1")+".amazonaws.com")
	if err != nil {
		return nil, fmt.Errorf("bedrock: %w", err)
	}
	m := &client{name: o.Model, converse: base.To("/model/" + o.Model + "/converse")}
	m.Client, err = wire.New(wire.Options{
		Vendor: "bedrock", Model: o.Model, Base: base,
		Key: o.Key, KeyHeader: "Authorization", KeyPrefix: "Bearer ", KeyVariable: "AWS_BEARER_TOKEN_BEDROCK",
		Keyed: ".amazonaws.com", KeyHint: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_BEARER_TOKEN_BEDROCK",
		Headers: o.Headers, Authorize: o.Authorize, Cause: cause,
		Timeout: o.Timeout, MaxReply: o.MaxReply, HTTPClient: o.HTTPClient, Proxy: o.Proxy, CAFile: o.CAFile,
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Room returns how many tokens are added to the limit of a request for thinking: none,
// since models of this API think only on request.
func (m *client) Room() (tokens int, known bool) { return 0, true }

// Complete makes one call. The error is a [*deem.ModelError], or wraps that of ctx if ctx
// is done.
func (m *client) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	w := encode(req)
	a, err := m.Client.Complete(ctx, m.converse, req, w)
	if err == nil && !a.OK() {
		a = named(a)
	}
	reply, err := m.decode(a, err)
	if err != nil {
		return deem.Reply{}, err
	}
	reply.Sent, reply.Dropped = w.sent(), dropped(req)
	reply.RequestID = a.Header.Get("X-Amzn-Requestid")
	reply.Attempts = 1
	return reply, nil
}

// A wireRequest is the body of a call.
type wireRequest struct {
	Messages   []message   `json:"messages,omitempty"`
	System     []block     `json:"system,omitempty"`
	Inference  *inference  `json:"inferenceConfig,omitempty"`
	ToolConfig *toolConfig `json:"toolConfig,omitempty"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// A block is a part of a message: text or a tool call.
type block struct {
	Text    string   `json:"text,omitempty"`
	ToolUse *toolUse `json:"toolUse,omitempty"`
}

type toolUse struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Pointers distinguish 0 from unset: a temperature of 0 must be sent as 0.
type inference struct {
	MaxTokens     int      `json:"maxTokens,omitempty"`
	Temperature   *float64 `json:"temperature,omitempty"`
	TopP          *float64 `json:"topP,omitempty"`
	StopSequences []string `json:"stopSequences,omitempty"`
}

type toolConfig struct {
	Tools  []tool     `json:"tools"`
	Choice toolChoice `json:"toolChoice"`
}

type tool struct {
	Spec toolSpec `json:"toolSpec"`
}

type toolSpec struct {
	Name        string `json:"name"`
	InputSchema schema `json:"inputSchema"`
}

type schema struct {
	JSON json.RawMessage `json:"json"`
}

type toolChoice struct {
	Tool struct {
		Name string `json:"name"`
	} `json:"tool"`
}

// toolName is the name of the tool whose input is the reply.
const toolName = "reply"

// encode returns the body of the call for req. A schema becomes a tool that the model must
// call, since the API has no other way to request one.
func encode(req deem.Request) *wireRequest {
	w := &wireRequest{}
	for _, msg := range req.Messages {
		if msg.Role == "system" {
			w.System = append(w.System, block{Text: msg.Content})
			continue
		}
		w.Messages = append(w.Messages, message{Role: msg.Role, Content: []block{{Text: msg.Content}}})
	}
	if req.MaxTokens > 0 || req.Temperature != nil || req.TopP != nil || len(req.Stop) > 0 {
		w.Inference = &inference{MaxTokens: req.MaxTokens, Temperature: req.Temperature, TopP: req.TopP, StopSequences: req.Stop}
	}
	if len(req.Schema) > 0 {
		w.ToolConfig = &toolConfig{Tools: []tool{{toolSpec{Name: toolName, InputSchema: schema{req.Schema}}}}}
		w.ToolConfig.Choice.Tool.Name = toolName
	}
	return w
}

// Wire returns the parameters of the call for req, and those that the API does not accept.
func (m *client) Wire(req deem.Request) (sent, left string) {
	return encode(req).sent(), dropped(req)
}

// sent returns the parameters of the call, with the API's names.
func (w *wireRequest) sent() string {
	params := struct {
		*inference
		ToolConfig *toolConfig `json:"toolConfig,omitempty"`
	}{w.Inference, w.ToolConfig}
	return wire.Sent(params)
}

// dropped returns the parameters of req that are not sent.
func dropped(req deem.Request) string {
	return wire.Dropped(
		wire.Drop{Param: "seed", Has: req.Seed != nil, Why: "the API has no seed"},
		wire.Drop{Param: "top_logprobs", Has: req.TopLogprobs > 0, Why: "the API has no log-probabilities"},
		wire.Drop{Param: "json", Has: req.JSON && len(req.Schema) == 0, Why: "the API has no JSON mode without a schema"},
	)
}

// A wireReply is the body of an answer, with the fields we use.
type wireReply struct {
	Output *struct {
		Message message `json:"message"`
	} `json:"output"`
	StopReason string `json:"stopReason"`
	Usage      struct {
		Input      int `json:"inputTokens"`
		Output     int `json:"outputTokens"`
		CacheRead  int `json:"cacheReadInputTokens"`
		CacheWrite int `json:"cacheWriteInputTokens"`
	} `json:"usage"`
}

// decode converts an answer to a reply. It returns err if it is not nil, or an error for an
// unsuccessful status.
func (m *client) decode(a wire.Answer, err error) (deem.Reply, error) {
	var w wireReply
	if err := m.Client.Read(a, err, &w); err != nil {
		return deem.Reply{}, err
	}
	if w.Output == nil || w.Output.Message.Content == nil {
		return deem.Reply{}, m.Client.Garbled(a, errors.New("the answer is not a message"))
	}
	var text strings.Builder
	called := false
	for _, part := range w.Output.Message.Content {
		text.WriteString(part.Text)
		if part.ToolUse == nil {
			continue
		}
		if part.ToolUse.Name != toolName {
			return deem.Reply{}, m.Client.Garbled(a, fmt.Errorf("the model calls the tool %q, which it was not given", part.ToolUse.Name))
		}
		text.Reset()
		text.Write(part.ToolUse.Input)
		called = true
		break
	}
	return m.Client.Clean(deem.Reply{
		Text: text.String(), Stop: stop(w.StopReason, called), Model: m.name,
		Usage: deem.Usage{
			Input:       wire.Count(w.Usage.Input, w.Usage.CacheRead, w.Usage.CacheWrite),
			Output:      wire.Count(w.Usage.Output),
			CachedInput: wire.Count(w.Usage.CacheRead),
		},
	}), nil
}

// stop converts a stop reason. A model that called our tool has finished its reply.
func stop(reason string, called bool) deem.Stop {
	switch {
	case reason == "end_turn", reason == "stop_sequence", reason == "tool_use" && called:
		return deem.StopEnd
	case reason == "max_tokens", reason == "model_context_window_exceeded":
		return deem.StopLength
	case reason == "content_filtered", reason == "guardrail_intervened":
		return deem.StopFilter
	default:
		return deem.StopOther
	}
}

// named copies the type of an error, which the API sends in a header, into the body, where
// errors are read.
func named(a wire.Answer) wire.Answer {
	kind, _, _ := strings.Cut(a.Header.Get("X-Amzn-Errortype"), ":")
	var body map[string]any
	if kind == "" || json.Unmarshal(a.Text, &body) != nil {
		return a
	}
	if _, ok := body["message"]; !ok {
		body["message"] = body["Message"] // the spelling of some services
	}
	body["code"] = kind
	if text, err := json.Marshal(body); err == nil {
		a.Text = text
	}
	return a
}

// cause classifies an error of the server.
func cause(t wire.Trouble) wire.Cause {
	switch {
	case t.Is("UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException", "IncompleteSignature", "MissingAuthenticationTokenException"):
		return wire.BadKey
	case t.Is("ThrottlingException", "ModelNotReadyException", "ServiceUnavailableException", "ModelTimeoutException", "ModelErrorException", "InternalServerException"):
		return wire.Busy
	case t.Is("ServiceQuotaExceededException"):
		return wire.Quota
	case t.Is("UnknownOperationException"):
		return wire.NoCall
	case t.Is("ResourceNotFoundException", "AccessDeniedException"), t.Says("model identifier is invalid", "on-demand throughput isn", "don't have access to the model"):
		return wire.NoModel
	case t.Says("input is too long", "too many input tokens", "exceeds the maximum"):
		return wire.TooLong
	case t.Says("inferenceConfig", "toolConfig", "temperature", "topP", "maxTokens", "stopSequences", "doesn't support tool use", "does not support"):
		return wire.Setting
	}
	return wire.ByStatus
}
