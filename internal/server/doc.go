// Package server is the web interface to runs: lists of runs and their items, comparisons
// of runs, the agreement of a judge with people, and a page for labelling. The same server
// implements the HTTP API under /api/v1.
//
// Pages are rendered on the server with html/template. Everything they need is embedded in
// the binary, and nothing is loaded from other hosts. Pages work without JavaScript, which
// only adds keyboard shortcuts, a choice of light and dark, and live numbers while a run is
// in progress.
//
// # How to add a page
//
// A page is a route, a function and a template:
//
//  1. Write a function with the signature of [pageFunc] in a file named after the page.
//     It returns a [page]: the name of a template, a title, and the data of the
//     template. An error becomes an error page: [notFound] and [badRequest] set the
//     status, store.ErrNotFound is 404, everything else is 500 with the text of the
//     error and its hint.
//  2. Add templates/NAME.html. It begins with {{define "main"}} and contains the page
//     between the header and the footer. It can use the functions in words.go and the
//     parts in templates/parts.html.
//  3. Add the route to the table in routes.go, or to a function xxxRoutes that is
//     called there.
//
// Styles and scripts are files under static. They are served under names that contain
// their hash; {{asset "app.css"}} returns that name. The Content-Security-Policy
// allows neither inline scripts nor style attributes: use classes, and presentation
// attributes within SVG.
//
// # Cross-site requests
//
// A request with a method other than GET is rejected unless it comes from one of our pages.
// The server checks the headers in which browsers send the origin, and a form must also
// contain {{csrf .}}. A script reads the same value from the element meta[name=csrf] and
// sends it in the header X-CSRF-Token. Routes under /api/ do not need it, since browsers let
// a foreign page send neither JSON nor an Authorization header without a preflight request.
//
// # Access
//
// Without a token the server accepts only host names of this machine, which prevents DNS
// rebinding. With a token it requires the token everywhere except at /login, /healthz and
// the static files. [CheckListen] checks whether a server may listen on an address.
package server
