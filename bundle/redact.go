package bundle

import (
	"errors"
	"fmt"
	"io"

	"deem"
)

// Redact copies a bundle without its texts. Chain and signature stay the same, so the
// signature is valid for the copy, and no key is needed. The error wraps [ErrDamaged] if
// the bundle is incomplete; then there is no copy.
func Redact(to io.Writer, from io.Reader) (Manifest, error) {
	lines, err := newScanner(from)
	if err != nil {
		return Manifest{}, err
	}
	defer lines.Close()
	f, err := newFileWriter(to)
	if err != nil {
		return Manifest{}, err
	}
	w := &writer{file: f, redact: true, head: first}
	m, err := w.redactAll(lines)
	if err != nil {
		return Manifest{}, errors.Join(err, f.enc.Close())
	}
	return m, f.Close()
}

// redactAll copies line by line, and checks each against the chain.
func (w *writer) redactAll(lines *scanner) (Manifest, error) {
	var m *Manifest
	for {
		l, err := lines.next()
		switch {
		case errors.Is(err, io.EOF) && m == nil:
			return Manifest{}, fmt.Errorf("%w: it ends before its manifest", ErrDamaged)
		case errors.Is(err, io.EOF):
			return *m, lines.tail.check()
		case err != nil:
			return Manifest{}, err
		}
		if err := w.redactLine(l); err != nil {
			return Manifest{}, fmt.Errorf("line %d: %w", l.n, err)
		}
		if w.head != l.hash {
			return Manifest{}, fmt.Errorf("%w: line %d does not match its hash", ErrDamaged, l.n)
		}
		if l.kind == kindManifest {
			said, err := decode[Manifest](l.body)
			if err != nil {
				return Manifest{}, fmt.Errorf("line %d: %w", l.n, err)
			}
			said.Root = l.hash
			m = &said
		}
	}
}

// redactLine writes a line without its texts.
func (w *writer) redactLine(l line) error {
	switch l.kind {
	case kindHeader:
		h, err := decode[header](l.body)
		if err != nil {
			return err
		}
		if h.Redacted {
			return errors.New("the bundle is redacted already")
		}
		h.Redacted = true
		body, err := deem.Canonical(h)
		if err != nil {
			return err
		}
		return w.line(kindHeader, body, l.body)
	case kindItem:
		it, err := decodeItem(l.body)
		if err != nil {
			return err
		}
		sealed := it.sealed().encode()
		return w.line(kindItem, sealed, sealed)
	case kindRecord:
		rec, err := decode[wireRecord](l.body)
		if err != nil {
			return err
		}
		return w.plain(kindRecord, rec.sealed())
	}
	return w.line(l.kind, l.body, l.body)
}
