package telemetry

import (
	"net/url"
	"strings"
	"testing"
)

// FuzzSettings reads arbitrary variables. Either a signal has a usable address without a
// password, and a timeout; or there is an error that repeats no value, because a value may
// be a key.
func FuzzSettings(f *testing.F) {
	f.Add("http://localhost:4318", "a=b,c=%41", "1500", "gzip", "otlp")
	f.Add("https://u:hunter2-0123@h/p?q#f", "Authorization=Bearer hunter2-0123", "", "", "")
	f.Add("http://localhost:4318", "", "9223372036854775807", "", "")
	f.Add("h:1", "hunter2-0123", "-1", "x", "none")
	f.Add("http://[::1", "=,=", "9223372036854775807", "", "console hunter2-0123")
	f.Add("http://u:hunter2-0123@", "a=%zz", "x hunter2-0123", "", "OTLP")
	f.Fuzz(func(t *testing.T, endpoint, headers, timeout, compression, exporter string) {
		values := map[string]string{
			otlp + "ENDPOINT": endpoint, otlp + "HEADERS": headers, otlp + "TRACES_TIMEOUT": timeout, otlp + "COMPRESSION": compression, "OTEL_METRICS_EXPORTER": exporter,
		}
		s, err := readSettings(func(name string) string { return values[name] })
		if err != nil && strings.Contains(err.Error(), "hunter2-0123") {
			t.Errorf("readSettings(%q): %v, which repeats a value", values, err)
		}
		for _, to := range []*target{s.traces, s.metrics} {
			if to == nil {
				continue
			}
			u, err := url.Parse(to.url)
			if err != nil || u.Host == "" || u.User != nil {
				t.Errorf("readSettings(%q) sends to %q, %v", values, to.url, err)
			}
			if to.timeout <= 0 {
				t.Errorf("readSettings(%q) allows %v", values, to.timeout)
			}
			for name := range to.headers {
				if strings.TrimSpace(name) != name || name == "" {
					t.Errorf("readSettings(%q) has the header %q", values, name)
				}
			}
		}
	})
}
