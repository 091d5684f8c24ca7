package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"deem"
)

// A yield receives a row, or the error of one. It returns false to stop. An error that is a
// [deem.Problem] concerns one row, and the next one can still be read.
type yield func(*Row, error) bool

// An objectReader converts JSON objects to rows. It keeps the column names of the previous
// row, because most rows of a file have the same names.
type objectReader struct {
	row  Row
	keys [][]byte // of the previous row, as spelled in the file

	spans []span // buffer for the scanner's keys

	// known are the names that are already decoded.
	known map[string]string

	// fresh reports whether names was allocated for the current row. The names of the
	// previous row must not change, because they are still in use.
	fresh bool
}

// read parses one JSON text, which begins at the given line, into a row. Text after the
// object is a problem. A text with Python's NaN or infinities is read as the corresponding
// JSON.
func (o *objectReader) read(data []byte, line int) (*Row, error) {
	o.row.Line, o.row.python, o.row.nans = line, false, nil
	if !utf8.Valid(data) {
		return nil, invalidUTF8(o.row.File, data, line)
	}
	s := scanner{text: data, python: true, unique: true, keys: o.spans[:0]}
	s.space()
	if s.peek() != '{' {
		begin := s.pos
		if err := s.value(0); err != nil {
			return nil, o.notJSON(err, s.text, line)
		}
		return nil, o.problem(line, "a row must be an object, but this is %s", excerpt(s.text[begin:]))
	}
	o.row.values, o.fresh = o.row.values[:0], false
	if err := s.object(0, o.member); err != nil {
		return nil, o.notJSON(err, data, line)
	}
	o.spans = s.keys
	o.row.names = o.row.names[:len(o.row.values)]
	o.keys = o.keys[:len(o.row.values)]
	if s.space(); s.pos < len(data) {
		return nil, o.problem(line, "the object is followed by %s", excerpt(data[s.pos:]))
	}
	if len(s.constants) > 0 {
		var data []byte
		var nans []*byte
		var at []int
		from := 0
		for _, c := range s.constants {
			data = append(data, s.text[from:c.begin]...)
			if c.json == "null" {
				at = append(at, len(data))
			}
			data = append(data, c.json...)
			from = c.end
		}
		data = append(data, s.text[from:]...)
		for _, i := range at {
			nans = append(nans, &data[i])
		}
		row, err := o.read(data, line)
		o.row.python, o.row.nans = true, nans
		return row, err
	}
	o.row.lone, o.row.text = s.lone, data
	return &o.row, nil
}

// member adds one member of the object. It decodes names only if they differ from those of
// the previous row.
func (o *objectReader) member(key, value []byte) {
	i := len(o.row.values)
	o.row.values = append(o.row.values, Value{raw, value})
	if i < len(o.keys) && bytes.Equal(o.keys[i], key) {
		return
	}
	// A row with different columns: the names from here on are its own.
	if !o.fresh {
		o.row.names = append(make([]string, 0, i+8), o.row.names[:i]...)
		o.fresh = true
	}
	name, ok := o.known[string(key)]
	if !ok {
		name = unquote(key)
		if o.known == nil {
			o.known = map[string]string{}
		}
		if len(o.known) < 1000 && len(key) < 100 {
			o.known[string(key)] = name
		}
	}
	o.row.names = append(o.row.names[:i], name)
	o.keys = append(o.keys[:i], bytes.Clone(key))
}

func (o *objectReader) problem(line int, format string, args ...any) error {
	return deem.Problem{File: o.row.File, Line: line, Message: fmt.Sprintf(format, args...)}
}

// notJSON turns an error of the scanner into a problem at its line, which for a multi-line
// object is not the line where the object begins.
func (o *objectReader) notJSON(err error, data []byte, line int) error {
	if keys, ok := errors.AsType[*keyError](err); ok {
		line, _ := place(data, keys.pos, line)
		return deem.WithHint(o.problem(line, "%s", keys.message), "%s", keys.hint)
	}
	syntax, ok := errors.AsType[*syntaxError](err)
	if !ok {
		return err
	}
	hint := "each row must be one complete JSON object"
	switch rest := data[syntax.pos:]; {
	case bytes.HasPrefix(rest, []byte("None")):
		hint = "None is a value in Python and none in JSON; write null instead"
	case bytes.HasPrefix(rest, []byte("'")):
		hint = "JSON wants double quotes; write the file with json.dumps rather than str"
	}
	line, column := place(data, syntax.pos, line)
	return deem.WithHint(o.problem(line, "not JSON: %s (byte %d of the line)", syntax.message, column), "%s", hint)
}

