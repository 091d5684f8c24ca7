package dataset

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"deem"
)

// A shape describes where the rows of a JSON file are.
type shape struct {
	kind   shapeKind
	member string // the key of the list of rows in the only object
}

type shapeKind uint8

const (
	lines    shapeKind = iota // an object per line
	sequence                  // consecutive objects, over any number of lines
	list                      // the elements of a list
	member                    // the elements of a list inside one object
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
	keys, lists, err := outline(f)
	end := f.line
	if err == nil {
		_, err = f.skipSpace()
	}
	switch {
	case err == io.EOF:
		switch {
		case whole != nil && whole(keys) || len(lists) == 0:
			return shape{kind: sequence}, nil
		case len(lists) == 1:
			return shape{kind: member, member: lists[0]}, nil
		}
		return shape{}, deem.WithHint(
			fmt.Errorf("the object has several lists of objects: %s", strings.Join(lists, ", ")),
			"take the one that holds the items out of it, as with: jq '.%s' FILE", lists[0])
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

// outline skips an object and returns its keys, and those of its members that are lists of
// objects.
func outline(f *feed) (keys, lists []string, err error) {
	if f.window[f.pos] != '{' {
		return nil, nil, errNoObject
	}
	f.pos++
	err = eachMember(f, func(key string) error {
		if keys = append(keys, key); len(keys) > maxKeys {
			return errNoObject // reported when it is read as a row
		}
		c, err := f.skipSpace()
		if err != nil {
			return err
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
	})
	return keys, lists, unexpectedEOF(err)
}

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
		key, err := readKey(f)
		if err != nil {
			return err
		}
		if err := visit(key); err != nil {
			return err
		}
	}
}

// readKey reads a key and the following colon.
func readKey(f *feed) (string, error) {
	text, err := f.readValue(true)
	if err != nil {
		return "", err
	}
	s := scanner{text: text}
	if err := s.str(); err != nil {
		return "", errNoObject
	}
	key := unquote(text)
	c, err := f.skipSpace()
	if err != nil {
		return "", err
	}
	if c != ':' {
		return "", errNoObject
	}
	f.pos++
	return key, nil
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
	default:
		return o.memberList(f, sh.member, yield)
	}
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

// memberList yields the elements of the list under the given key of one object.
func (o *objectReader) memberList(f *feed, key string, yield yield) error {
	if c, err := f.skipSpace(); err != nil || c != '{' {
		return o.wrap(f, errChanged)
	}
	f.pos++
	err := eachMember(f, func(k string) error {
		c, err := f.skipSpace()
		switch {
		case err != nil:
			return err
		case k == key && c == '[':
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
