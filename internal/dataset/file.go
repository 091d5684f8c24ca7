package dataset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"deem"
	"deem/internal/rows"
	"deem/internal/text"
)

// errChanged is returned if a file has changed since it was checked.
var errChanged = errors.New("the file has changed since it was checked")

// A file is one input that can be read more than once.
type file struct {
	name   string // as displayed
	path   string // "" if it is spooled
	spool  *os.File
	size   int64
	mtime  time.Time
	packed packing
	format string
	shape  shape
	note   string // about how it is read
}

type packing uint8

const (
	unpacked packing = iota
	packedGzip
	packedZstd
)

// packingOf detects compression by the first bytes.
func packingOf(head []byte) packing {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return packedGzip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return packedZstd
	}
	return unpacked
}

// expandLocal returns the files of a folder, the files that match a pattern, or the file
// itself.
func expandLocal(name string) ([]fetched, error) {
	info, err := os.Stat(name)
	var found []string
	switch {
	case name != "-" && err == nil && info.IsDir():
		err := filepath.WalkDir(name, func(at string, d fs.DirEntry, err error) error {
			switch hidden := strings.HasPrefix(d.Name(), ".") && at != name; {
			case err != nil:
				return OpenError(at, err)
			case hidden && d.IsDir():
				return fs.SkipDir
			case !hidden && d.Type().IsRegular() && readable(at):
				found = append(found, at)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, deem.WithHint(fmt.Errorf("open %s: there are no data files in this folder", name), "its files must end in .jsonl, .json, .csv, .tsv or .parquet; name another file itself: --data FILE --format jsonl")
		}
	case err != nil && strings.ContainsAny(name, "*?["):
		if found, err = filepath.Glob(name); err != nil || len(found) == 0 {
			return nil, deem.WithHint(fmt.Errorf("open %s: no file fits this pattern", name), "see what is there: ls %s", filepath.Dir(name))
		}
	default:
		found = []string{name}
	}
	files := make([]fetched, len(found))
	for i, f := range found {
		files[i] = fetched{Name: f, Path: f}
	}
	return files, nil
}

// readable reports whether a file has a known extension.
func readable(name string) bool { return extensions[extension(name)] != "" }

// locate opens an input.
func locate(ctx context.Context, e fetched, stdin io.Reader) (*file, error) {
	name := e.Path
	if name == "-" {
		if stdin == nil {
			stdin = bytes.NewReader(nil)
		}
		return spooled(ctx, "stdin", stdin)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, OpenError(name, err)
	case info.Mode()&(fs.ModeDevice|fs.ModeSocket|fs.ModeIrregular) != 0:
		return nil, deem.WithHint(fmt.Errorf("open %s: it is a device, not a file", name), "give a file, or - for standard input")
	case !info.Mode().IsRegular():
		pipe, err := openPipe(ctx, name)
		if err != nil {
			return nil, err
		}
		f, err := spooled(ctx, name, pipe)
		return f, errors.Join(err, pipe.Close())
	}
	return &file{name: e.Name, path: name, size: info.Size(), mtime: info.ModTime()}, nil
}

// pipeWait is how long a named pipe may have no writer. A test lowers it.
var pipeWait = 10 * time.Second

// openPipe opens a named pipe, which the system does once another process writes to it.
func openPipe(ctx context.Context, name string) (*os.File, error) {
	type result struct {
		pipe *os.File
		err  error
	}
	opened, done := make(chan result), make(chan struct{})
	defer close(done)
	go func() { // It may wait for ever: the system has no way to end the call.
		pipe, err := os.Open(name)
		select {
		case opened <- result{pipe, err}:
		case <-done:
			_ = pipe.Close()
		}
	}()
	select {
	case r := <-opened:
		if r.err != nil {
			return nil, OpenError(name, r.err)
		}
		return r.pipe, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(pipeWait):
		return nil, deem.WithHint(fmt.Errorf("open %s: nothing writes to this pipe", name), "start the program that writes to it first, or give a file")
	}
}

// OpenError explains why a file cannot be opened.
func OpenError(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err := fmt.Errorf("open %s: no such file", name)
		dir, base := filepath.Split(name)
		dir = filepath.Clean(dir)
		entries, dirErr := os.ReadDir(dir)
		if dirErr != nil {
			return deem.WithHint(err, "there is no folder %s; a path begins in the current folder, which pwd prints", dir)
		}
		var names []string
		for _, e := range entries {
			if e.Name() != base { // a link to a file that is gone
				names = append(names, e.Name())
			}
		}
		if near := text.Closest(base, names); near != "" {
			return deem.WithHint(err, "did you mean %s?", filepath.Join(dir, near))
		}
		return deem.WithHint(err, "see what is there: ls %s", dir)
	case errors.Is(err, fs.ErrPermission):
		return deem.WithHint(fmt.Errorf("open %s: no permission to read it", name), "see who may: ls -l %s", name)
	}
	return fmt.Errorf("open: %w", err)
}

// maxSpool limits the size of a copy, so that endless input does not fill the disk. Files
// on disk have no limit. A test lowers it.
var maxSpool int64 = 8 << 30

// spooled copies r to a temporary file. The file is unlinked at once if the system allows
// it, so that even a killed process leaves nothing behind.
func spooled(ctx context.Context, name string, r io.Reader) (*file, error) {
	r = contextReader(ctx, r)
	head := make([]byte, 64) // No format begins with this many zeros, but /dev/zero does.
	n, err := io.ReadFull(r, head)
	if err == nil && len(bytes.Trim(head, "\x00")) == 0 {
		return nil, fmt.Errorf("%s: the input is all zeros, not rows", name)
	}
	r = io.MultiReader(bytes.NewReader(head[:n]), r)
	spool, err := tempFile()
	if err != nil {
		return nil, fmt.Errorf("copy %s: %w", name, err)
	}
	f := &file{name: name, spool: spool}
	f.size, err = io.Copy(spool, io.LimitReader(r, maxSpool+1))
	if err == nil && f.size > maxSpool {
		err = deem.WithHint(fmt.Errorf("%s: it holds more than %d bytes", name, maxSpool), "write it to a file first, which may have any size")
		return nil, errors.Join(err, closeTemp(f.spool))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copy %s to a temporary file: %w", name, err), closeTemp(f.spool))
	}
	return f, nil
}

// tempFile returns a temporary file, already unlinked if the system allows it.
func tempFile() (*os.File, error) {
	f, err := os.CreateTemp("", "deem-*")
	if err != nil {
		return nil, err
	}
	// Windows refuses to remove an open file; closeTemp removes it there.
	_ = os.Remove(f.Name())
	return f, nil
}

// closeTemp closes and removes a temporary file, if there is one.
func closeTemp(f *os.File) error {
	if f == nil {
		return nil
	}
	err := f.Close()
	if rmErr := os.Remove(f.Name()); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
		err = errors.Join(err, rmErr)
	}
	return err
}

