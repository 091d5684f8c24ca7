package dataset

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"deem"
)

// The supported formats.
const (
	formatJSONL   = "jsonl"
	formatJSON    = "json"
	formatCSV     = "csv"
	formatTSV     = "tsv"
	formatParquet = "parquet"
)

// Formats returns the names of the supported formats, for help and messages.
func Formats() []string {
	return []string{formatJSONL, formatJSON, formatCSV, formatTSV, formatParquet}
}

// extensions maps file extensions to formats.
var extensions = map[string]string{
	".jsonl": formatJSONL, ".ndjson": formatJSONL, ".jsonlines": formatJSONL,
	".json": formatJSON,
	".csv":  formatCSV,
	".tsv":  formatTSV, ".tab": formatTSV,
	".parquet": formatParquet, ".pq": formatParquet,
}

// unsupportedFormats are the first bytes of unsupported files that are mistaken for data, with
// advice.
var unsupportedFormats = []struct{ magic, what, advice string }{
	{"PK\x03\x04", "a ZIP archive or a spreadsheet", "unpack it, or save the sheet as CSV"},
	{"\xd0\xcf\x11\xe0", "an old Office file", "save the sheet as CSV"},
	{"BZh", "compressed with bzip2", "unpack it, or use gzip or zstd"},
	{"\xfd7zXZ\x00", "compressed with xz", "unpack it, or use gzip or zstd"},
	{"SQLite format 3\x00", "an SQLite database", "export the table as CSV"},
	{"%PDF-", "a PDF", "give a file with one item per row"},
	{"ARROW1", "an Arrow file", "write it as Parquet"},
	{"FEA1", "a Feather file", "write it as Parquet"},
	{"\x80\x04\x95", "a Python pickle", "write it as JSONL"},
	{"version https://git-lfs", "a pointer of Git LFS, not the file itself", "fetch it with: git lfs pull"},
}

// formatOf detects the format of a file from its name and its first bytes. Unambiguous
// bytes take precedence over the name, and the name over ambiguous bytes.
func formatOf(name string, head []byte) (string, error) {
	if err := checkText(head); err != nil {
		return "", err
	}
	promised := extensions[extension(name)]
	if bytes.HasPrefix(head, []byte("PAR1")) {
		return formatParquet, nil
	}
	first := byte(0) // that is not white space
	if text := bytes.TrimLeft(bytes.TrimPrefix(head, bom), " \t\r\n"); len(text) > 0 {
		first = text[0]
	}
	switch {
	case first == 0:
		return formatJSONL, nil // empty, whatever its name is
	case promised == formatParquet:
		return "", fmt.Errorf("the name says Parquet, but it does not begin as one")
	case promised == formatCSV || promised == formatTSV:
		return promised, nil
	case first == '[':
		return formatJSON, nil // a row is never a list, so this is not JSONL
	case promised != "":
		return promised, nil
	case first == '{':
		return formatJSON, nil
	}
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	switch {
	case bytes.IndexByte(line, '\t') >= 0:
		return formatTSV, nil
	case bytes.IndexByte(line, ',') >= 0:
		return formatCSV, nil
	}
	return "", deem.WithHint(
		fmt.Errorf("cannot tell the format from its beginning, %s", excerpt(line)),
		"say which it is: --format %s", strings.Join(Formats(), ", --format "))
}

// extension returns the lower-case extension of a name, without that of its compression.
func extension(name string) string {
	name = strings.ToLower(filepath.Base(name))
	for _, packed := range []string{".gz", ".gzip", ".zst", ".zstd"} {
		name = strings.TrimSuffix(name, packed)
	}
	return filepath.Ext(name)
}

// checkText detects files that are not text in a supported encoding.
func checkText(head []byte) error {
	for _, s := range unsupportedFormats {
		if bytes.HasPrefix(head, []byte(s.magic)) {
			return deem.WithHint(fmt.Errorf("it is %s", s.what), "%s", s.advice)
		}
	}
	// Every supported file begins with one or two ASCII characters: a bracket, a quote, or
	// the name of a column.
	wide := "" // an encoding that uses several bytes for each ASCII character
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe, 0, 0}) || bytes.HasPrefix(head, []byte{0, 0, 0xfe, 0xff}):
		wide = "UTF-32"
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		wide = "UTF-16"
	case len(head) < 4:
	case head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0:
		wide = "UTF-16LE"
	case head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0:
		wide = "UTF-16BE"
	}
	if wide != "" {
		return deem.WithHint(fmt.Errorf("it is text in %s, not in UTF-8", wide),
			"convert it, as with: iconv -f %s -t UTF-8 FILE > NEWFILE", wide)
	}
	if !bytes.HasPrefix(head, []byte("PAR1")) && isBinary(head) {
		return deem.WithHint(fmt.Errorf("it is binary data, not text"),
			"the formats that are read are %s, also compressed with gzip or zstd", strings.Join(Formats(), ", "))
	}
	return nil
}

// isBinary reports whether the bytes are neither UTF-8 text, in which control characters
// are unusual but allowed, nor text in a legacy encoding, which has none of them. For the
// latter, the first invalid byte is reported with its position.
func isBinary(head []byte) bool {
	if invalidByte(head) > len(head)-utf8.UTFMax {
		return false // the invalid bytes at the end may be a truncated character
	}
	controls := 0
	for _, c := range head {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
			controls++
		}
	}
	return controls*50 > len(head)
}
