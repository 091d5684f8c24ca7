// Package dataset turns files into items.
//
// It has two layers. The lower layer knows formats but not items: [OpenFiles] opens JSONL,
// JSON, CSV, TSV and Parquet files, compressed or not, and yields their rows with file and
// line, one at a time. Readers of benchmarks build on it. The upper layer knows items:
// [Open] detects which column contains the question, the references and the response,
// checks every row before any money is spent, and yields items any number of times.
//
// Memory does not grow with the number of rows: each row is read, used and discarded, and
// large numbers of ids are checked for uniqueness through a temporary file.
package dataset
