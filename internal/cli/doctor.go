package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/catalog"
	"deem/internal/dataset"
	"deem/internal/doc"
	"deem/internal/model"
	"deem/internal/store/postgres"
	"deem/internal/store/sqlite"
	"deem/internal/usage"
	"deem/internal/vendors"
	"deem/internal/words"
	"deem/judge"
)

const doctorHelp = `Check what a run needs: that the database can be reached, that every record in it is
intact, that keys are set, and, with --model, that its server accepts the key, knows the
model, and answers. One call is made about a fictional item, with the parameters of the
judge that --judge names, and what was sent is shown. Keys are never printed.

With --judge command:PROGRAM or http://ADDRESS your own judge is started and asked about
a fictional item, and its verdict is checked (docs/programs.md).

EXIT STATUS
  0 everything works   1 something is wrong   2 wrong usage`

func (a *app) doctorCommand() *cobra.Command {
	var o vendors.Options
	judge := "grade"
	cmd := &cobra.Command{
		Use: "doctor [flags]", Short: "check store, keys and model", Long: doctorHelp, Args: atMost(0),
		Example: "  deem doctor\n  deem doctor --model openai:gpt-4o-mini\n  deem doctor --model ollama:llama3.2",
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := []finding{a.checkStore(cmd.Context()), a.checkKeys()}
			o.Programs = true
			if _, ok := catalog.ProgramName(judge); ok && o.Name == "" {
				o.Name = judge
			}
			if o.Name != "" {
				findings = append(findings, a.checkModel(cmd.Context(), judge, o)...)
			}
			if a.json {
				_ = writeJSON(a.out, findings)
			}
			bad := 0
			for _, f := range findings {
				mark := "ok "
				if !f.OK {
					mark = "BAD"
					bad++
				}
				if a.json {
					continue
				}
				fmt.Fprintf(a.out, "%s  %-6s  %s\n", mark, f.Check, f.Detail)
				if f.Hint != "" {
					fmt.Fprintf(a.out, "             %s\n", f.Hint)
				}
			}
			if bad > 0 {
				return fmt.Errorf("%s found something wrong", words.Count(bad, "check"))
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "model", "", "ask this `model` one question")
	f.StringVar(&judge, "judge", judge, "use the request of this judge: a `name` (deem list judges) or a YAML file")
	f.StringVar(&o.Thinking, "thinking", "", "how much a reasoning model thinks: low, medium, high, off, or a number of `tokens` (default: the vendor's)")
	f.StringToStringVar(&o.Options, "model-option", nil, "a vendor-specific option, `name=value` (deem list models); repeatable")
	f.StringVar(&o.BaseURL, "base-url", "", "`address` of the model's server (default: OPENAI_BASE_URL, ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL, OLLAMA_HOST, or the vendor's own)")
	f.StringArrayVar(&o.Headers, "header", nil, "send `NAME=value` or NAME=env:VARIABLE; repeatable")
	f.StringVar(&o.Proxy, "proxy", "", "reach the server through this proxy, a `URL` or env:VARIABLE (default: HTTPS_PROXY)")
	f.StringVar(&o.CAFile, "ca-file", "", "also trust the certificate authorities in this PEM `file`")
	f.DurationVar(&o.Timeout, "timeout", 30*time.Second, "give up after this `time`")
	return cmd
}

// A finding is the result of one check.
type finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

// found converts an error to a finding.
func found(check, good string, err error) finding {
	if err != nil {
		return finding{Check: check, Detail: err.Error(), Hint: deem.HintOf(err)}
	}
	return finding{Check: check, OK: true, Detail: good}
}

// checkStore checks the database without creating one.
func (a *app) checkStore(ctx context.Context) finding {
	if err := a.checkDB(); err != nil {
		return found("store", "", err)
	}
	if postgres.IsURL(a.db) {
		h, err := postgres.Check(ctx, a.db, postgres.Options{})
		if h.Schema == 0 {
			return found("store", a.dbName()+" has no runs yet; the first run makes its tables", err)
		}
		return found("store", fmt.Sprintf("%s is sound: %s, %s", a.dbName(), words.Count(h.Runs, "run"), words.Count(h.Records, "record")), err)
	}
	h, err := sqlite.Check(ctx, a.db, sqlite.Options{})
	if !h.Exists {
		return found("store", a.db+" is not there yet; the first run makes it", err)
	}
	return found("store", fmt.Sprintf("%s is sound: %s, %s", a.db, words.Count(h.Runs, "run"), words.Count(h.Records, "record")), err)
}

// checkKeys reports which variables are set, and never their values.
func (a *app) checkKeys() finding {
	var set, unset []string
	for _, v := range a.env.Vendors() {
		keyed := false
		for _, variable := range append(slices.Clone(v.Keys), v.Server) {
			if variable != "" && a.env.Get(variable) != "" {
				set = append(set, variable+" is set")
				keyed = keyed || variable != v.Server
			}
		}
		if len(v.Keys) > 0 && !keyed && !v.KeyOptional && !v.Preset {
			unset = append(unset, strings.Join(v.Keys, " or "))
		}
	}
	if len(unset) > 0 {
		set = append(set, "not set: "+strings.Join(unset, ", ")+" (rules and servers of your own need no key)")
	}
	return finding{Check: "keys", OK: true, Detail: strings.Join(set, "; ")}
}

// checkModel makes one small call, and reports each step: whether the server is reachable,
// accepts the key, knows the model, and answers; what was sent; and how the judge reads the
// reply.
func (a *app) checkModel(ctx context.Context, name string, o vendors.Options) []finding {
	wire, err := a.env.Open(o)
	if err != nil {
		return []finding{found("model", "", err)}
	}
	if c, ok := wire.(io.Closer); ok {
		defer func() { _ = c.Close() }()
	}
	c, err := catalog.Choose(name, catalog.JudgeOptions{}, false)
	if err != nil {
		return []finding{found("judge", "", err)}
	}
	leaf, ok := c.Single()
	if !ok {
		return []finding{found("judge", "", usage.Errorf("judge %s asks no model of its own", name))}
	}
	it := deem.Item{ID: "doctor", Question: "What is the capital of France?", References: []string{"Paris"}, Response: "It is Paris.", Fields: map[string]string{}}
	for _, field := range c.Wanted() {
		it.Fields[strings.TrimSuffix(field, dataset.Optional)] = "Paris"
	}
	req, err := leaf.Protocol.Request(it)
	if err != nil {
		return []finding{found("judge", "", err)}
	}
	m := model.Shared(wire, model.Options{})
	reply, err := m.Complete(ctx, req)
	good := fmt.Sprintf("%s answered in %d ms, %d tokens in, %d out", m.Name(), reply.Latency.Milliseconds(), reply.Usage.Input, reply.Usage.Output)
	if reply.Model != "" {
		good += ", as " + words.Printable(reply.Model)
	}
	if price, ok := (model.Prices{}).Of(m.Name(), model.TierOf(m)); !ok {
		good += "; its price is not known (--prices)"
	} else if cost := price.Cost(reply.Usage); cost > 0 {
		good += ", " + words.ExactDollars(cost)
	}
	findings := steps(model.Endpoint(wire), m.Name(), good, err)
	if err != nil {
		return findings
	}
	// A truncated or empty reply is an error: all replies of a run would be like it.
	f := finding{Check: "judge", OK: true}
	v, err := judge.Read(leaf.Protocol, it, reply)
	failure, failed := errors.AsType[*deem.Failure](err)
	switch {
	case failed && (failure.Kind == deem.Truncated || failure.Kind == deem.Empty):
		f.OK, f.Detail = false, leaf.Name()+": "+failure.Error()
		f.Hint = "a reasoning model needs room to think: --thinking medium, low, high, or a number of tokens"
	case err != nil && leaf.External():
		f.OK, f.Detail = false, fmt.Sprintf("%s gave no verdict: %v", leaf.Name(), err)
		f.Hint = `a verdict is {"id": 1, "label": "yes", "score": 1}; docs/programs.md shows all of it`
	case err != nil:
		f.Detail = fmt.Sprintf("%s cannot read the reply as a verdict: %v", leaf.Name(), err)
	default:
		f.Detail = fmt.Sprintf("%s reads the reply as %s", leaf.Name(), v.Label)
	}
	if reply.Sent != "" {
		f.Detail += "; sent: " + strings.Join(doc.WireList(reply.Sent), ", ")
	}
	if reply.Dropped != "" {
		f.Detail += "; not sent: " + strings.Join(doc.WireList(reply.Dropped), ", ")
	}
	f.Detail = words.Printable(f.Detail)
	return append(findings, f)
}

// steps reports a call as its steps: those before the failed one succeeded. A model without
// a server has only the last step.
func steps(endpoint, name, good string, err error) []finding {
	if endpoint == "" {
		return []finding{found("model", good, err)}
	}
	all := []finding{
		found("server", endpoint+" is reached", nil), found("key", "was taken", nil),
		found("name", name+" is known", nil), found("model", good, nil),
	}
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok {
		me = &deem.ModelError{}
	}
	code, wrong := strings.ToLower(me.Code), 3
	switch {
	case err == nil:
		return all
	case me.Status == 401 || me.Status == 403 || strings.Contains(code, "api_key") || strings.Contains(code, "authentication"):
		wrong = 1
	case me.Status == 404 || strings.Contains(code, "model"):
		wrong = 2
	case me.Status == 0:
		wrong = 0
	}
	all[wrong] = found(all[wrong].Check, "", err)
	return all[:wrong+1]
}
