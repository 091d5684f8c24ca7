package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"deem"
	"deem/internal/usage"
	"deem/judge/rule"
	"deem/model/anthropic"
	"deem/model/fake"
	"deem/model/google"
	"deem/model/minilm"
	"deem/model/ollama"
	"deem/model/openai"
	"deem/model/replay"
)

// A vendor makes models.
type vendor struct {
	name, about string
	keys        []string // variables of which one must hold a key, unless a server is named
	optional    bool     // the vendor's own server wants no key
	server      string   // the variable that names a server
	options     []string // what --model-option may set
	open        func(name string, at access) (deem.Model, error)
}

// vendors are the makers of models, with what they are for.
var vendors = []vendor{
	{
		name: "openai", about: "Chat Completions of OpenAI and of every compatible server (--base-url)",
		keys: []string{"OPENAI_API_KEY"}, server: "OPENAI_BASE_URL", open: openOpenAI,
		options: []string{"reasoning", "service-tier"},
	},
	{
		name: "anthropic", about: "Messages of Anthropic: claude-...",
		keys: []string{"ANTHROPIC_API_KEY"}, server: "ANTHROPIC_BASE_URL", open: openAnthropic,
		options: []string{"thinking", "thinking-tokens", "effort", "beta"},
	},
	{
		name: "google", about: "Gemini of Google: gemini-...",
		keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, server: "GOOGLE_GEMINI_BASE_URL", open: openGoogle,
		options: []string{"thinking-budget", "thinking-level"},
	},
	{
		name: "ollama", about: "models that run on this machine or another one, with Ollama; no key",
		keys: []string{"OLLAMA_API_KEY"}, optional: true, server: "OLLAMA_HOST", open: openOllama,
		options: []string{"think", "context-length"},
	},
	{
		name: "fake", about: "made-up replies, for tests; see deem list models",
		open: func(name string, _ access) (deem.Model, error) { return fake.New(name) },
	},
	{
		name: "replay", about: "replies out of a file that --record wrote, or that you wrote",
		open: func(name string, _ access) (deem.Model, error) { return replay.Open(name) },
	},
}

// A modelOptions says which model to ask and how to reach it.
type modelOptions struct {
	name     string
	baseURL  string
	headers  []string
	timeout  time.Duration
	proxy    string
	caFile   string
	options  map[string]string // of the vendor's own
	uncalled bool              // nobody will be called, so no key is needed
}

// An access is how a server is reached, secrets included.
type access struct {
	env           environment
	key, base     string
	headers       map[string]string
	timeout       time.Duration
	proxy, caFile string
	options       map[string]string
}

// number returns an option that is a whole number, 0 when it is not given.
func (at access) number(name string) (int, error) {
	text, ok := at.options[name]
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("--model-option %s=%s: not a whole number", name, text)
	}
	return n, nil
}

// vendorOf splits "vendor:name".
func vendorOf(model string) (vendor, string, error) {
	maker, name, ok := strings.Cut(model, ":")
	if !ok || name == "" {
		return vendor{}, "", usage.Mark(deem.WithHint(fmt.Errorf("%q is no model", model), "a model is vendor:name, as openai:gpt-4o-mini"))
	}
	var names []string
	for _, v := range vendors {
		if v.name == maker {
			return v, name, nil
		}
		names = append(names, v.name)
	}
	return vendor{}, "", usage.Mark(usage.Unknown("vendor", maker, names))
}

// openWire returns the bare model that the options name.
func (e environment) openWire(o modelOptions) (deem.Model, error) {
	v, name, err := vendorOf(o.name)
	if err != nil {
		return nil, err
	}
	at, err := e.access(v, name, o)
	if err != nil {
		return nil, err
	}
	m, err := v.open(name, at)
	if err != nil {
		return nil, usage.Mark(err)
	}
	return m, nil
}

// access finds out how to reach a vendor. A key that is missing is told of before
// anything is asked.
func (e environment) access(v vendor, name string, o modelOptions) (access, error) {
	at := access{env: e, base: o.baseURL, timeout: o.timeout, caFile: o.caFile, options: o.options}
	for option := range o.options {
		if !slices.Contains(v.options, option) {
			return at, usage.Mark(usage.Unknown("option of "+v.name, option, v.options))
		}
	}
	if at.base == "" && v.server != "" {
		at.base = e.get(v.server)
	}
	for _, variable := range v.keys {
		if at.key == "" {
			at.key = e.get(variable)
		}
	}
	if len(v.keys) > 0 && !v.optional && !o.uncalled && at.key == "" && at.base == "" {
		return at, usage.Mark(deem.WithHint(fmt.Errorf("no key for %s:%s", v.name, name),
			"set %s in the environment or in .env, or --base-url for a server of your own", strings.Join(v.keys, " or ")))
	}
	var err error
	if at.headers, err = e.headers(o.headers); err != nil {
		return at, err
	}
	at.proxy = o.proxy
	if variable, ok := strings.CutPrefix(o.proxy, "env:"); ok {
		if at.proxy = e.get(variable); at.proxy == "" {
			return at, usage.Errorf("--proxy wants the variable %s, which is not set", variable)
		}
	}
	return at, nil
}

