// Package web has the web pages of a server: lists of runs and their items, comparisons of
// runs, the agreement of a judge with people, and a page for labelling.
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
//     template. An error becomes an error page: [server.NotFound] and [server.BadRequest]
//     set the status, store.ErrNotFound is 404, everything else is 500 with the text of
//     the error and its hint.
//  2. Add templates/NAME.html. It begins with {{define "main"}} and contains the page
//     between the header and the footer. It can use the functions in words.go and the
//     parts in templates/parts.html.
//  3. Add the route to the table in web.go.
//
// Styles and scripts are files under static. They are served under names that contain
// their hash; {{asset "app.css"}} returns that name. The Content-Security-Policy
// allows neither inline scripts nor style attributes: use classes, and presentation
// attributes within SVG.
//
// A form contains {{csrf .}}. A script reads the same value from the element
// meta[name=csrf] and sends it in the header X-CSRF-Token.
package web