// readerFunc is a function that implements io.Reader.
type readerFunc func(p []byte) (int, error)

func (r readerFunc) Read(p []byte) (int, error) { return r(p) }

// contextReader returns a reader that fails with the error of ctx once ctx is done.
func contextReader(ctx context.Context, r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	})
}

// recognise detects compression, format and shape.
func (f *file) recognise(ctx context.Context, in Input) error {
	head, err := f.head(ctx)
	if err != nil {
		return err
	}
	if f.packed = packingOf(head); f.packed != unpacked {
		if head, err = f.head(ctx); err != nil {
			return err
		}
		if packingOf(head) != unpacked {
			return deem.WithHint(errors.New("it is compressed twice"), "unpack it once")
		}
	}
	if f.format = in.Format; f.format == "" {
		if f.format, err = formatOf(f.name, head); err != nil {
			return err
		}
	} else if err := checkText(head); err != nil {
		return err
	}
	switch {
	case (f.format == formatJSON || f.format == formatJSONL) && areTraces(head):
		return f.fromTraces(ctx)
	case f.format == formatParquet && f.packed != unpacked:
		r, err := f.open(ctx)
		if err != nil {
			return err
		}
		copied, err := spooled(ctx, f.name, r)
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
		err = closeTemp(f.spool)
		f.spool, f.size, f.packed, f.path = copied.spool, copied.size, unpacked, ""
		return err
	case f.format == formatJSON:
		r, err := f.open(ctx)
		if err != nil {
			return err
		}
		f.shape, err = findShape(newFeed(r), in.Whole)
		if err = errors.Join(err, r.Close()); err == nil && f.shape.kind == nested {
			err = f.findRows(ctx, in.Whole)
		}
		return err
	}
	return nil
}

