// Package dataset turns files into items.
//
// It has two layers. The lower one knows formats and no items: [OpenFiles] opens
// JSONL, JSON, CSV, TSV and Parquet files, compressed or not, and yields their
// rows with file and line, one at a time. Readers of benchmarks build on it. The
// upper one knows items: [Open] finds out which column holds the question, the
// references and the response, checks every row before any money is spent, and
// yields items as often as they are asked for.
//
// Nothing grows with the number of rows: a row is read, used and forgotten, and
// the ids that must be unique are compared through a temporary file once there
// are many of them.
package dataset
