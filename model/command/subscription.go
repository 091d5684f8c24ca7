package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"deem"
	"deem/internal/wire"
)

// A vendorProgram is the command line program of a vendor of models, which a subscription
// pays for. It is run once for each request: the prompt on standard input, no tools where it
// can be told so, no stored session, in an empty folder, so that it reads no instructions
// that lie there.
type vendorProgram struct {
	name    string
	args    func(model, system string) []string
	keys    []string // variables that would make it use a paid API instead of the subscription
	read    func(out []byte) (deem.Reply, error)
	login   string // how to log in
	install string // how to install it
	system  bool   // it takes the system message as an argument; else it precedes the prompt
}

// errTools means that a reply is not the model's alone.
var errTools = errors.New("the program used a tool, so the reply is not that of the model alone")

// vendorPrograms follow the vendors' references: code.claude.com/docs/en/cli-reference,
// developers.openai.com/codex/noninteractive and geminicli.com/docs/cli/headless. Tests run
// stand-ins that speak the same output formats, not the programs themselves.
var vendorPrograms = []vendorProgram{
	{
		name: "claude", keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}, read: readClaude, system: true,
		args: func(model, system string) []string {
			args := []string{"-p", "--output-format", "json", "--tools", "", "--strict-mcp-config", "--no-session-persistence", "--system-prompt", system}
			return withModel(args, "--model", model)
		},
		login: "log in: start claude and type /login", install: "install it: npm install -g @anthropic-ai/claude-code",
	},
	{
		name: "codex", keys: []string{"OPENAI_API_KEY", "CODEX_API_KEY"}, read: readCodex,
		args: func(model, _ string) []string {
			args := withModel([]string{"exec", "--json", "--ephemeral", "--sandbox", "read-only", "--skip-git-repo-check"}, "--model", model)
			return append(args, "-")
		},
		login: "log in: codex login", install: "install it: npm install -g @openai/codex",
	},
	{
		name: "gemini", keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, read: readGemini,
		args: func(model, _ string) []string {
			return withModel([]string{"--output-format", "json", "--approval-mode", "default", "--extensions", "none"}, "--model", model)
		},
		login: "log in: start gemini and choose how to sign in", install: "install it: npm install -g @google/gemini-cli",
	},
}

func withModel(args []string, flag, model string) []string {
	if model == "" {
		return args
	}
	return append(args, flag, model)
}

// A subscription is a model behind the program of its vendor.
type subscription struct {
	vendorProgram
	path    string
	model   string
	timeout time.Duration
	slots   chan struct{}
	clean   func([]byte) []byte
}

var (
	_ deem.Tuned = (*subscription)(nil)
	_ deem.Wired = (*subscription)(nil)
)

// Subscribe returns the model that the program of a vendor asks: "claude", "codex" or
// "gemini", and after a colon a model, as in "claude:opus"; without one, the program's own
// default. If no call will be made, the program need not be installed.
func Subscribe(name string, o Options, uncalled bool) (deem.Model, error) {
	program, model, _ := strings.Cut(name, ":")
	i := slices.IndexFunc(vendorPrograms, func(p vendorProgram) bool { return p.name == program })
	if i < 0 {
		return nil, deem.WithHint(fmt.Errorf("cli:%s is not known", program), "write cli:claude, cli:codex or cli:gemini")
	}
	s := &subscription{
		vendorProgram: vendorPrograms[i], model: model, timeout: cmp.Or(max(o.Timeout, 0), defaultTimeout),
		slots: make(chan struct{}, cmp.Or(max(o.Processes, 0), 1)), clean: wire.RedactEnv(os.Environ()),
	}
	path, err := exec.LookPath(program)
	if err != nil && !uncalled {
		return nil, deem.WithHint(fmt.Errorf("%s is not installed", program), "%s", s.install)
	}
	s.path = path
	return s, nil
}

// Name returns "cli:claude" or "cli:claude:opus".
func (s *subscription) Name() string {
	if s.model == "" {
		return "cli:" + s.name
	}
	return "cli:" + s.name + ":" + s.model
}

// Settings returns the arguments: they decide how the model is asked.
func (s *subscription) Settings() string {
	return url.Values{"arguments": {strings.Join(s.args("", "SYSTEM"), " ")}}.Encode()
}

