package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"deem"
)

// A sender makes HTTP calls.
type sender struct {
	client *http.Client
	owned  bool // the client is ours: we may close or bypass it

	// trip is the transport of our own client. An http.Client copies all headers of each
	// request, for redirects that we do not follow.
	trip http.RoundTripper
}

// newSender returns a sender, and the configured proxy, if any.
func newSender(o Options) (sender, *url.URL, error) {
	if o.HTTPClient != nil {
		if o.Proxy != "" || o.CAFile != "" {
			return sender{}, nil, errors.New("an HTTP client brings its own proxy and authorities")
		}
		return sender{client: stayingClient(*o.HTTPClient)}, nil, nil
	}
	proxy, err := parseProxy(o.Proxy)
	if err != nil {
		return sender{}, nil, err
	}
	// It is for hundreds of concurrent calls to one host. The default transport keeps two
	// idle connections per host and would dial for most calls.
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    512,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    15 * time.Second,
		ExpectContinueTimeout:  time.Second,
		DisableCompression:     true, // Replies are short, and decompressing one takes longer than reading it.
		OnProxyConnectResponse: checkProxy,
	}
	if proxy != nil {
		t.Proxy = http.ProxyURL(proxy)
	}
	if o.CAFile != "" {
		text, err := os.ReadFile(o.CAFile)
		if err != nil {
			return sender{}, nil, deem.WithHint(fmt.Errorf("read authorities: %w", err), "name a PEM file with the certificate of the authority")
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			return sender{}, nil, fmt.Errorf("read the authorities of this machine: %w", err)
		}
		if !pool.AppendCertsFromPEM(text) {
			return sender{}, nil, deem.WithHint(fmt.Errorf("read authorities: %s holds no certificate", o.CAFile),
				"it must be a PEM file, with lines such as -----BEGIN CERTIFICATE-----")
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	client := stayingClient(http.Client{Transport: t})
	return sender{client: client, owned: true, trip: t}, proxy, nil
}

// stayingClient returns a client that follows no redirect unless it has a policy: a
// redirected POST loses its body, and a key must not be sent to another host.
func stayingClient(c http.Client) *http.Client {
	if c.CheckRedirect == nil {
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return &c
}

func (s sender) do(r *http.Request) (*http.Response, error) {
	if s.trip != nil {
		return s.trip.RoundTrip(r)
	}
	// Some transports add headers to requests, which they should not, so each gets its own
	// copy.
	r.Header = r.Header.Clone()
	return s.client.Do(r)
}

// parseProxy parses the address of a proxy; "" gives nil. Its errors do not repeat the
// address, which may contain a password.
func parseProxy(text string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		err = unwrapURL(err)
	case u.Hostname() == "":
		err = errors.New("no host")
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" && u.Scheme != "socks5h":
		err = fmt.Errorf("scheme %q is none of http, https and socks5", u.Scheme)
	}
	if err != nil {
		return nil, deem.WithHint(fmt.Errorf("read proxy: %w", err), "write it as in http://proxy.example:3128")
	}
	return u, nil
}

// A proxyError is the answer of a proxy that refused to connect.
type proxyError struct {
	status int
	host   string
}

// Error returns the proxy's answer.
func (e *proxyError) Error() string {
	return fmt.Sprintf("the proxy %s answered HTTP %d %s", e.host, e.status, strings.ToLower(http.StatusText(e.status)))
}

// checkProxy converts the answer of a proxy to an error; the transport would keep only its
// text.
func checkProxy(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{status: resp.StatusCode, host: proxy.Host}
}
