package vendors_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/vendors"
)

// A call is a request that a server received.
type call struct {
	path   string
	header http.Header
	body   map[string]any
}

func serve(t *testing.T, answer string) (string, *call) {
	t.Helper()
	var seen call
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		seen = call{path: r.URL.Path, header: r.Header.Clone(), body: map[string]any{}}
		if err := json.Unmarshal(text, &seen.body); err != nil {
			t.Errorf("body %s", text)
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, &seen
}

const chatAnswer = `{"model":"m","choices":[{"message":{"role":"assistant","content":"CORRECT"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`

// Each preset sends what its provider documents: the path, the header of the key, and the
// parameters by their names, without those that it rejects.
func TestPresets(t *testing.T) {
	zero, one, seed := 0.0, 1.0, int64(7)
	req := deem.Request{
		Messages: []deem.Message{{Role: "user", Content: "Is it so?"}}, MaxTokens: 5, Temperature: &zero, TopP: &one, Seed: &seed,
		Stop: []string{"END"}, TopLogprobs: 2, Schema: json.RawMessage(`{"type":"object"}`),
	}
	all := []string{"logprobs", "max_tokens", "messages", "model", "n", "response_format", "seed", "stop", "stream", "temperature", "top_logprobs", "top_p"}
	without := func(names ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(names, s) })
	}
	quiet := without("logprobs", "top_logprobs")
	for _, tt := range []struct {
		model, path, key, auth string // auth is the header with the key
		fields                 []string
		extra                  []string
	}{
		{model: "azure:my-deployment", path: "/openai/v1/chat/completions", key: "AZURE_OPENAI_API_KEY", auth: "Api-Key", fields: all},
		{model: "mistral:mistral-small-latest", path: "/v1/chat/completions", key: "MISTRAL_API_KEY", fields: without("logprobs", "top_logprobs", "seed"), extra: []string{"random_seed"}},
		{model: "groq:llama-3.3-70b-versatile", path: "/v1/chat/completions", key: "GROQ_API_KEY", fields: without("logprobs", "top_logprobs", "max_tokens"), extra: []string{"max_completion_tokens"}},
		{model: "together:meta-llama/Llama-3.3-70B-Instruct-Turbo", path: "/v1/chat/completions", key: "TOGETHER_API_KEY", fields: quiet},
		{model: "openrouter:anthropic/claude-sonnet-4.5", path: "/v1/chat/completions", key: "OPENROUTER_API_KEY", fields: all},
		{model: "deepseek:deepseek-chat", path: "/v1/chat/completions", key: "DEEPSEEK_API_KEY", fields: without("seed")},
		{model: "deepseek:deepseek-reasoner", path: "/v1/chat/completions", key: "DEEPSEEK_API_KEY", fields: without("seed", "temperature", "top_p", "logprobs", "top_logprobs")},
		{model: "xai:grok-3", path: "/v1/chat/completions", key: "XAI_API_KEY", fields: all},
		{model: "xai:grok-4-0709", path: "/v1/chat/completions", key: "XAI_API_KEY", fields: without("stop")},
		{model: "fireworks:accounts/fireworks/models/llama-v3p3-70b-instruct", path: "/v1/chat/completions", key: "FIREWORKS_API_KEY", fields: all},
		{model: "vllm:Qwen/Qwen3-8B", path: "/v1/chat/completions", key: "VLLM_API_KEY", fields: all},
		{model: "lmstudio:qwen3-8b", path: "/v1/chat/completions", fields: all},
		{model: "vertex:google/gemini-2.5-flash", path: "/v1/chat/completions", key: "GOOGLE_ACCESS_TOKEN", fields: quiet},
	} {
		t.Run(tt.model, func(t *testing.T) {
			url, seen := serve(t, chatAnswer)
			name, _, _ := strings.Cut(tt.model, ":")
			v, _, err := vendors.Environment{}.VendorOf(tt.model)
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv(v.Server, url)
			if tt.key != "" {
				t.Setenv(tt.key, "key-of-"+name)
			}
			m, err := vendors.Environment{}.Open(vendors.Options{Name: tt.model})
			if err != nil {
				t.Fatal(err)
			}
			reply, err := m.Complete(t.Context(), req)
			if err != nil || reply.Text != "CORRECT" || m.Name() != tt.model {
				t.Fatalf("%s says %q, %v", m.Name(), reply.Text, err)
			}
			want := slices.Sorted(slices.Values(append(tt.fields, tt.extra...)))
			if got := slices.Sorted(maps.Keys(seen.body)); !slices.Equal(got, want) {
				t.Errorf("sent %v\nwant %v", got, want)
			}
			if seen.path != tt.path {
				t.Errorf("called %s, want %s", seen.path, tt.path)
			}
			switch got := seen.header.Get("Authorization"); {
			case tt.key == "" && got != "", tt.auth != "" && (got != "" || seen.header.Get(tt.auth) != "key-of-"+name), tt.key != "" && tt.auth == "" && got != "Bearer key-of-"+name:
				t.Errorf("the key travels as %v", seen.header)
			}
			for _, param := range []string{"temperature", "seed", "top_logprobs"} {
				if _, ok := seen.body[param]; !ok && !slices.Contains(tt.extra, "random_seed") && !strings.Contains(reply.Dropped, param) {
					t.Errorf("%s is not sent, and the reply does not say so: %s", param, reply.Dropped)
				}
			}
		})
	}
}