// place returns the line, and the byte in it from 1, of a position in a text that begins at
// the given line. A value that is missing at the end is reported after the last word, not
// in the empty lines that follow.
func place(data []byte, pos, line int) (atLine, column int) {
	before := data[:min(pos, len(bytes.TrimRight(data, " \t\r\n")))]
	return line + bytes.Count(before, []byte{'\n'}), len(before) - bytes.LastIndexByte(before, '\n')
}

// invalidUTF8 returns the problem of the first invalid byte.
func invalidUTF8(file string, data []byte, line int) error {
	pos := invalidByte(data)
	line, column := place(data, pos, line)
	return deem.WithHint(
		deem.Problem{File: file, Line: line, Message: fmt.Sprintf("byte %d of the line, 0x%02x, is not UTF-8", column, data[pos])},
		"%s", encodingAdvice)
}

const encodingAdvice = "convert the file, as with: iconv -f ENCODING -t UTF-8 FILE > NEWFILE"

// invalidByte returns the position of the first byte of p that is not UTF-8.
func invalidByte(p []byte) int {
	for i := 0; i < len(p); {
		r, size := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(p)
}

// jsonlRows yields the objects of a file with one object per line.
func jsonlRows(f *feed, name string, yield yield) error {
	o := objectReader{row: Row{File: name}}
	for {
		line, at, err := f.readLine()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s:%d: %w", name, at, err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if !yield(o.read(line, at)) {
			return nil
		}
	}
}

// A shape describes where the rows of a JSON file are.
type shape struct {
	kind   shapeKind
	member string // the key of the list of rows in the only object
	lists  []string
}

type shapeKind uint8

const (
	lines    shapeKind = iota // an object per line
	sequence                  // consecutive objects, over any number of lines
	list                      // the elements of a list
	member                    // the elements of a list inside one object
	nested                    // in several lists or objects inside one object
)

// findShape finds the rows in a JSON file. whole reports whether a single object with the
// given keys is itself a row, whatever lists it contains.
func findShape(f *feed, whole func(keys []string) bool) (shape, error) {
	c, err := f.skipSpace()
	if err == io.EOF {
		return shape{kind: lines}, nil
	}
	if err != nil {
		return shape{}, err
	}
	if c == '[' {
		return shape{kind: list}, nil
	}
	begin := f.line
	var keys, lists []string // the keys of the object, and of its members that are lists of objects
	objects := 0
	err = errNoObject
	if c == '{' {
		f.pos++
		err = unexpectedEOF(eachMember(f, func(key string) error {
			if keys = append(keys, key); len(keys) > maxKeys {
				return errNoObject // reported when it is read as a row
			}
			c, err := f.skipSpace()
			if err != nil {
				return err
			}
			if c == '{' {
				objects++
			}
			if c != '[' {
				_, err := f.readValue(false)
				return err
			}
			f.pos++
			if c, err = f.skipSpace(); err != nil {
				return err
			}
			if c == '{' {
				lists = append(lists, key)
			}
			_, err = f.readExtent(extent{depth: 1, begun: true}, false)
			return err
		}))
	}
	end := f.line
	if err == nil {
		_, err = f.skipSpace()
	}
	switch {
	case err == io.EOF:
		switch {
		case whole != nil && whole(keys) || len(lists) == 0 && (whole == nil || objects == 0):
			return shape{kind: sequence}, nil
		case len(lists) == 1:
			return shape{kind: member, member: lists[0]}, nil
		}
		return shape{kind: nested, lists: lists}, nil
	case err != nil && !errors.Is(err, errNoObject) && !errors.Is(err, io.ErrUnexpectedEOF):
		return shape{}, err
	case end == begin:
		return shape{kind: lines}, nil
	}
	return shape{kind: sequence}, nil
}

