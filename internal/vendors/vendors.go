// Package vendors opens models by name.
//
// Only this package knows vendors and their API keys: an [Environment] has the keys and
// passes them only to the vendor's own package.
package vendors

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"deem"
	"deem/internal/usage"
	"deem/model/anthropic"
	"deem/model/command"
	"deem/model/fake"
	"deem/model/google"
	"deem/model/ollama"
	"deem/model/openai"
	"deem/model/replay"
)

// maxReply is the option that limits the size of a reply in bytes.
const maxReply = "max-reply"

// A Vendor opens models.
type Vendor struct {
	Name, About string
	Keys        []string // variables of which one must contain a key, unless a server is named
	KeyOptional bool     // the vendor's own server needs no key
	Server      string   // the variable that names a server
	Address     []string // the variables that the address of the server requires
	Options     []string // the options for --model-option
	open        func(name string, at access) (deem.Model, error)
	Preset      bool   // it uses the wire protocol of another vendor
	Auth        string // "aws" or "google": cloud credentials are used if no key is set
	program     bool   // names something that only the command line may name
}

// own are the vendors with their own wire protocol.
var own = []Vendor{
	{
		Name: "openai", About: "Chat Completions of OpenAI and of every compatible server (--base-url)",
		Keys: []string{"OPENAI_API_KEY"}, Server: "OPENAI_BASE_URL", open: openOpenAI,
		Options: []string{"reasoning", "service-tier", "thinking", maxReply},
	},
	{
		Name: "anthropic", About: "Messages of Anthropic: claude-...",
		Keys: []string{"ANTHROPIC_API_KEY"}, Server: "ANTHROPIC_BASE_URL", open: openAnthropic,
		Options: []string{"thinking", "thinking-tokens", "effort", "beta", maxReply},
	},
	{
		Name: "google", About: "Gemini of Google: gemini-...",
		Keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, Server: "GOOGLE_GEMINI_BASE_URL", open: openGoogle,
		Options: []string{"thinking", "thinking-budget", "thinking-level", maxReply},
	},
	{
		Name: "ollama", About: "models that run on this machine or another one, with Ollama; no key",
		Keys: []string{"OLLAMA_API_KEY"}, KeyOptional: true, Server: "OLLAMA_HOST", open: openOllama,
		Options: []string{"think", "thinking", "context-length", maxReply},
	},
	{
		Name: Command, About: "a program of your own that answers requests (docs/programs.md)",
		open: openCommand, program: true, Options: []string{maxReply},
	},
	{
		Name: Subscription, About: "claude, codex or gemini, the programs that a subscription pays for (docs/providers.md)",
		open: openSubscription, program: true,
	},
	{
		Name: "http", About: "a server of your own that answers requests (docs/programs.md)",
		open: func(name string, at access) (deem.Model, error) { return dial("http:"+name, at) }, program: true, Options: []string{maxReply},
	},
	{
		Name: "https", About: "the same, encrypted",
		open: func(name string, at access) (deem.Model, error) { return dial("https:"+name, at) }, program: true, Options: []string{maxReply},
	},
	{
		Name: "fake", About: "made-up replies, for tests; see deem list models",
		open: func(name string, _ access) (deem.Model, error) { return fake.New(name) },
	},
	{
		Name: "replay", About: "replies out of a file that --record wrote, or that you wrote",
		open: func(name string, _ access) (deem.Model, error) { return replay.Open(name) },
	},
}

// Options selects a model and says how to reach it.
type Options struct {
	Name     string
	BaseURL  string
	Headers  []string
	Timeout  time.Duration
	Proxy    string
	CAFile   string
	Options  map[string]string          // specific to the vendor
	Thinking string                     // amount of reasoning: the option with that name, which most vendors have
	Uncalled bool                       // no call will be made, so no key is needed
	Programs bool                       // the user's programs and servers are allowed; never for names from a client or a file
	Parallel int                        // concurrent requests, for programs
	Log      func(program, line string) // receives a program's standard error; nil drops it
}

// AllOptions returns the options specific to the vendor, including the amount of reasoning.
func (m Options) AllOptions() map[string]string {
	if m.Thinking == "" {
		return m.Options
	}
	options := map[string]string{"thinking": m.Thinking}
	maps.Copy(options, m.Options)
	return options
}

// An access says how to reach a server, including secrets.
type access struct {
	env           Environment
	noCalls       bool // no call will be made
	key, base     string
	headers       map[string]string
	timeout       time.Duration
	maxReply      int
	proxy, caFile string
	options       map[string]string
	parallel      int
	log           func(program, line string)
}

// number returns an integer option, or 0 if it is not set.
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

// Vendors returns all vendors: those with their own wire protocol, the providers that use
// these protocols, and those of the user.
func (e Environment) Vendors() []Vendor { return slices.Concat(own, builtin(), e.providers) }

