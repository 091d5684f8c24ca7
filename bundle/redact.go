package bundle

import (
	"errors"
	"fmt"
	"io"
)

// Redact copies a bundle without its texts. Chain and signature stay what they are, so
// that whoever signed the bundle has signed the copy too, and no key is needed. An
// error wraps [ErrDamaged] when the bundle is not whole; then there is no copy.
func Redact(to io.Writer, from io.Reader) error {
	lines, err := newScanner(from)
	if err != nil {
		return err
	}
	defer lines.Close()
	f, err := newFileWriter(to)
	if err != nil {
		return err
	}
	w := &writer{file: f, redact: true, head: first}
	if err := w.redactAll(lines); err != nil {
		return errors.Join(err, f.enc.Close())
	}
	return f.Close()
}

// redactAll copies line by line, and holds each to the chain.
func (w *writer) redactAll(lines *scanner) error {
	last := ""
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := w.redactLine(l); err != nil {
			return fmt.Errorf("line %d: %w", l.n, err)
		}
		if w.head != l.hash {
			return fmt.Errorf("%w: line %d has not the hash that it says", ErrDamaged, l.n)
		}
		last = l.kind
	}
	if last != kindManifest && last != kindSignature {
		return fmt.Errorf("%w: it ends before its manifest", ErrDamaged)
	}
	return lines.tail.check()
}

// redactLine writes a line without its texts.
func (w *writer) redactLine(l line) error {
	if l.kind == kindHeader {
		h, err := decode[Header](l.body)
		if err != nil {
			return err
		}
		if h.Redacted {
			return errors.New("the bundle is redacted already")
		}
		sealed, err := encode(h)
		if err != nil {
			return err
		}
		h.Redacted = true
		body, err := encode(h)
		if err != nil {
			return err
		}
		return w.line(kindHeader, body, sealed)
	}
	sealed, err := sealBody(l.kind, l.body)
	if err != nil {
		return err
	}
	return w.line(l.kind, sealed, sealed)
}

// sealBody returns the sealed form of the body of a full bundle.
func sealBody(kind string, body []byte) ([]byte, error) {
	switch kind {
	case kindItem:
		it, err := decodeItem(body)
		if err != nil {
			return nil, err
		}
		return it.sealed().encode(), nil
	case kindRecord:
		rec, err := decode[wireRecord](body)
		if err != nil {
			return nil, err
		}
		return encode(rec.sealed())
	}
	return body, nil
}
