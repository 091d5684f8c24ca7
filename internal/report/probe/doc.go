// Package probe shows the card of a judge: what it did with answers that were made to
// fool it, as text, JSON and a page.
//
// The card is counted by deem/probe. It holds for the judge whose hash it bears and for
// no other: another prompt, another reading or another model is another judge, and needs
// a card of its own.
package probe
