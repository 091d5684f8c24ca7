package bundle

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// On disk, a bundle has three parts: a first line with the format, one Zstandard frame with
// the lines, and a last line with the SHA-256 of all bytes before it. The frame has its own
// checksums, but a decoder ignores some of its bits; the last line ensures that any change
// of a byte is detected.

// trailerMark begins the last line of the file.
const trailerMark = "sha256 "

// trailerLen is the length of the last line.
const trailerLen = len(trailerMark) + hexLen + 1

// window is the window size of the compressor, which determines the memory needed to read a
// bundle.
const window = 8 << 20

// maxWindow and maxLine limit what a hostile file can make a reader allocate. A line has
// one item, or one record with its replies.
const (
	maxWindow = 64 << 20
	maxLine   = 256 << 20
)

// bufferSize is the size of the read buffers, for the file and for the lines.
const bufferSize = 64 << 10

// A fileWriter writes the container format of a bundle.
type fileWriter struct {
	to  io.Writer
	sum hash.Hash
	enc *zstd.Encoder
}

// newFileWriter writes the first line and begins the frame.
func newFileWriter(to io.Writer) (*fileWriter, error) {
	f := &fileWriter{to: to, sum: sha256.New()}
	both := io.MultiWriter(to, f.sum)
	if _, err := io.WriteString(both, format+"\n"); err != nil {
		return nil, err
	}
	// One goroutine and fixed settings: the same lines always give the same bytes with the
	// same version of the library. The chain does not depend on it.
	var err error
	f.enc, err = zstd.NewWriter(both, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithWindowSize(window), zstd.WithEncoderCRC(true))
	return f, err
}

// Close ends the frame and writes the last line. It does not close the underlying writer.
func (f *fileWriter) Close() error {
	if err := f.enc.Close(); err != nil {
		return err
	}
	_, err := io.WriteString(f.to, trailerMark+hex.EncodeToString(f.sum.Sum(nil))+"\n")
	return err
}

// A tailReader reads what is between the first line and the last, and hashes it. It holds
// back as many bytes as the last line has, because only the end of the file shows which
// bytes those are. So it can read from a pipe.
type tailReader struct {
	from *bufio.Reader
	sum  hash.Hash
	err  error // of from, once it failed

	frame *frameCheck // nil while reading the first line
}

// Read returns bytes before the last line.
func (t *tailReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	ahead, err := t.from.Peek(min(len(p)+trailerLen, t.from.Size()))
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = err
		return 0, err
	}
	n := copy(p, ahead[:max(0, len(ahead)-trailerLen)])
	if n == 0 {
		return 0, io.EOF
	}
	t.sum.Write(p[:n])
	if t.frame != nil {
		if t.err = t.frame.add(p[:n]); t.err != nil {
			return 0, t.err
		}
	}
	_, err = t.from.Discard(n)
	return n, err
}

// check reads the rest and compares the last line with the hash of everything before it.
func (t *tailReader) check() error {
	if t.err == nil {
		_, t.err = io.Copy(io.Discard, struct{ io.Reader }{t})
	}
	if t.err != nil {
		return t.err
	}
	last, err := io.ReadAll(t.from)
	if err != nil {
		return err
	}
	sum := hex.EncodeToString(t.sum.Sum(nil))
	switch {
	case string(last) == trailerMark+sum+"\n":
		return nil
	case len(last) == trailerLen && bytes.HasPrefix(last, []byte(trailerMark)) && last[trailerLen-1] == '\n' && isHash(last[len(trailerMark):trailerLen-1]):
		return fmt.Errorf("%w: the file was changed: the SHA-256 of its bytes is %s, and its last line says %s", ErrDamaged, sum, last[len(trailerMark):trailerLen-1])
	default:
		return fmt.Errorf("%w: the last line with the SHA-256 of the file is missing or changed: the file may be cut short", ErrDamaged)
	}
}

// A frameCheck follows the Zstandard frame of a bundle from block to block (RFC 8878,
// section 3.1.1). A decoder ignores skippable frames and reads several frames as one, so a
// signed file could contain unsigned bytes. There must be exactly one frame that contains
// all bytes.
type frameCheck struct {
	head     []byte // the beginning of a header: of the frame, then of a block
	skip     int    // bytes that are left to the decoder
	blocks   bool   // the header of the frame was read
	checksum bool   // four bytes follow the last block
	ended    bool
}

