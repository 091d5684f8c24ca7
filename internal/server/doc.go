// Package server has what the HTTP API (package api) and the web pages (package web) share:
// checks of requests, tokens and sessions, routes, errors, filters of records, and the search
// index. A command makes a [Server], and adds the parts to it.
//
// # Cross-site requests
//
// A request with a method other than GET is rejected unless it comes from one of our pages.
// The server checks the headers in which browsers send the origin, and a form must also
// contain the value of [Guard.CSRF]. Routes under /api/ do not need it, since browsers let
// a foreign page send neither JSON nor an Authorization header without a preflight request.
//
// # Access
//
// Without a token the server accepts only host names of this machine, which prevents DNS
// rebinding. With a token it requires the token everywhere except at /login, /healthz,
// /readyz and the static files. [CheckListen] checks whether a server may listen on an
// address.
package server