// State says whether a vendor can be used, or what to set first.
func (e Environment) State(v Vendor) string {
	missing := e.missing(v)
	switch {
	case len(missing) > 0:
		return "set " + strings.Join(missing, " and ")
	case slices.ContainsFunc(v.Keys, e.isSet):
		return "the key is set"
	case e.isSet(v.Server):
		return v.Server + " is set"
	case v.Auth == "aws":
		return "uses AWS credentials"
	case v.Auth == "google":
		return "uses Google Cloud credentials"
	}
	return ""
}

func (e Environment) isSet(variable string) bool { return variable != "" && e.Get(variable) != "" }

// missing returns what must be set before a vendor can be used at its own address. A user's
// server needs no key.
func (e Environment) missing(v Vendor) []string {
	var list []string
	if len(v.Keys) > 0 && !v.KeyOptional && !slices.ContainsFunc(v.Keys, e.isSet) && (len(v.Address) > 0 || !e.isSet(v.Server)) {
		list = append(list, strings.Join(v.Keys, " or "))
	}
	for _, variable := range v.Address {
		if !e.isSet(variable) && !e.isSet(v.Server) {
			list = append(list, variable)
		}
	}
	return list
}

// VendorOf splits "vendor:name". A provider of the user takes precedence over others with
// the same name.
func (e Environment) VendorOf(model string) (Vendor, string, error) {
	maker, name, ok := strings.Cut(model, ":")
	if !ok || name == "" {
		return Vendor{}, "", usage.Mark(deem.WithHint(fmt.Errorf("unknown model %q", model), "write provider:name, as in openai:gpt-4o-mini"))
	}
	var names []string
	for _, v := range slices.Backward(e.Vendors()) {
		if v.Name == maker {
			return v, name, nil
		}
		names = append(names, v.Name)
	}
	return Vendor{}, "", usage.Mark(usage.Unknown("vendor", maker, names))
}

// Open returns the unwrapped model that the options name. A missing key is reported before
// any call is made.
func (e Environment) Open(o Options) (deem.Model, error) {
	v, name, err := e.VendorOf(o.Name)
	if err != nil {
		return nil, err
	}
	at := access{env: e, noCalls: o.Uncalled, base: o.BaseURL, timeout: o.Timeout, caFile: o.CAFile, options: o.AllOptions(), parallel: o.Parallel, log: o.Log}
	if v.program && !o.Programs {
		return nil, usage.Errorf("%s:%s is not asked here: only deem run and deem doctor on the command line start programs", v.Name, name)
	}
	if o.Thinking != "" && !slices.Contains(v.Options, "thinking") {
		return nil, usage.Errorf("--thinking says nothing to %s, which does not think", o.Name)
	}
	for option := range at.options {
		if !slices.Contains(v.Options, option) {
			return nil, usage.Mark(usage.Unknown("option of "+v.Name, option, v.Options))
		}
	}
	if at.base == "" && v.Server != "" {
		at.base = e.Get(v.Server)
	}
	for _, variable := range v.Keys {
		if at.key == "" {
			at.key = e.Get(variable)
		}
	}
	if missing := e.missing(v); len(missing) > 0 && !o.Uncalled && o.BaseURL == "" {
		what := "no key"
		if at.key != "" || v.KeyOptional {
			what = "no address"
		}
		return nil, usage.Mark(deem.WithHint(fmt.Errorf("%s for %s:%s", what, v.Name, name),
			"set %s in the environment or in .env, or --base-url for a server of your own", strings.Join(missing, " and ")))
	}
	if at.maxReply, err = at.number(maxReply); err != nil {
		return nil, usage.Mark(err)
	}
	if at.headers, err = e.Headers(o.Headers); err != nil {
		return nil, err
	}
	at.proxy = o.Proxy
	if variable, ok := strings.CutPrefix(o.Proxy, "env:"); ok {
		if at.proxy = e.Get(variable); at.proxy == "" {
			return nil, usage.Errorf("--proxy wants the variable %s, which is not set", variable)
		}
	}
	m, err := v.open(name, at)
	if err != nil {
		return nil, usage.Mark(err)
	}
	return m, nil
}

func openOpenAI(name string, at access) (deem.Model, error) {
	o, err := openAIOptions(name, at)
	if err != nil {
		return nil, err
	}
	return openai.New(o)
}

func openAIOptions(name string, at access) (openai.Options, error) {
	o := openai.Options{
		Model: name, BaseURL: at.base, Key: at.key, Headers: at.headers, Timeout: at.timeout, MaxReply: at.maxReply, Proxy: at.proxy, CAFile: at.caFile,
		Organization: at.env.Get("OPENAI_ORGANIZATION"), Project: at.env.Get("OPENAI_PROJECT"),
		ServiceTier: at.options["service-tier"], Thinking: at.options["thinking"],
	}
	if text, ok := at.options["reasoning"]; ok {
		reasons, err := strconv.ParseBool(text)
		if err != nil {
			return o, fmt.Errorf("--model-option reasoning=%s: it says whether the model reasons, as true or false", text)
		}
		o.Reasoning = &reasons
	}
	return o, nil
}

