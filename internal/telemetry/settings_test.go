package telemetry

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// variable returns a Getenv of lines "NAME=value", where "*" stands for the OTLP prefix.
func variable(lines string) func(string) string {
	values := map[string]string{}
	for line := range strings.Lines(lines) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[strings.Replace(k, "*", otlp, 1)] = v
	}
	return func(name string) string { return values[name] }
}

func TestReadSettings(t *testing.T) {
	to := func(url string) *target {
		return &target{url: url, timeout: defaultTimeout, headers: map[string]string{}}
	}
	both := func(base string) settings {
		return settings{service: "deem", traces: to(base + "/v1/traces"), metrics: to(base + "/v1/metrics")}
	}
	withHeaders := func(s settings, h map[string]string) settings {
		for _, to := range []*target{s.traces, s.metrics} {
			if to != nil {
				to.headers = h
			}
		}
		return s
	}
	for _, tt := range []struct {
		name, variables string
		want            settings
		err             string
	}{
		{"nothing", "", settings{service: "deem"}, ""},
		{"a service and nowhere to send", "OTEL_SERVICE_NAME=nightly", settings{service: "nightly"}, ""},
		{"one for all", "*ENDPOINT=http://localhost:4318", both("http://localhost:4318"), ""},
		{"a slash behind", "*ENDPOINT=http://localhost:4318/", both("http://localhost:4318"), ""},
		{"a path", "*ENDPOINT=https://otel.example/in", both("https://otel.example/in"), ""},
		{"one as it is", "*TRACES_ENDPOINT=http://t:1/x", settings{service: "deem", traces: to("http://t:1/x")}, ""},
		{"one without a path", "*METRICS_ENDPOINT=http://m:1", settings{service: "deem", metrics: to("http://m:1/")}, ""},
		{
			"one goes before all", "*ENDPOINT=http://a:1\n*TRACES_ENDPOINT=http://t:1/x",
			settings{service: "deem", traces: to("http://t:1/x"), metrics: to("http://a:1/v1/metrics")},
			"",
		},
		{"disabled", "*ENDPOINT=http://a:1\nOTEL_SDK_DISABLED=TRUE", settings{service: "deem"}, ""},
		{"no traces", "*ENDPOINT=http://a:1\nOTEL_TRACES_EXPORTER=none", settings{service: "deem", metrics: to("http://a:1/v1/metrics")}, ""},
		{"headers", "*ENDPOINT=http://a:1\n*HEADERS=x-key=a%20b, y = c=d ,", withHeaders(both("http://a:1"), map[string]string{"x-key": "a b", "y": "c=d"}), ""},
		{"a password", "*ENDPOINT=http://me:pass@a:1", withHeaders(both("http://a:1"), map[string]string{"Authorization": "Basic bWU6cGFzcw=="}), ""},
		{"a password and a header", "*ENDPOINT=http://me:pass@a:1\n*HEADERS=Authorization=Bearer x", withHeaders(both("http://a:1"), map[string]string{"Authorization": "Bearer x"}), ""},

		{"another protocol", "*ENDPOINT=http://a:4317\n*PROTOCOL=grpc", settings{service: "deem"}, "OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and deem speaks OTLP over HTTP only"},
		{"another exporter", "*ENDPOINT=http://a:1\nOTEL_TRACES_EXPORTER=zipkin", settings{service: "deem", metrics: to("http://a:1/v1/metrics")}, "OTEL_TRACES_EXPORTER is neither otlp nor none"},
		{"no scheme", "*ENDPOINT=secret:4318", settings{service: "deem"}, "OTEL_EXPORTER_OTLP_ENDPOINT is not an address as http://localhost:4318"},
		{"no URL", "*TRACES_ENDPOINT=http://[secret", settings{service: "deem"}, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is not an address as http://localhost:4318"},
		{"no header", "*ENDPOINT=http://a:1\n*HEADERS=secret", settings{service: "deem"}, "OTEL_EXPORTER_OTLP_HEADERS is not of the form name=value,name=value"},
		{"a broken escape", "*ENDPOINT=http://a:1\n*HEADERS=x=secret%zz", settings{service: "deem"}, "OTEL_EXPORTER_OTLP_HEADERS is not of the form name=value,name=value"},
		{"no time", "*METRICS_ENDPOINT=http://a:1\n*TIMEOUT=5s", settings{service: "deem"}, "OTEL_EXPORTER_OTLP_TIMEOUT is not a number of milliseconds"},
		{"no authority", "*TRACES_ENDPOINT=http://a:1\n*CERTIFICATE=/nowhere", settings{service: "deem"}, "OTEL_EXPORTER_OTLP_CERTIFICATE is not a file with certificates"},
		{"no pair", "*TRACES_ENDPOINT=http://a:1\n*CLIENT_CERTIFICATE=/nowhere", settings{service: "deem"}, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and its key are not a pair of files"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readSettings(variable(tt.variables))
			message := ""
			if err != nil {
				message = err.Error()
			}
			if message != tt.err {
				t.Errorf("error %q, want %q", message, tt.err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(settings{}, target{}), cmpopts.IgnoreTypes(&tls.Config{})); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadHowToDeliver(t *testing.T) {
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pemOf(srv.Certificate().Raw), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := readSettings(variable("*ENDPOINT=https://a\n*TIMEOUT=1500\n*METRICS_COMPRESSION=gzip\n*TRACES_CERTIFICATE=" + file))
	if err != nil {
		t.Fatal(err)
	}
	if s.traces.timeout != 1500*time.Millisecond || s.traces.gzip || !s.metrics.gzip {
		t.Errorf("traces %+v, metrics %+v", s.traces, s.metrics)
	}
	if s.traces.tls == nil || s.traces.tls.RootCAs == nil || s.metrics.tls != nil {
		t.Errorf("traces trust %v, metrics %v", s.traces.tls, s.metrics.tls)
	}
}

// Nothing is left of a text that is long enough to be a key, in any encoding in which it
// may appear.
func TestRedact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfN(rapid.StringMatching(`[a-zA-Z0-9"\\/+=%& -]{6,20}`), 1, 4).Draw(t, "secrets")
		around := rapid.StringMatching(`[^a-zA-Z0-9]{0,10}`)
		r := newRedactor(secrets)
		for _, s := range secrets {
			quoted, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, form := range []string{s, string(quoted[1 : len(quoted)-1])} {
				text := around.Draw(t, "before") + form + around.Draw(t, "after")
				if got := r.Replace(text); strings.Contains(got, form) {
					t.Errorf("%q of %q stays in %q", form, text, got)
				}
			}
		}
	})
	if got := newRedactor([]string{"", "short"}).Replace("a short word"); got != "a short word" {
		t.Errorf("a short secret makes %q", got)
	}
	if got := newRedactor([]string{"longer", "longer-key"}).Replace("longer-key longer"); got != "[redacted] [redacted]" {
		t.Errorf("the longer secret goes first: %q", got)
	}
}

// Every instrument has its own name for Prometheus.
func TestInstruments(t *testing.T) {
	seen := map[string]bool{}
	for name, row := range instruments {
		if row.unit == "" || row.help == "" || seen[row.prom] || !strings.HasSuffix(row.help, ".") {
			t.Errorf("%s has the row %+v", name, row)
		}
		seen[row.prom] = true
		if flat := strings.ReplaceAll(name, ".", "_"); !strings.HasPrefix(row.prom, flat) {
			t.Errorf("%s is called %s for Prometheus, want a name that begins with %s", name, row.prom, flat)
		}
	}
}

func pemOf(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// The documentation names every instrument, and every attribute except those that are the
// same everywhere.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "observability.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{
		attrOperation, attrProvider, attrSystem, attrRequestModel, attrMaxTokens, attrTemperature, attrTopP, attrSeed, attrOutputType,
		attrResponseModel, attrResponseID, attrFinish, attrInputTokens, attrOutputTokens, attrTokenType, attrInput, attrOutput, attrInstructions,
		attrErrorType, attrStatus, attrAddress, attrPort, attrRun, attrRunEnd, attrJudge, attrJudgeHash, attrItems, attrTrials, attrRecords,
		attrUnjudged, attrItem, attrCategory, attrTrial, attrLabel, attrScore, attrDetail, attrKind, attrOutcome, attrAttempt, attrAttempts, attrCached,
		attrCostMicros, attrRetryAfter, captureVariable, outcomeReplied, outcomeCached, outcomeBatched, outcomeFailed, outcomeInterrupted,
	}
	for name, row := range instruments {
		names = append(names, "| `"+name+"` | `"+row.prom+"` |")
	}
	for _, name := range names {
		if !strings.Contains(string(text), name) {
			t.Errorf("docs/observability.md does not say %s", name)
		}
	}
}
