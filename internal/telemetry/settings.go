package telemetry

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// defaultTimeout is OpenTelemetry's default timeout of one delivery.
const defaultTimeout = 10 * time.Second

// maxTimeout is one day in milliseconds. Much larger values would overflow a duration.
const maxTimeout = 24 * 60 * 60 * 1000

// settings are the values of OpenTelemetry's variables. We read them ourselves, because a
// .env file counts too, and because OpenTelemetry's exporters print the value of a variable
// that they cannot parse, which may be a key.
type settings struct {
	service         string
	traces, metrics *target // nil if the signal is not sent
}

// A target is the destination of one signal, including secrets.
type target struct {
	url     string // without a password
	headers map[string]string
	timeout time.Duration
	gzip    bool
	tls     *tls.Config // nil for the system's default
}

// any reports whether any signal is sent.
func (s settings) any() bool { return s.traces != nil || s.metrics != nil }

// readSettings reads the variables. A signal with invalid variables is not sent, and the
// error says why, without their values.
func readSettings(getenv func(string) string) (settings, error) {
	s := settings{service: cmp.Or(getenv("OTEL_SERVICE_NAME"), "deem")}
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return s, nil
	}
	var terr, merr error
	s.traces, terr = readTarget(getenv, "TRACES", "/v1/traces")
	s.metrics, merr = readTarget(getenv, "METRICS", "/v1/metrics")
	if terr != nil && merr != nil && terr.Error() == merr.Error() {
		return s, terr
	}
	return s, errors.Join(terr, merr)
}

// readTarget returns the destination of a signal, or nil if it is not sent. The signal is
// written as in the names of the variables.
func readTarget(getenv func(string) string, signal, path string) (*target, error) {
	v := variables{getenv, signal}
	switch exporter := strings.ToLower(getenv("OTEL_" + signal + "_EXPORTER")); exporter {
	case "", "otlp":
	case "none":
		return nil, nil
	default:
		return nil, fmt.Errorf("OTEL_%s_EXPORTER is neither otlp nor none", signal)
	}
	name, address := v.get("ENDPOINT")
	if address == "" {
		return nil, nil
	}
	if protocol, value := v.get("PROTOCOL"); value == "grpc" {
		return nil, fmt.Errorf("%s is grpc, and deem speaks OTLP over HTTP only", protocol)
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s is not an address as http://localhost:4318", name)
	}
	to := &target{timeout: defaultTimeout}
	if name == otlp+"ENDPOINT" {
		u = u.JoinPath(path)
	} else if u.Path == "" {
		u.Path = "/"
	}
	if to.headers, err = v.headers(u); err != nil {
		return nil, err
	}
	u.User = nil
	to.url = u.String()
	if name, value := v.get("TIMEOUT"); value != "" {
		n, err := strconv.Atoi(value)
		if err != nil || n <= 0 || n > maxTimeout {
			return nil, fmt.Errorf("%s is not a number of milliseconds", name)
		}
		to.timeout = time.Duration(n) * time.Millisecond
	}
	_, compression := v.get("COMPRESSION")
	to.gzip = compression == "gzip"
	if name, file := v.get("CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		pool := x509.NewCertPool()
		if err != nil || !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s is not a file with certificates", name)
		}
		to.tls = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	if name, file := v.get("CLIENT_CERTIFICATE"); file != "" {
		_, key := v.get("CLIENT_KEY")
		pair, err := tls.LoadX509KeyPair(file, key)
		if err != nil {
			return nil, fmt.Errorf("%s and its key are not a pair of files", name)
		}
		if to.tls == nil {
			to.tls = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		to.tls.Certificates = []tls.Certificate{pair}
	}
	return to, nil
}

const otlp = "OTEL_EXPORTER_OTLP_"

// variables reads the variables of one signal, which take precedence over the general ones.
type variables struct {
	getenv func(string) string
	signal string
}

// get returns the name and the value of a variable.
func (v variables) get(what string) (name, value string) {
	name = otlp + v.signal + "_" + what
	if value = strings.TrimSpace(v.getenv(name)); value != "" {
		return name, value
	}
	return otlp + what, strings.TrimSpace(v.getenv(otlp + what))
}

// headers reads "name=value,name=value" with URL-escaped values. A password in the address
// becomes an Authorization header.
func (v variables) headers(u *url.URL) (map[string]string, error) {
	headers := map[string]string{}
	if u.User != nil {
		password, _ := u.User.Password()
		headers["Authorization"] = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
	}
	name, value := v.get("HEADERS")
	for pair := range strings.SplitSeq(value, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, val, ok := strings.Cut(pair, "=")
		val, err := url.PathUnescape(strings.TrimSpace(val))
		if key = strings.TrimSpace(key); !ok || key == "" || err != nil {
			return nil, fmt.Errorf("%s is not of the form name=value,name=value", name)
		}
		headers[key] = val
	}
	return headers, nil
}
