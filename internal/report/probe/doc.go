// Package probe renders the card of a judge, which shows how it handled answers made to
// fool it, as text, JSON and HTML.
//
// deem/probe computes the card. It is valid only for the judge with the hash on the card: a
// different prompt, reading or model makes a different judge, which needs its own card.
package probe