// The addresses of clouds contain variables.
func TestPresetAddress(t *testing.T) {
	t.Setenv("GOOGLE_ACCESS_TOKEN", "token-1234")
	_, err := vendors.Environment{}.Open(vendors.Options{Name: "vertex:google/gemini-2.5-flash"})
	if hint := deem.HintOf(err); !strings.Contains(hint, "GOOGLE_CLOUD_LOCATION and GOOGLE_CLOUD_PROJECT") {
		t.Errorf("without variables: %v, hint %q", err, hint)
	}
	t.Setenv("GOOGLE_CLOUD_LOCATION", "europe-west4")
	t.Setenv("GOOGLE_CLOUD_PROJECT", "judges")
	m, err := vendors.Environment{}.Open(vendors.Options{Name: "vertex:google/gemini-2.5-flash"})
	if err != nil {
		t.Fatal(err)
	}
	const want = "https://europe-west4-aiplatform.googleapis.com/v1/projects/judges/locations/europe-west4/endpoints/openapi"
	if got := m.(interface{ Endpoint() string }).Endpoint(); got != want {
		t.Errorf("asks at %s, want %s", got, want)
	}
}

// Bedrock uses its own API, with signed requests.
func TestBedrockPreset(t *testing.T) {
	url, seen := serve(t, `{"output":{"message":{"role":"assistant","content":[{"text":"CORRECT"}]}},"stopReason":"end_turn","usage":{"inputTokens":3,"outputTokens":1}}`)
	t.Setenv("BEDROCK_BASE_URL", url)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-key-1234")
	t.Setenv("AWS_REGION", "eu-central-1")
	m, err := vendors.Environment{}.Open(vendors.Options{Name: "bedrock:amazon.nova-lite-v1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Complete(t.Context(), deem.Prompt("Is it so?")); err != nil {
		t.Fatal(err)
	}
	if seen.path != "/model/amazon.nova-lite-v1:0/converse" || !strings.Contains(seen.header.Get("Authorization"), "/eu-central-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=") {
		t.Errorf("called %s with %s", seen.path, seen.header.Get("Authorization"))
	}
}

// A user's provider needs no code.
func TestOwnProvider(t *testing.T) {
	url, seen := serve(t, chatAnswer)
	t.Setenv("ACME_KEY", "key-1234")
	list, err := vendors.ParseProviders([]byte("- {name: acme, wire: openai, url: " + url + "/llm, keys: [ACME_KEY], header: X-Acme-Key, rejects: [seed], rename: {max_tokens: limit}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	env := vendors.Environment{}.With(list)
	m, err := env.Open(vendors.Options{Name: "acme:judge-1"})
	if err != nil {
		t.Fatal(err)
	}
	req := deem.Prompt("Is it so?")
	req.MaxTokens = 5
	if _, err := m.Complete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if seen.path != "/llm/chat/completions" || seen.header.Get("X-Acme-Key") != "key-1234" || seen.body["limit"] != 5.0 || m.Name() != "acme:judge-1" {
		t.Errorf("called %s with %v as %s", seen.path, seen.body, m.Name())
	}
}

func TestParseProviders(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"- {name: Acme, wire: openai, url: https://a.test}", "a name has lower-case letters"},
		{"- {name: acme, wire: grpc, url: https://a.test}", `wire "grpc" is unknown; there are openai, bedrock`},
		{"- {name: acme, wire: openai}", "it needs url, or server"},
		{"- {name: acme, wire: openai, url: a.test}", `url "a.test" is not the address of a server`},
		{"- {name: acme, wire: openai, url: https://a.test, rejects: [logprobs]}", `rejects "logprobs" is unknown`},
		{"- {name: acme, wire: openai, url: https://a.test, auth: azure}", `auth is aws or google, not "azure"`},
		{"- {name: acme, wire: bedrock, url: https://a.test}", "for the provider bedrock alone"},
		{"- {name: acme, wires: openai, url: https://a.test}", "field wires not found"},
	} {
		if _, err := vendors.ParseProviders([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
}