// errNoObject is returned if the text does not have the structure of an object. Reading its
// rows gives the exact error.
var errNoObject = fmt.Errorf("no object")

// errFound ends eachMember early.
var errFound = fmt.Errorf("found")

// eachMember calls visit with each key of an object after its opening bracket. visit must
// read the value.
func eachMember(f *feed, visit func(key string) error) error {
	for first := true; ; first = false {
		c, err := f.skipSpace()
		if err != nil {
			return err
		}
		if c == '}' {
			f.pos++
			return nil
		}
		if c == ',' && !first {
			f.pos++
			if c, err = f.skipSpace(); err != nil {
				return err
			}
		}
		if c != '"' {
			return errNoObject
		}
		text, err := f.readValue(true)
		if err != nil {
			return err
		}
		s := scanner{text: text}
		if err := s.str(); err != nil {
			return errNoObject
		}
		key := unquote(text)
		if c, err = f.skipSpace(); err != nil {
			return err
		}
		if c != ':' {
			return errNoObject
		}
		f.pos++
		if err := visit(key); err != nil {
			return err
		}
	}
}

// jsonRows yields the rows of a JSON file of the given shape.
func jsonRows(f *feed, name string, sh shape, yield yield) error {
	o := &objectReader{row: Row{File: name}}
	switch sh.kind {
	case lines:
		return jsonlRows(f, name, yield)
	case sequence:
		for {
			if _, err := f.skipSpace(); err == io.EOF {
				return nil
			} else if err != nil {
				return o.wrap(f, err)
			}
			if more, err := o.element(f, yield); !more {
				return err
			}
		}
	case list:
		return o.list(f, yield, true)
	}
	if c, err := f.skipSpace(); err != nil || c != '{' {
		return o.wrap(f, errChanged)
	}
	f.pos++
	err := eachMember(f, func(key string) error {
		c, err := f.skipSpace()
		switch {
		case err != nil:
			return err
		case key == sh.member && c == '[':
			if err := o.list(f, yield, false); err != nil {
				return err
			}
			return errFound
		}
		_, err = f.readValue(false)
		return err
	})
	if errors.Is(err, errFound) {
		return nil
	}
	return err
}

// element reads one value and yields it. It returns false if reading must end.
func (o *objectReader) element(f *feed, yield yield) (bool, error) {
	at := f.line
	text, err := f.readValue(true)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		// The rest of the file is one unclosed value; parsing it gives the exact error.
		row, problem := o.read(text, at)
		yield(row, problem)
		return false, nil
	case err != nil:
		return false, o.wrap(f, err)
	case len(text) == 0:
		yield(nil, o.problem(at, "not JSON: found %s where an object should be", excerpt(f.window[f.pos:f.end])))
		return false, nil
	}
	return yield(o.read(text, at)), nil
}

func (o *objectReader) wrap(f *feed, err error) error {
	return fmt.Errorf("read %s:%d: %w", o.row.File, f.line, err)
}

// list yields the elements of a list. With last, the file must end after it.
func (o *objectReader) list(f *feed, yield yield, last bool) error {
	begin, before := f.line, 0
	f.pos++ // the opening bracket
	for i := 1; ; i++ {
		first := i == 1
		c, err := f.skipSpace()
		if err == nil && c == ']' {
			f.pos++
			if !last {
				return nil
			}
			_, err := f.skipSpace()
			if err == nil {
				yield(nil, o.problem(f.line, "the list is followed by %s", excerpt(f.window[f.pos:f.end])))
				return nil
			}
			if err == io.EOF {
				return nil
			}
			return o.wrap(f, err)
		}
		if err == nil && c == ',' && !first {
			f.pos++
			_, err = f.skipSpace()
		} else if err == nil && !first {
			yield(nil, o.problem(f.line, "not JSON: found %s where a comma or the end of the list should be", excerpt(f.window[f.pos:f.end])))
			return nil
		}
		if err == io.EOF {
			yield(nil, o.problem(f.line, "not JSON: the list that begins in line %d is not closed", begin))
			return nil
		}
		if err != nil {
			return o.wrap(f, err)
		}
		if o.row.element = 0; f.line == before {
			o.row.element = i
		}
		before = f.line
		if more, err := o.element(f, yield); !more {
			return err
		}
	}
}