// add checks the next bytes.
func (f *frameCheck) add(p []byte) error {
	for len(p) > 0 {
		if f.skip > 0 {
			n := min(f.skip, len(p))
			f.skip, p = f.skip-n, p[n:]
			continue
		}
		if f.ended {
			return fmt.Errorf("%w: there are bytes after the end of its Zstandard frame", ErrDamaged)
		}
		f.head, p = append(f.head, p[0]), p[1:]
		if !f.blocks {
			var h zstd.Header
			switch err := h.Decode(f.head); {
			case errors.Is(err, io.ErrUnexpectedEOF):
				continue
			case err != nil:
				return fmt.Errorf("%w: its Zstandard frame: %w", ErrDamaged, err)
			case h.Skippable:
				return fmt.Errorf("%w: it holds a skippable Zstandard frame, whose bytes belong to nothing", ErrDamaged)
			}
			f.head, f.blocks, f.checksum = f.head[:0], true, h.HasCheckSum
			continue
		}
		if len(f.head) < 3 {
			continue
		}
		block := int(f.head[0]) | int(f.head[1])<<8 | int(f.head[2])<<16
		last, kind, size := block&1 == 1, block>>1&3, block>>3
		if kind == 1 { // one byte, repeated size times
			if size == 0 {
				return fmt.Errorf("%w: its Zstandard frame repeats a byte 0 times", ErrDamaged)
			}
			size = 1
		}
		f.head, f.skip, f.ended = f.head[:0], size, last
		if last && f.checksum {
			f.skip += 4
		}
	}
	return nil
}

// A scanner reads the lines of a bundle.
type scanner struct {
	tail *tailReader
	dec  *zstd.Decoder
	buf  *bufio.Reader
	n    int
}

// newScanner reads the first line of the file and rejects unsupported formats.
func newScanner(from io.Reader) (*scanner, error) {
	t := &tailReader{from: bufio.NewReaderSize(from, bufferSize), sum: sha256.New()}
	s := &scanner{tail: t}
	want := format + "\n"
	got, err := t.from.Peek(len(want))
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = err
		return s, err
	}
	line, _, _ := strings.Cut(string(got), "\n")
	family := format[:strings.IndexByte(format, '/')+1]
	switch version, ok := strings.CutPrefix(line, family); {
	case string(got) == want:
	case ok && version != "" && strings.Trim(version, "0123456789") == "" && len(got) == len(want):
		return s, fmt.Errorf("%w: it begins with %q, and this deem reads %s", ErrNewer, line, format)
	case strings.HasPrefix(want, string(got)):
		return s, fmt.Errorf("%w: the file ends in its first line", ErrDamaged)
	default:
		return s, fmt.Errorf("%w: it is not a bundle: it does not begin with %q", ErrDamaged, format)
	}
	_, err = io.ReadFull(t, make([]byte, len(want)))
	t.frame = &frameCheck{}
	if t.err != nil {
		return s, t.err
	}
	if err != nil {
		return s, fmt.Errorf("%w: the file ends behind its first line", ErrDamaged)
	}
	s.dec, err = zstd.NewReader(s.tail, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return s, err
	}
	s.buf = bufio.NewReaderSize(s.dec, bufferSize)
	return s, nil
}

// next returns the next line. It returns io.EOF after the last one. The caller may keep the
// body.
func (s *scanner) next() (line, error) {
	s.n++
	var text []byte
	for {
		part, err := s.buf.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case err == nil:
			l, ok := parseLine(s.n, text[:len(text)-1])
			if !ok {
				return line{}, fmt.Errorf("%w: line %d is not a line of a bundle", ErrDamaged, s.n)
			}
			return l, nil
		case errors.Is(err, bufio.ErrBufferFull) && len(text) <= maxLine:
			continue
		case errors.Is(err, bufio.ErrBufferFull):
			return line{}, fmt.Errorf("%w: line %d is longer than %d bytes", ErrDamaged, s.n, maxLine)
		case errors.Is(err, io.EOF) && len(text) == 0:
			return line{}, io.EOF
		case errors.Is(err, io.EOF):
			return line{}, fmt.Errorf("%w: line %d has no end", ErrDamaged, s.n)
		case s.tail.err != nil:
			return line{}, s.tail.err
		default:
			return line{}, fmt.Errorf("%w: behind line %d: %w", ErrDamaged, s.n-1, err)
		}
	}
}

// more returns the next line. A file that ends here is incomplete.
func (s *scanner) more() (line, error) {
	l, err := s.next()
	if errors.Is(err, io.EOF) {
		return l, fmt.Errorf("%w: it ends behind line %d, before its manifest", ErrDamaged, s.n-1)
	}
	return l, err
}

// Close releases the decompressor.
func (s *scanner) Close() {
	if s.dec != nil {
		s.dec.Close()
	}
}
