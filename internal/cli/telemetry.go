package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"deem/internal/telemetry"
	"deem/internal/usage"
)

// A telemetryOptions is the options for telemetry. OpenTelemetry has its own variables,
// which are not flags.
type telemetryOptions struct {
	log, level string
	metrics    string
}

// observed adds telemetry to a command: it adds the flags, starts before the command and
// delivers the rest after it, however it ends.
func (a *app) observed(cmd *cobra.Command) *cobra.Command {
	var o telemetryOptions
	f := cmd.Flags()
	f.StringVar(&o.log, "log", "", "append log events to this `file` as JSON lines, - for standard error (default: none)")
	f.StringVar(&o.level, "log-level", "info", "how much to log: debug, info, warn or error")
	f.StringVar(&o.metrics, "metrics", "", "serve Prometheus metrics at this `address` during the run, for example 127.0.0.1:9464")
	work := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		stop, err := a.startTelemetry(cmd, o)
		if err != nil {
			return err
		}
		defer stop()
		return work(cmd, args)
	}
	return cmd
}

// startTelemetry starts telemetry, if configured, and returns a function that ends it.
func (a *app) startTelemetry(cmd *cobra.Command, o telemetryOptions) (stop func(), err error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.level)); err != nil {
		return nil, usage.Errorf("--log-level is debug, info, warn or error, and not %q", o.level)
	}
	log, closeLog, err := a.openLog(o.log)
	if err != nil {
		return nil, err
	}
	a.telemetry = telemetry.Start(cmd.Context(), telemetry.Options{
		Version: version(), Log: log, Level: level, Prometheus: o.metrics != "",
		Getenv: a.env.Get, Secrets: a.secrets(cmd),
		Warn: func(message string) { a.say("warning: %s", message) },
	})
	stop = func() {
		a.telemetry.Close()
		closeLog()
	}
	if o.metrics == "" {
		return stop, nil
	}
	url, public, err := a.telemetry.Serve(cmd.Context(), o.metrics)
	if err != nil {
		stop()
		return nil, usage.Mark(err)
	}
	a.say("metrics are at %s", url)
	if public {
		a.say("warning: other machines can read the metrics; --metrics 127.0.0.1:PORT keeps them here")
	}
	return stop, nil
}

// openLog opens the log, or returns nil if there is none.
func (a *app) openLog(name string) (io.Writer, func(), error) {
	switch name {
	case "":
		return nil, func() {}, nil
	case "-":
		return a.err, func() {}, nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, usage.Mark(fmt.Errorf("open the log: %w", err))
	}
	// An error on closing the log must not fail a finished run.
	return f, func() { _ = f.Close() }, nil
}

// secrets returns the texts to redact: the keys of all vendors, whether used or not, and
// the values of headers. Invalid headers are reported when the model is opened.
func (a *app) secrets(cmd *cobra.Command) []string {
	var list []string
	for _, v := range a.env.Vendors() {
		for _, variable := range v.Keys {
			list = append(list, a.env.Get(variable))
		}
	}
	given, _ := cmd.Flags().GetStringArray("header")
	headers, _ := a.env.Headers(given)
	for _, value := range headers {
		_, credentials, _ := strings.Cut(value, " ") // for example "Bearer key"
		list = append(list, value, credentials)
	}
	return list
}