func openOpenAI(name string, at access) (deem.Model, error) {
	o := openai.Options{
		Model: name, BaseURL: at.base, Key: at.key, Headers: at.headers, Timeout: at.timeout, Proxy: at.proxy, CAFile: at.caFile,
		Organization: at.env.get("OPENAI_ORGANIZATION"), Project: at.env.get("OPENAI_PROJECT"),
		ServiceTier: at.options["service-tier"],
	}
	if text, ok := at.options["reasoning"]; ok {
		reasons, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("--model-option reasoning=%s: true or false", text)
		}
		o.Reasoning = &reasons
	}
	return openai.New(o)
}

func openAnthropic(name string, at access) (deem.Model, error) {
	budget, err := at.number("thinking-tokens")
	if err != nil {
		return nil, err
	}
	o := anthropic.Options{
		Model: name, BaseURL: at.base, Key: at.key, Headers: at.headers, Timeout: at.timeout, Proxy: at.proxy, CAFile: at.caFile,
		Thinking: at.options["thinking"], ThinkingTokens: budget, Effort: at.options["effort"],
	}
	if beta := at.options["beta"]; beta != "" {
		o.Beta = strings.Split(beta, " ")
	}
	return anthropic.New(o)
}

func openGoogle(name string, at access) (deem.Model, error) {
	o := google.Options{
		Model: name, BaseURL: at.base, Key: at.key, Headers: at.headers, Timeout: at.timeout, Proxy: at.proxy, CAFile: at.caFile,
		ThinkingLevel: at.options["thinking-level"],
	}
	if _, ok := at.options["thinking-budget"]; ok {
		budget, err := at.number("thinking-budget")
		if err != nil {
			return nil, err
		}
		o.ThinkingBudget = &budget
	}
	return google.New(o)
}

func openOllama(name string, at access) (deem.Model, error) {
	window, err := at.number("context-length")
	if err != nil {
		return nil, err
	}
	return ollama.New(ollama.Options{
		Model: name, BaseURL: at.base, Key: at.key, Headers: at.headers, Timeout: at.timeout, Proxy: at.proxy, CAFile: at.caFile,
		ContextLength: window, Think: at.options["think"],
	})
}

// headers reads NAME=value and NAME=env:VARIABLE. The second form is for secrets,
// which have no place on a command line.
func (e environment) headers(list []string) (map[string]string, error) {
	headers := map[string]string{}
	for _, h := range list {
		name, value, ok := strings.Cut(h, "=")
		if !ok || name == "" {
			return nil, usage.Errorf("a header is NAME=value or NAME=env:VARIABLE")
		}
		if variable, ok := strings.CutPrefix(value, "env:"); ok {
			if value = e.get(variable); value == "" {
				return nil, usage.Errorf("header %s wants the variable %s, which is not set", name, variable)
			}
		}
		headers[name] = value
	}
	return headers, nil
}

// openEmbedder opens what --embeddings names: a model of a server as vendor:name, or
// a folder with the files of a sentence model. What goes around a server's model is
// added by around, so that it is asked with all the care that a judge's model gets.
func (e environment) openEmbedder(name string, at modelOptions, around func(rule.Embedder) (rule.Embedder, error)) (rule.Embedder, error) {
	if name == "" {
		return nil, nil
	}
	if !isServed(name) {
		m, err := minilm.Open(name)
		if err != nil {
			return nil, usage.Mark(err)
		}
		return m, nil
	}
	at.name = name
	m, err := e.openWire(at)
	if err != nil {
		return nil, err
	}
	embedder, ok := m.(rule.Embedder)
	if !ok {
		return nil, usage.Errorf("%s gives no embeddings", name)
	}
	return around(embedder)
}

// isServed tells "vendor:name" from a folder.
func isServed(name string) bool {
	maker, _, ok := strings.Cut(name, ":")
	if !ok {
		return false
	}
	for _, v := range vendors {
		if v.name == maker {
			return true
		}
	}
	return false
}
