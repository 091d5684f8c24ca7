package published

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"deem"
	"deem/internal/dataset"
	"deem/internal/rows"
)

// A Source selects the files with the results of one system, and how they are read.
type Source struct {
	// Names are the files; "-" is Stdin, and a folder means the files in it. Several files
	// are parts of one whole, for example a file for each conversation.
	Names []string
	Stdin io.Reader

	Format string // a format of package dataset; "" detects it from name and first bytes

	// Map assigns columns to [Parts], if the names of the columns do not.
	Map Mapping

	// Benchmark is the benchmark of the rows, one of [Benchmarks]; "" detects it. It is for
	// rows of any program, and rejected otherwise.
	Benchmark string

	// Pick selects one of several systems, scorers or filters in one file.
	Pick string

	// Yes and No are additional labels that count as right and as wrong, and Scale is the
	// largest score; 0 means 1.
	Yes, No []string
	Scale   float64

	// Only selects the rows that meet all of these conditions: COLUMN=VALUE, or COLUMN for
	// rows with a value there. Split is the separator of several references in one text, ""
	// for none. Both are for rows of any program, and rejected otherwise.
	Only  []string
	Split string

	// Unquoted means that quotes in a table are ordinary characters.
	Unquoted bool

	// SkipBroken leaves out invalid rows and notes them. Otherwise they are an error.
	SkipBroken bool
}

// A content is the content of the files of a source.
type content struct {
	files    []string
	pieces   []rows.Value
	notes    []string
	problems deem.Problems
	sum      string // SHA-256 over the bytes of all files
	broken   int    // invalid rows that were left out
	zipped   bool   // the pieces are a header and entries of an archive
}

// read reads all files of the source.
func (src Source) read(ctx context.Context) (*content, error) {
	if len(src.Names) == 0 {
		return nil, errors.New("no file of results is named")
	}
	c := &content{}
	for _, name := range src.Names {
		info, err := os.Stat(name)
		if name == "-" || err == nil && !info.IsDir() {
			c.files = append(c.files, name)
			continue
		}
		if err != nil {
			return nil, dataset.OpenError(name, err)
		}
		var inside []string
		err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && slices.Contains(extensions, strings.ToLower(filepath.Ext(path))) {
				inside = append(inside, path)
			}
			return err
		})
		if err == nil && len(inside) == 0 {
			err = deem.WithHint(fmt.Errorf("there is no file of results in the folder %s", name), "name the files themselves")
		}
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(inside, natural)
		c.files = append(c.files, inside...)
	}
	hash := sha256.New()
	for _, name := range c.files {
		var data []byte
		var err error
		switch {
		case name != "-":
			data, err = os.ReadFile(name) //nolint:gosec // The user names the file.
		case src.Stdin == nil:
			err = errors.New("there is no standard input to read")
		default:
			data, err = io.ReadAll(src.Stdin)
		}
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(hash, "%d\n", len(data)) // the boundaries of files are part of the hash
		hash.Write(data)
		if err := c.add(ctx, src, name, data); err != nil {
			return nil, err
		}
	}
	c.sum = hex.EncodeToString(hash.Sum(nil))
	if src.SkipBroken {
		for _, p := range c.problems.List {
			c.notes = append(c.notes, "left out "+p.Error())
		}
		c.broken = c.problems.Total
		return c, nil
	}
	if err := c.problems.Err(); err != nil {
		hint := "--skip-broken leaves such rows out, and says so"
		isTable := func(name string) bool {
			return strings.Contains(name, ".tsv") || strings.Contains(name, ".csv") || strings.Contains(name, ".tab")
		}
		if slices.ContainsFunc(src.Names, isTable) && !src.Unquoted { // most have a stray quote
			hint = "--quotes none takes quotes as characters, and " + hint
		}
		return nil, deem.WithHint(err, "%s", hint)
	}
	return c, nil
}

