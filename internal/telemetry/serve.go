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

// Serve serves [Telemetry.Handler] at an address, under /metrics, until [Telemetry.Close].
// The address is host:port or a port. Without a host it is the loopback address: name the
// host to make the metrics available to other machines. Port 0 means any free port.
//
// It returns the URL to scrape, and whether other machines may reach it.
func (t *Telemetry) Serve(ctx context.Context, address string) (url string, public bool, err error) {
	host, port := "", address
	if _, err := strconv.Atoi(address); err != nil {
		if host, port, err = net.SplitHostPort(address); err != nil {
			return "", false, fmt.Errorf("%q is not an address as 127.0.0.1:9464", address)
		}
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", false, fmt.Errorf("%q has no port from 0 to 65535", address)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
	if err != nil {
		return "", false, fmt.Errorf("show metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", t.Handler())
	server, done := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}, make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(ln) // It always returns an error; Close is the cause.
	}()
	t.servers = append(t.servers, func() { // Scrapes in progress are aborted.
		_ = server.Close() // The listener may be closed already.
		<-done
	})
	at := ln.Addr().(*net.TCPAddr)
	url = "http://" + at.String() + "/metrics"
	t.logEvent(ctx, slog.LevelInfo, "metrics", func() []slog.Attr { return []slog.Attr{slog.String("url", url)} })
	return url, !at.IP.IsLoopback(), nil
}
