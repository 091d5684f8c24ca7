// Package demo holds the bundled example, so that a fresh install has something
// to judge without a file, a key or a network.
package demo

import _ "embed"

// Items is a dataset of 120 items about six people who exist nowhere else, one
// JSON object per line. README.md in this folder says how it is made.
//
//go:embed items.jsonl
var Items []byte
