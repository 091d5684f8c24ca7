package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/store/sqlite"
	"deem/model"
)

const doctorHelp = `Check what a run needs: that the database can be written and read, that keys are
set, and, with --model, that the model answers: one call of a few tokens is made.
No key is ever printed.

EXIT STATUS
  0 all is well   1 something is wrong   2 wrong usage`

func (a *app) doctorCommand() *cobra.Command {
	var o modelOptions
	cmd := &cobra.Command{
		Use: "doctor [flags]", Short: "check store, keys and model", Long: doctorHelp, Args: atMost(0),
		Example: "  deem doctor\n  deem doctor --model openai:gpt-4o-mini",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.name, "model", "", "ask this `model` one question")
	f.StringVar(&o.baseURL, "base-url", "", "`address` of an OpenAI-compatible server (default: OPENAI_BASE_URL)")
	f.StringArrayVar(&o.headers, "header", nil, "send `NAME=value` or NAME=env:VARIABLE; may be given again")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "give up after this `time`")
	return cmd
}

// A finding is what one check found.
type finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

func (a *app) doctor(ctx context.Context, o modelOptions) error {
	findings := []finding{a.checkStore(ctx), a.checkKeys()}
	if o.name != "" {
		findings = append(findings, a.checkModel(ctx, o))
	}
	bad := 0
	for _, f := range findings {
		if !f.OK {
			bad++
		}
	}
	if a.json {
		writeJSON(a.out, findings)
	} else {
		for _, f := range findings {
			f.text(a)
		}
	}
	if bad > 0 {
		return fmt.Errorf("%s found something wrong", count(bad, "check"))
	}
	return nil
}

func (f finding) text(a *app) {
	mark := "ok "
	if !f.OK {
		mark = "BAD"
	}
	fmt.Fprintf(a.out, "%s  %-6s  %s\n", mark, f.Check, f.Detail)
	if f.Hint != "" {
		fmt.Fprintf(a.out, "             %s\n", f.Hint)
	}
}

// found makes a finding of an error.
func found(check, good string, err error) finding {
	if err != nil {
		return finding{Check: check, Detail: err.Error(), Hint: deem.HintOf(err)}
	}
	return finding{Check: check, OK: true, Detail: good}
}

// checkStore looks at the database without making one.
func (a *app) checkStore(ctx context.Context) finding {
	if err := a.checkDB(); err != nil {
		return found("store", "", err)
	}
	h, err := sqlite.Check(ctx, a.db, sqlite.Options{})
	if !h.Exists {
		return found("store", a.db+" is not there yet; the first run makes it", err)
	}
	return found("store", fmt.Sprintf("%s is sound: %s, %s", a.db, count(h.Runs, "run"), count(h.Records, "record")), err)
}

// checkKeys says which variables are set, and never what they hold.
func (a *app) checkKeys() finding {
	detail := "OPENAI_API_KEY is not set: judges that ask openai: models need it, rules and servers of your own do not"
	if a.env.get("OPENAI_API_KEY") != "" {
		detail = "OPENAI_API_KEY is set"
	}
	if base := a.env.get("OPENAI_BASE_URL"); base != "" {
		detail += "; OPENAI_BASE_URL is set"
	}
	return finding{Check: "keys", OK: true, Detail: detail}
}

// checkModel makes one small call.
func (a *app) checkModel(ctx context.Context, o modelOptions) finding {
	wire, err := a.openWire(o)
	if err != nil {
		return found("model", "", err)
	}
	req := deem.Prompt("Reply with the word OK.")
	req.MaxTokens = 16
	m := model.Meter(wire, model.Prices{})
	reply, err := m.Complete(ctx, req)
	good := fmt.Sprintf("%s answered in %d ms, %d tokens in, %d out", m.Name(), reply.Latency.Milliseconds(), reply.Usage.Input, reply.Usage.Output)
	if reply.Model != "" {
		good += ", as " + printable(reply.Model)
	}
	return found("model", good, err)
}