// findRows checks that there are rows inside the only object of the file. Otherwise the
// object is itself a row, or the user must say which of its lists has the rows.
func (f *file) findRows(ctx context.Context, whole func(keys []string) bool) error {
	var found rows.Found
	if whole != nil {
		r, err := f.open(ctx)
		if err != nil {
			return err
		}
		found, err = findNested(r, f.name, whole)
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	switch {
	case len(found.Rows) > 0:
		return nil
	case len(f.shape.lists) == 0:
		f.shape = shape{kind: sequence}
		return nil
	}
	return deem.WithHint(
		fmt.Errorf("the object has several lists of objects: %s", Listed(f.shape.lists)),
		"if they are the items, --map response=COLUMN names the column with the response; otherwise take the list with the items out of it: jq '%s' %s > part.json", jqPath(f.shape.lists[0]), f.name)
}

// head returns the first bytes of the file.
func (f *file) head(ctx context.Context) ([]byte, error) {
	r, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	head := make([]byte, 4096)
	n, err := io.ReadFull(r, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return head[:n], errors.Join(err, r.Close())
}

// A body is the decompressed content of a file. Close returns an error if the file has
// changed since it was checked.
type body struct {
	io.Reader
	io.ReaderAt // of the file itself
	unpacker    func()
	file        *file
	handle      *os.File // nil for a spooled file, which no other program can change
}

// open opens the file for another pass.
func (f *file) open(ctx context.Context) (*body, error) {
	b := &body{file: f}
	if f.spool != nil {
		b.ReaderAt = f.spool
	} else {
		handle, err := os.Open(f.path)
		if err != nil {
			return nil, OpenError(f.name, err)
		}
		b.ReaderAt, b.handle = handle, handle
		if err := b.unchanged(); err != nil {
			return nil, errors.Join(err, handle.Close())
		}
	}
	r := contextReader(ctx, io.NewSectionReader(b.ReaderAt, 0, f.size))
	switch f.packed {
	case packedGzip:
		z, err := gzip.NewReader(bufio.NewReaderSize(r, windowSize))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("unpack: %w", err), b.Close())
		}
		b.Reader = unpackErrors(z)
	case packedZstd:
		// Concurrency is 1: rows are parsed in this goroutine anyway, and no goroutine is
		// left behind if reading stops early. A window of 128 MB is the default limit of
		// the zstd command.
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("unpack: %w", err), b.Close())
		}
		b.Reader, b.unpacker = unpackErrors(z), z.Close
	default:
		b.Reader = r
	}
	return b, nil
}

// unpackErrors marks errors other than the end as errors of decompression.
func unpackErrors(r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		switch {
		case err == nil || err == io.EOF || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
			return n, err
		case errors.Is(err, io.ErrUnexpectedEOF):
			return n, errors.New("unpack: the compressed data ends too early")
		}
		return n, fmt.Errorf("unpack: %w", err)
	})
}

// unchanged compares the open file with the file that was checked.
func (b *body) unchanged() error {
	if b.handle == nil {
		return nil
	}
	info, err := b.handle.Stat()
	if err != nil {
		return err
	}
	if info.Size() != b.file.size || !info.ModTime().Equal(b.file.mtime) {
		return deem.WithHint(errChanged, "start again once nothing writes to it any more")
	}
	return nil
}

func (b *body) Close() error {
	if b.unpacker != nil {
		b.unpacker()
	}
	if b.handle == nil {
		return nil
	}
	return errors.Join(b.unchanged(), b.handle.Close())
}
