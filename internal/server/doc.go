// Package server shows runs in a browser: the runs of a store, one run, its items and
// one of them, several runs compared, a judge beside people, and a page for labelling.
// The same server answers the HTTP API under /api/v1.
//
// Pages are made on the server with html/template. Everything they need is embedded in
// the binary, nothing is loaded from elsewhere, and they can be read without
// JavaScript, which only adds keys, a choice of light and dark, and numbers that move
// while a run goes on.
//
// # How to add a page
//
// A page is a route, a function and a template:
//
//  1. Write a function with the signature of [pageFunc] in a file named after the page.
//     It returns a [page]: the name of a template, a title, and what the template
//     shows. An error becomes an error page: [notFound] and [badRequest] choose the
//     status, store.ErrNotFound is 404, everything else is 500 with the text of the
//     error and its hint.
//  2. Put templates/NAME.html beside it. It begins with {{define "main"}} and holds
//     what stands between the header and the footer. The functions in words.go and the
//     parts in templates/parts.html can be used in it.
//  3. Add the route to the table in routes.go, or to a function xxxRoutes that is
//     called there.
//
// Styles and scripts go into files under static, which are served under names that
// hold their hash; {{asset "app.css"}} returns that name. The Content-Security-Policy
// allows neither inline scripts nor style attributes: use classes, and presentation
// attributes within SVG.
//
// # How to change something
//
// A route with another method than GET is refused unless it comes from our own pages:
// browsers say where a request comes from, and a form must carry {{csrf .}} besides. A
// script sends the same value, which it finds in the element meta[name=csrf], in the
// header X-CSRF-Token. Routes under /api/ need no such value, since a foreign page can
// neither send JSON nor an Authorization header without being asked for it first.
//
// # Who may look
//
// Without a token the server answers only to names of this machine, so that no foreign
// page can reach it through a name that it made point here. With a token it demands it
// everywhere but at /login, /healthz and the static files. [CheckListen] says whether
// an address may be listened on.
package server