func openAnthropic(name string, at access) (deem.Model, error) {
	budget, err := at.number("thinking-tokens")
	if err != nil {
		return nil, err
	}
	o := anthropic.Options{
		Model: name, BaseURL: at.base, Key: at.key, Headers: at.headers, Timeout: at.timeout, MaxReply: at.maxReply, Proxy: at.proxy, CAFile: at.caFile,
		Thinking: at.options["thinking"], ThinkingTokens: budget, Effort: at.options["effort"],
	}
	if beta := at.options["beta"]; beta != "" {
		o.Beta = strings.Split(beta, " ")
	}
	return anthropic.New(o)
}

func openGoogle(name string, at access) (deem.Model, error) {
	o := google.Options{
		Model: name, BaseURL: at.base, Key: at.key, Headers: at.headers, Timeout: at.timeout, MaxReply: at.maxReply, Proxy: at.proxy, CAFile: at.caFile,
		Thinking: at.options["thinking"], ThinkingLevel: at.options["thinking-level"],
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

// Command is the vendor of programs on this machine.
const Command = "command"

// openCommand starts a user's program. It has no context, because it is used only on the
// command line, where waiting is acceptable.
func openCommand(name string, at access) (deem.Model, error) {
	args, err := SplitCommand(name)
	if err != nil {
		return nil, err
	}
	o := command.Options{Command: args, Processes: at.parallel, Timeout: at.timeout, MaxReply: at.maxReply}
	if at.log != nil {
		o.Log = func(line string) { at.log(name, line) }
	}
	return command.Open(context.Background(), o)
}

// Subscription is the vendor of the programs of other vendors.
const Subscription = "cli"

func openSubscription(name string, at access) (deem.Model, error) {
	return command.Subscribe(name, command.Options{Processes: at.parallel, Timeout: at.timeout}, at.noCalls)
}

func dial(url string, at access) (deem.Model, error) {
	return command.Dial(context.Background(), command.ServerOptions{
		URL: url, Headers: at.headers, Timeout: at.timeout, MaxReply: at.maxReply, Proxy: at.proxy, CAFile: at.caFile,
	})
}

// SplitCommand splits a command at white space. Quotes keep words together, and a backslash
// escapes the next character.
func SplitCommand(text string) ([]string, error) {
	var args []string
	var word strings.Builder
	var quote rune
	inWord, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inWord = r, true
		case quote == 0 && unicode.IsSpace(r):
			if inWord {
				args = append(args, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("%q ends within quotes", text)
	}
	if inWord {
		args = append(args, word.String())
	}
	return args, nil
}

func openOllama(name string, at access) (deem.Model, error) {
	window, err := at.number("context-length")
	if err != nil {
		return nil, err
	}
	return ollama.New(ollama.Options{
		Model: name, BaseURL: at.base, Key: at.key, Headers: at.headers, Timeout: at.timeout, MaxReply: at.maxReply, Proxy: at.proxy, CAFile: at.caFile,
		ContextLength: window, Think: at.options["think"], Thinking: at.options["thinking"],
	})
}

// Headers parses NAME=value and NAME=env:VARIABLE. The second form is for secrets, which
// should not be on a command line.
func (e Environment) Headers(list []string) (map[string]string, error) {
	headers := map[string]string{}
	for _, h := range list {
		name, value, ok := strings.Cut(h, "=")
		if !ok || name == "" {
			return nil, usage.Errorf("a header is NAME=value or NAME=env:VARIABLE")
		}
		if variable, ok := strings.CutPrefix(value, "env:"); ok {
			if value = e.Get(variable); value == "" {
				return nil, usage.Errorf("header %s wants the variable %s, which is not set", name, variable)
			}
		}
		headers[name] = value
	}
	return headers, nil
}

// IsServed distinguishes "vendor:name" from a folder.
func (e Environment) IsServed(name string) bool {
	_, _, err := e.VendorOf(name)
	return err == nil
}

// Elsewhere returns the options for another model. The given address, headers and options
// belong to the vendor of --model and are not sent to another vendor; without a --model
// they are used for any.
func (m Options) Elsewhere(name string) Options {
	maker, _, _ := strings.Cut(m.Name, ":")
	other, _, _ := strings.Cut(name, ":")
	if m.Name != "" && maker != other {
		m.BaseURL, m.Headers, m.Options, m.Thinking = "", nil, nil, ""
	}
	m.Name = name
	return m
}