// add reads one file: an archive, or rows.
func (c *content) add(ctx context.Context, src Source, name string, data []byte) error {
	if bytes.HasPrefix(data, []byte("PK\x03\x04")) || bytes.HasPrefix(data, []byte("PK\x05\x06")) {
		r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return deem.WithHint(fmt.Errorf("read %s: it begins as a zip archive and is not whole: %w", name, err),
				"copy the file again; a log of inspect is whole once the evaluation has ended")
		}
		// Newer logs of inspect have entries in zstd, and the standard library knows only deflate.
		r.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderMaxMemory(maxEntry), zstd.WithDecoderConcurrency(1)))
		var samples []*zip.File
		var header *zip.File
		for _, f := range r.File {
			switch {
			case f.Name == "header.json":
				header = f
			case strings.HasPrefix(f.Name, "samples/") && strings.HasSuffix(f.Name, ".json"):
				samples = append(samples, f)
			}
		}
		if header == nil {
			return noHeader(name, r, len(samples))
		}
		slices.SortStableFunc(samples, func(a, b *zip.File) int { return natural(a.Name, b.Name) })
		c.zipped = true
		for _, f := range append([]*zip.File{header}, samples...) {
			if err := c.entry(name, f); err != nil {
				return err
			}
		}
		return nil
	}
	in := dataset.Input{Names: []string{name}, Format: src.Format, Unquoted: src.Unquoted, Whole: func([]string) bool { return true }}
	if name == "-" {
		in.Stdin = bytes.NewReader(data)
	}
	files, err := dataset.OpenFiles(ctx, in)
	if err != nil {
		return err
	}
	defer func() { _ = files.Close() }()
	begin := len(c.pieces)
	for v, err := range files.Values(ctx) {
		if p, ok := errors.AsType[deem.Problem](err); ok {
			c.problems.Add(p)
			continue
		}
		if err != nil {
			return err
		}
		c.pieces = append(c.pieces, v)
	}
	if len(c.pieces) > begin && c.pieces[begin].Table {
		clearEmpty(c.pieces[begin:])
	}
	c.notes = append(c.notes, files.Notes()...)
	return nil
}

// clearEmpty removes the values from columns of a table in which every cell is empty. Such
// a column has no values, while a single empty cell may be an empty text.
func clearEmpty(found []rows.Value) {
	filled := map[string]bool{}
	for _, r := range found {
		for i, key := range r.Keys {
			filled[key] = filled[key] || !r.Vals[i].Blank()
		}
	}
	for _, r := range found {
		for i, key := range r.Keys {
			if !filled[key] {
				r.Vals[i] = rows.Node{}
			}
		}
	}
}

// extensions are those of files in a folder that may contain results.
var extensions = []string{".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".eval", ".gz", ".zst"}

// natural compares names in natural order, with numbers as numbers.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, restA := run(a)
		y, restB := run(b)
		if isDigit(x[0]) && isDigit(y[0]) {
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if c := cmp.Compare(len(x), len(y)); c != 0 {
				return c
			}
		}
		if c := strings.Compare(x, y); c != 0 {
			return c
		}
		a, b = restA, restB
	}
	return strings.Compare(a, b)
}

// run splits leading digits, or leading other characters, off s.
func run(s string) (first, rest string) {
	i := 1
	for i < len(s) && isDigit(s[i]) == isDigit(s[0]) {
		i++
	}
	return s[:i], s[i:]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// maxEntry is the maximum uncompressed size of an archive entry. A log of ten thousand
// samples has entries of some megabytes.
const maxEntry = 256 << 20

// noHeader returns the error for an archive without a header.
func noHeader(name string, r *zip.Reader, samples int) error {
	if samples > 0 {
		return deem.WithHint(fmt.Errorf("read %s: it is a log of inspect with %d samples and no header.json: the evaluation has not ended", name, samples),
			"inspect log convert, or inspect eval-retry, completes it")
	}
	var inside []string
	for _, f := range r.File {
		if len(inside) < 5 {
			inside = append(inside, f.Name)
		}
	}
	return deem.WithHint(fmt.Errorf("read %s: it is a zip archive and no log of inspect, which has header.json and samples/*.json (here: %s)", name, strings.Join(inside, ", ")),
		"unpack it and name the files in it")
}

// entry reads one file of an archive.
func (c *content) entry(name string, f *zip.File) error {
	where := name + "!" + f.Name
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("read %s: %w", where, err)
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(io.LimitReader(r, maxEntry+1))
	switch {
	case err != nil:
		return fmt.Errorf("read %s: the archive is damaged: %w", where, err)
	case len(data) > maxEntry:
		return fmt.Errorf("read %s: it is larger than %d MB", where, maxEntry>>20)
	}
	if n, wrong := rows.Parse(data); wrong != nil {
		c.problems.Add(deem.Problem{File: where, Message: wrong.Error()})
	} else {
		c.pieces = append(c.pieces, rows.Value{File: where, Node: n})
	}
	return nil
}
