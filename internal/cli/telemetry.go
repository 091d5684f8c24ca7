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

// observed adds telemetry to a command: it adds the flags, starts before the command and
// ends after it.
func (a *app) observed(cmd *cobra.Command) *cobra.Command {
	var log, level, metrics string
	f := cmd.Flags()
	f.StringVar(&log, "log", "", "append log events to this `file` as JSON lines, - for standard error (default: none)")
	f.StringVar(&level, "log-level", "info", "how much to log: debug, info, warn or error")
	f.StringVar(&metrics, "metrics", "", "serve Prometheus metrics at this `address` during the run, for example 127.0.0.1:9464")
	work := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		_, _, stop, err := a.startTelemetry(cmd, log, level, metrics != "")
		if err != nil {
			return err
		}
		defer stop()
		if metrics == "" {
			return work(cmd, args)
		}
		url, public, err := a.telemetry.Serve(cmd.Context(), metrics)
		if err != nil {
			return usage.Mark(err)
		}
		a.say("metrics are at %s", url)
		if public {
			a.say("warning: other machines can read the metrics; --metrics 127.0.0.1:PORT keeps them here")
		}
		return work(cmd, args)
	}
	return cmd
}

// startTelemetry starts telemetry, if configured. It returns the log, or nil if none is
// named, its level, and a function that ends both.
func (a *app) startTelemetry(cmd *cobra.Command, name, threshold string, prometheus bool, secrets ...string) (log io.Writer, level slog.Level, stop func(), err error) {
	if err := level.UnmarshalText([]byte(threshold)); err != nil {
		return nil, level, nil, usage.Errorf("--log-level is debug, info, warn or error, and not %q", threshold)
	}
	closeLog := func() {}
	switch name {
	case "":
	case "-":
		log = a.err
	default:
		f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, level, nil, usage.Mark(fmt.Errorf("open the log: %w", err))
		}
		log = f
		closeLog = func() { _ = f.Close() } // An error must not fail a finished run.
	}
	// Secrets are redacted: the keys of all vendors, whether used or not, and the values of
	// headers. Invalid headers are reported when the model is opened.
	for _, v := range a.env.Vendors() {
		for _, variable := range v.Keys {
			secrets = append(secrets, a.env.Get(variable))
		}
	}
	given, _ := cmd.Flags().GetStringArray("header")
	headers, _ := a.env.Headers(given)
	for _, value := range headers {
		_, credentials, _ := strings.Cut(value, " ") // for example "Bearer key"
		secrets = append(secrets, value, credentials)
	}
	a.telemetry = telemetry.Start(telemetry.Options{Version: version(), Log: log, Level: level, Prometheus: prometheus, Secrets: secrets})
	return log, level, func() {
		a.telemetry.Close()
		closeLog()
	}, nil
}