// Wire says that the program takes no parameters.
func (s *subscription) Wire(req deem.Request) (sent, dropped string) {
	gone := url.Values{}
	for name, set := range map[string]bool{
		"temperature": req.Temperature != nil, "top_p": req.TopP != nil, "max_tokens": req.MaxTokens > 0, "seed": req.Seed != nil,
		"stop": len(req.Stop) > 0, "schema": len(req.Schema) > 0, "json": req.JSON, "top_logprobs": req.TopLogprobs > 0,
	} {
		if set {
			gone.Set(name, "the program has no such setting")
		}
	}
	return "", gone.Encode()
}

// Complete runs the program once.
func (s *subscription) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return deem.Reply{}, ctx.Err()
	}
	folder, err := os.MkdirTemp("", "deem-")
	if err != nil {
		return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Fatal: true, Err: err}
	}
	defer func() { _ = os.RemoveAll(folder) }()
	system, prompt := s.prompt(req)
	callCtx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	cmd := exec.CommandContext(callCtx, s.path, s.args(s.model, system)...) //nolint:gosec // It is one of three programs that the user names.
	cmd.Dir, cmd.Env, cmd.Stdin = folder, s.environment(), strings.NewReader(prompt)
	ownGroup(cmd)
	cmd.Cancel = func() error { kill(cmd); return nil }
	cmd.WaitDelay = time.Second
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	ended := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return deem.Reply{}, ctx.Err()
	case callCtx.Err() != nil:
		return deem.Reply{}, &deem.ModelError{Kind: deem.Timeout, Passing: true, Billed: true, Err: deem.WithHint(fmt.Errorf("%s gave no reply within %v", s.name, s.timeout), "allow more time with --timeout 5m")}
	}
	reply, err := s.read(s.clean(out.Bytes()))
	if err == nil && ended == nil {
		_, reply.Dropped = s.Wire(req)
		return reply, nil
	}
	return deem.Reply{}, s.trouble(err, ended, s.clean(log.Bytes()))
}

// prompt returns the system message and the rest of the conversation as one text.
func (s *subscription) prompt(req deem.Request) (system, prompt string) {
	var parts []string
	for _, m := range req.Messages {
		if m.Role == "system" && s.system {
			system = m.Content
			continue
		}
		parts = append(parts, m.Content)
	}
	return cmp.Or(system, "Answer with text only."), strings.Join(parts, "\n\n")
}

// environment returns that of deem without the keys of paid APIs.
func (s *subscription) environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(s.keys, name)
	})
}

// Messages of the three programs. They change with versions, so the patterns are wide; what
// none matches is an error of this item.
var (
	notLoggedIn = regexp.MustCompile(`(?i)/login|log ?in|not authenticated|unauthori[sz]ed|invalid api key|auth method|401`)
	limitUsed   = regexp.MustCompile(`(?i)usage limit|hit your .*limit|quota|limit reached`)
	tooFast     = regexp.MustCompile(`(?i)rate.?limit|too many requests|429|overloaded|529|503|resource.?exhausted`)
)

// geminiNoAuth is the exit code of gemini when nobody is logged in.
const geminiNoAuth = 41

// trouble classifies a call without a reply.
func (s *subscription) trouble(reason, ended error, log []byte) error {
	me := &deem.ModelError{Kind: deem.Provider}
	exit, isExit := errors.AsType[*exec.ExitError](ended)
	said := strings.TrimSpace(string(log))
	if told, ok := errors.AsType[*toldError](reason); ok {
		said = told.Error()
	}
	message := wire.OneLine([]byte(said))
	switch {
	case errors.Is(reason, errTools):
		me.Err = reason
		return me
	case ended != nil && !isExit:
		me.Fatal, me.Err = true, fmt.Errorf("%s cannot be run: %w", s.name, ended)
		return me
	case limitUsed.MatchString(said):
		me.Fatal, me.Err = true, deem.WithHint(fmt.Errorf("the subscription of %s is used up for now: %s", s.name, message), "the same command resumes later with the items that are left")
		return me
	case tooFast.MatchString(said):
		me.Passing, me.Err = true, fmt.Errorf("%s asks to wait: %s", s.name, message)
		return me
	case notLoggedIn.MatchString(said), isExit && s.name == "gemini" && exit.ExitCode() == geminiNoAuth:
		me.Fatal, me.Err = true, deem.WithHint(fmt.Errorf("%s is not logged in: %s", s.name, cmp.Or(message, "it says no more")), "%s", s.login)
		return me
	case isExit:
		me.Err = fmt.Errorf("%s ended with code %d: %s", s.name, exit.ExitCode(), cmp.Or(message, "it says no more"))
		return me
	}
	me.Billed = true
	me.Err = fmt.Errorf("the output of %s cannot be read: %w", s.name, reason)
	return me
}

