package dataset

import (
	"bytes"
	"fmt"
	"io"
)

const (
	windowSize = 64 << 10  // how much of a file is buffered
	keptBuffer = 1 << 20   // larger buffers are released after the row that needed them
	maxRow     = 256 << 20 // a longer row indicates a file without line ends or with an open quote
)

var bom = []byte("\xef\xbb\xbf")

// A feed reads a text file through a buffer and counts its lines. It serves line-based
// formats and JSON, which is not line-based.
type feed struct {
	r      io.Reader
	window []byte
	pos    int   // first unread byte of the window
	end    int   // end of the data in the window
	line   int   // line of the byte at pos, from 1
	err    error // of r, once the window is consumed
	long   []byte
}

// newFeed returns a feed of r, positioned after a byte order mark if there is one.
func newFeed(r io.Reader) *feed {
	f := &feed{r: r, window: make([]byte, windowSize), line: 1}
	for f.end < len(bom) && f.err == nil {
		f.more()
	}
	if bytes.HasPrefix(f.window[:f.end], bom) {
		f.pos = len(bom)
	}
	return f
}

// more reads more data into the window.
func (f *feed) more() {
	n, err := f.r.Read(f.window[f.end:])
	f.end += n
	if err != nil {
		f.err = err
	}
}

// fill makes sure that the window has unread bytes. It returns io.EOF if there are none
// left.
func (f *feed) fill() error {
	for f.pos == f.end {
		if f.err != nil {
			return f.err
		}
		f.pos, f.end = 0, 0
		f.more()
	}
	return nil
}

// scratch returns an empty buffer for a row that does not fit the window. It does not keep
// a buffer that one huge row has enlarged.
func (f *feed) scratch() []byte {
	if cap(f.long) > keptBuffer {
		f.long = nil
	}
	return f.long[:0]
}

// readLine returns the next line with its line end, if it has one, and its
// number. The line is valid until the next call.
func (f *feed) readLine() ([]byte, int, error) {
	if err := f.fill(); err != nil {
		return nil, 0, err
	}
	at := f.line
	if i := bytes.IndexByte(f.window[f.pos:f.end], '\n'); i >= 0 {
		line := f.window[f.pos : f.pos+i+1]
		f.pos += i + 1
		f.line++
		f.long = f.scratch()
		return line, at, nil
	}
	long := f.scratch() // for a line that exceeds the window
	for {
		part := f.window[f.pos:f.end]
		i := bytes.IndexByte(part, '\n')
		if i >= 0 {
			part = part[:i+1]
			f.line++
		}
		long = append(long, part...)
		f.long = long
		f.pos += len(part)
		if i >= 0 {
			return long, at, nil
		}
		if err := f.fill(); err == io.EOF {
			return long, at, nil
		} else if err != nil {
			return nil, at, err
		}
		if len(long) > maxRow {
			return nil, at, errRowTooLong
		}
	}
}

var errRowTooLong = fmt.Errorf("a row is longer than %d MB", maxRow>>20)

// skipSpace advances to the next byte that is not JSON white space and returns it without
// consuming it.
func (f *feed) skipSpace() (byte, error) {
	for {
		if err := f.fill(); err != nil {
			return 0, err
		}
		switch c := f.window[f.pos]; c {
		case '\n':
			f.line++
			fallthrough
		case ' ', '\t', '\r':
			f.pos++
		default:
			return c, nil
		}
	}
}

// readValue reads one JSON value, which begins at the next byte. It looks only at brackets
// and quotes; the parser decides whether the value is valid. With keep it returns the text
// of the value, valid until the next call; otherwise it skips a value of any size.
func (f *feed) readValue(keep bool) ([]byte, error) {
	return f.readExtent(extent{}, keep)
}

func (f *feed) readExtent(e extent, keep bool) ([]byte, error) {
	long := f.scratch()
	for {
		err := f.fill()
		if err == io.EOF && e.begun && e.depth == 0 && !e.quoted {
			return long, nil
		}
		if err != nil {
			return long, unexpectedEOF(err)
		}
		part := f.window[f.pos:f.end]
		n, done := e.scan(part)
		f.line += bytes.Count(part[:n], []byte{'\n'})
		f.pos += n
		if keep {
			long = append(long, part[:n]...)
			f.long = long
		}
		if done {
			return long, nil
		}
		if len(long) > maxRow {
			return nil, errRowTooLong
		}
	}
}

func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// An extent finds the end of a JSON value in pieces of text.
type extent struct {
	depth   int
	begun   bool
	quoted  bool // inside a string
	escaped bool // after a backslash inside a string
}

// scan returns how many bytes of p belong to the value, and whether it ends there.
func (e *extent) scan(p []byte) (int, bool) {
	for i := 0; i < len(p); i++ {
		c := p[i]
		if e.quoted {
			switch {
			case e.escaped:
				e.escaped = false
			case c == '\\':
				e.escaped = true
			case c == '"':
				if e.quoted = false; e.depth == 0 {
					return i + 1, true
				}
			}
			continue
		}
		switch c {
		case '"':
			e.quoted = true
		case '{', '[':
			e.depth++
		case '}', ']':
			if e.depth == 0 {
				return i, true // belongs to what surrounds a number or a literal
			}
			if e.depth--; e.depth == 0 {
				return i + 1, true
			}
		case ',', ' ', '\t', '\r', '\n', ':':
			if e.depth == 0 && e.begun {
				return i, true
			}
		}
		e.begun = true
	}
	return len(p), false
}
