package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"deem"
)

// A Reader streams a bundle. It checks that the file is complete and in order, and leaves
// the slower checks to [Verify].
type Reader struct {
	Header header
	Run    Run
	Judge  Judge
	Prices json.RawMessage // nil if there are none

	lines     *scanner
	head      string // hash of the last line
	ahead     *line  // read but not used yet
	manifest  *Manifest
	signature *signature
}

// NewReader reads everything before the first item. The error wraps [ErrDamaged] if the
// file is not a bundle, and [ErrNewer] if this deem is too old for it.
func NewReader(from io.Reader) (*Reader, error) {
	lines, err := newScanner(from)
	if err != nil {
		return nil, err
	}
	r := &Reader{lines: lines, head: first}
	if err := r.prologue(); err != nil {
		lines.Close()
		return nil, err
	}
	return r, nil
}

// prologue reads header, run, judge and prices.
func (r *Reader) prologue() error {
	if err := next(r, kindHeader, &r.Header); err != nil {
		return err
	}
	if r.Header.Format != format {
		return fmt.Errorf("%w: the header says %q, and this deem reads %s", ErrNewer, r.Header.Format, format)
	}
	if err := next(r, kindRun, &r.Run); err != nil {
		return err
	}
	if err := next(r, kindJudge, &r.Judge); err != nil {
		return err
	}
	l, err := r.take()
	if err != nil {
		return err
	}
	if l.kind != kindPrices {
		r.ahead = &l
		return nil
	}
	if r.Prices, err = decode[json.RawMessage](l.body); err != nil {
		return fmt.Errorf("line %d: %w", l.n, err)
	}
	return nil
}

// next reads a line of the given kind into v.
func next[T any](r *Reader, kind string, v *T) error {
	l, err := r.take()
	if err != nil {
		return err
	}
	if l.kind != kind {
		return fmt.Errorf("%w: line %d is of kind %q, where %q should stand", ErrDamaged, l.n, l.kind, kind)
	}
	if *v, err = decode[T](l.body); err != nil {
		return fmt.Errorf("line %d: %w", l.n, err)
	}
	return nil
}

// take returns the next line. A file that ends here is incomplete.
func (r *Reader) take() (line, error) {
	if l := r.ahead; l != nil {
		r.ahead = nil
		return *l, nil
	}
	l, err := r.lines.more()
	if err == nil && l.prev != r.head {
		err = fmt.Errorf("%w: line %d does not follow the line before it", ErrDamaged, l.n)
	}
	if err != nil {
		return line{}, err
	}
	r.head = l.hash
	return l, nil
}

// Records yields the records in the order of the dataset. It can be used once. An error
// ends it. Records of a redacted bundle have hashes in place of texts.
func (r *Reader) Records() iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		var item wireItem
		for r.manifest == nil {
			l, err := r.take()
			if err != nil {
				yield(deem.Record{}, err)
				return
			}
			var w wireRecord
			switch l.kind {
			case kindItem:
				item, err = decodeItem(l.body)
			case kindRecord:
				if err = json.Unmarshal(l.body, &w); err != nil {
					err = fmt.Errorf("%w: %w", ErrDamaged, err)
				} else if w.Item != item.hash {
					err = fmt.Errorf("%w: the record is of another item than the one before it", ErrDamaged)
				}
			case kindManifest:
				if err := r.end(l); err != nil {
					yield(deem.Record{}, err)
				}
				return
			default:
				yield(deem.Record{}, fmt.Errorf("%w: line %d is of kind %q, among the records", ErrDamaged, l.n, l.kind))
				return
			}
			if err != nil {
				yield(deem.Record{}, fmt.Errorf("line %d: %w", l.n, err))
				return
			}
			if l.kind == kindRecord && !yield(w.record(item.item), nil) {
				return
			}
		}
	}
}

// end reads the manifest on line l and a signature, if there is one, and checks the end of
// the file.
func (r *Reader) end(l line) error {
	m, err := decode[Manifest](l.body)
	if err != nil {
		return fmt.Errorf("line %d: %w", l.n, err)
	}
	m.Root = l.hash
	for {
		l, err := r.lines.next()
		switch {
		case errors.Is(err, io.EOF):
			if err := r.lines.tail.check(); err != nil {
				return err
			}
			r.manifest = &m
			return nil
		case err != nil:
			return err
		case l.kind != kindSignature || l.prev != r.head || r.signature != nil:
			return fmt.Errorf("%w: line %d is of kind %q, behind the manifest", ErrDamaged, l.n, l.kind)
		}
		s, err := decode[signature](l.body)
		if err != nil {
			return fmt.Errorf("line %d: %w", l.n, err)
		}
		r.signature, r.head = &s, l.hash
	}
}