// A toldError is an error that the program reports in its output.
type toldError struct{ message string }

func (e *toldError) Error() string { return e.message }

// readClaude reads the result object of claude --output-format json.
func readClaude(out []byte) (deem.Reply, error) {
	var r struct {
		Type    string
		IsError bool `json:"is_error"`
		Result  *string
		Turns   int `json:"num_turns"`
		Usage   struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
			Read   int `json:"cache_read_input_tokens"`
			Write  int `json:"cache_creation_input_tokens"`
		}
		Models map[string]any `json:"modelUsage"`
		ID     string         `json:"session_id"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return deem.Reply{}, err
	}
	switch {
	case r.Type != "result" || r.Result == nil:
		return deem.Reply{}, errors.New(`it has no "result"`)
	case r.IsError:
		return deem.Reply{}, &toldError{*r.Result}
	case r.Turns > 1:
		return deem.Reply{}, errTools
	}
	u := r.Usage
	return deem.Reply{
		Text: *r.Result, Stop: deem.StopEnd, Model: onlyKey(r.Models), RequestID: r.ID,
		Usage: deem.Usage{Input: u.Input + u.Read + u.Write, Output: u.Output, CachedInput: u.Read},
	}, nil
}

// readCodex reads the events of codex exec --json, one per line.
func readCodex(out []byte) (deem.Reply, error) {
	reply := deem.Reply{Stop: deem.StopEnd}
	said := false
	for line := range bytes.Lines(out) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var e struct {
			Type    string
			Thread  string `json:"thread_id"`
			Message string
			Item    struct{ Type, Text string }
			Error   struct{ Message string }
			Usage   struct {
				Input     int `json:"input_tokens"`
				Cached    int `json:"cached_input_tokens"`
				Output    int `json:"output_tokens"`
				Reasoning int `json:"reasoning_output_tokens"`
			}
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return deem.Reply{}, err
		}
		switch e.Type {
		case "thread.started":
			reply.RequestID = e.Thread
		case "error", "turn.failed":
			return deem.Reply{}, &toldError{cmp.Or(e.Error.Message, e.Message)}
		case "turn.completed":
			reply.Usage = deem.Usage{Input: e.Usage.Input, Output: e.Usage.Output, CachedInput: e.Usage.Cached, Reasoning: e.Usage.Reasoning}
		case "item.completed":
			switch e.Item.Type {
			case "agent_message":
				reply.Text, said = e.Item.Text, true
			case "command_execution", "file_change", "mcp_tool_call", "web_search":
				return deem.Reply{}, errTools
			}
		}
	}
	if !said {
		return deem.Reply{}, errors.New("no agent_message is in it")
	}
	return reply, nil
}

// readGemini reads the object of gemini --output-format json.
func readGemini(out []byte) (deem.Reply, error) {
	var r struct {
		Response *string
		Error    *struct{ Message string }
		Session  string `json:"session_id"`
		Stats    struct {
			Models map[string]struct {
				Tokens struct{ Prompt, Candidates, Cached, Thoughts int }
			}
			Tools struct {
				Calls int `json:"totalCalls"`
			}
		}
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return deem.Reply{}, err
	}
	switch {
	case r.Error != nil:
		return deem.Reply{}, &toldError{r.Error.Message}
	case r.Response == nil:
		return deem.Reply{}, errors.New(`it has no "response"`)
	case r.Stats.Tools.Calls > 0:
		return deem.Reply{}, errTools
	}
	reply := deem.Reply{Text: *r.Response, Stop: deem.StopEnd, Model: onlyKey(r.Stats.Models), RequestID: r.Session}
	for _, m := range r.Stats.Models {
		t := m.Tokens
		reply.Usage.Input += t.Prompt
		reply.Usage.Output += t.Candidates + t.Thoughts
		reply.Usage.CachedInput += t.Cached
		reply.Usage.Reasoning += t.Thoughts
	}
	return reply, nil
}

// onlyKey returns the key of a map with one, else "".
func onlyKey[T any](m map[string]T) string {
	if len(m) != 1 {
		return ""
	}
	for name := range m {
		return name
	}
	return ""
}
