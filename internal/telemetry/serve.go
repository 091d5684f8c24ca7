package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"
)

// A server serves the metrics at its own address.
type server struct {
	http *http.Server
	done chan struct{}
}

// Serve serves [Telemetry.Handler] at an address, under /metrics, until [Telemetry.Close].
// The address is host:port or a port. Without a host it is the loopback address: name the
// host to make the metrics available to other machines. Port 0 means any free port.
//
// It returns the URL to scrape, and whether other machines may reach it.
func (t *Telemetry) Serve(ctx context.Context, address string) (url string, public bool, err error) {
	host, port, err := splitAddress(address)
	if err != nil {
		return "", false, err
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return "", false, fmt.Errorf("show metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", t.Handler())
	s := &server{http: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(ln) // It always returns an error; close is the cause.
	}()
	t.servers = append(t.servers, s)
	at := ln.Addr().(*net.TCPAddr)
	url = "http://" + at.String() + "/metrics"
	t.logEvent(ctx, slog.LevelInfo, "metrics", func() []slog.Attr { return []slog.Attr{slog.String("url", url)} })
	return url, !at.IP.IsLoopback(), nil
}

// close stops the server and waits until it has ended. Scrapes in progress are aborted.
func (s *server) close() {
	_ = s.http.Close() // The listener may be closed already.
	<-s.done
}

// splitAddress splits host:port, :port or port.
func splitAddress(address string) (host, port string, err error) {
	host, port = "", address
	if _, err := strconv.Atoi(address); err != nil {
		if host, port, err = net.SplitHostPort(address); err != nil {
			return "", "", fmt.Errorf("%q is not an address as 127.0.0.1:9464", address)
		}
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", "", fmt.Errorf("%q has no port from 0 to 65535", address)
	}
	return cmp.Or(host, "127.0.0.1"), port, nil
}
