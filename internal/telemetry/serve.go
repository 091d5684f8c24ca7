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

// A server shows the metrics on an address of its own.
type server struct {
	http *http.Server
	done chan struct{}
}

// Serve shows what [Telemetry.Handler] shows at an address, under /metrics, until
// [Telemetry.Close]. The address is host:port or a port alone, and without a host it is
// the loopback: to let others read it, name the host. Port 0 is any free
// one.
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
		_ = s.http.Serve(ln) // It always ends with an error, and close is why.
	}()
	t.servers = append(t.servers, s)
	at := ln.Addr().(*net.TCPAddr)
	url = "http://" + at.String() + "/metrics"
	t.tell(ctx, slog.LevelInfo, "metrics", func() []slog.Attr { return []slog.Attr{slog.String("url", url)} })
	return url, !at.IP.IsLoopback(), nil
}

// close ends the server and waits until it is gone. A scrape under way is broken off.
func (s *server) close() {
	_ = s.http.Close() // A listener that is closed already is closed.
	<-s.done
}

// splitAddress takes host:port, :port or port apart.
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
