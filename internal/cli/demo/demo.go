// Package demo contains the bundled example, so that a fresh install has something to judge
// without a file, a key or a network.
package demo

import _ "embed"

// Items is a dataset of 120 items about six invented people, one JSON object per line.
// README.md in this folder says how it was made.
//
//go:embed items.jsonl
var Items []byte
