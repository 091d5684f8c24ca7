package bundle

import (
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"deem"
)

// A Source is a run to write.
type Source struct {
	Run      Run
	Judge    Judge
	Prices   json.RawMessage // the rows of the price table for the run's models; nil if there are none
	Software string          // that writes the bundle

	// Records are the records with their calls in the order of the dataset, and those of
	// one item by trial.
	Records iter.Seq2[deem.Record, error]

	// Numbers computes the numbers in the manifest; nil omits them.
	Numbers Counter

	Redact bool               // replaces texts by their hashes
	Key    ed25519.PrivateKey // signs the bundle; nil leaves it unsigned
}

// Write writes a bundle and returns its manifest. The same source gives the same bytes.
// After an error, the output is not a bundle.
func Write(to io.Writer, src Source) (Manifest, error) {
	f, err := newFileWriter(to)
	if err != nil {
		return Manifest{}, err
	}
	w := &writer{file: f, redact: src.Redact, head: first}
	m, err := w.all(src)
	if err != nil {
		// The encoder holds memory until it is closed; its remaining output is not a
		// bundle.
		return Manifest{}, errors.Join(err, w.file.enc.Close())
	}
	return m, w.file.Close()
}

// A writer writes chained lines.
type writer struct {
	file   *fileWriter
	redact bool
	head   string // hash of the last line
	buf    []byte
}

// all writes every line.
func (w *writer) all(src Source) (Manifest, error) {
	if err := w.prologue(src); err != nil {
		return Manifest{}, err
	}
	var m Manifest
	item := wireItem{position: -1}
	for rec, err := range src.Records {
		if err != nil {
			return Manifest{}, err
		}
		it := overItem(rec.Item, clean)
		if rec.Answer != nil {
			it.Response = "" // as in the dataset
		}
		if hash := it.Hash(); hash != item.hash || rec.Position != item.position {
			item = wireItem{hash: hash, item: it, position: rec.Position}
			m.Items++
			if err := w.sealable(kindItem, item.encode(), item.sealed().encode()); err != nil {
				return Manifest{}, err
			}
		}
		wire := toRecord(rec, item.hash)
		body, err := deem.Canonical(wire)
		sealed, err2 := deem.Canonical(wire.sealed())
		if err := cmp.Or(err, err2); err != nil {
			return Manifest{}, fmt.Errorf("record of item %q: %w", rec.Item.ID, err)
		}
		if err := w.sealable(kindRecord, body, sealed); err != nil {
			return Manifest{}, err
		}
		m.add(rec)
		if src.Numbers != nil {
			src.Numbers.Add(rec)
		}
	}
	if m.Records != src.Run.Records || m.Unjudged != src.Run.Unjudged {
		return Manifest{}, deem.WithHint(fmt.Errorf("run %s changed while it was written: it had %d records (%d unjudged) and now has %d (%d)",
			src.Run.ID, src.Run.Records, src.Run.Unjudged, m.Records, m.Unjudged), "somebody is judging it; export it when it is done")
	}
	m.Head = w.head
	if src.Numbers != nil {
		numbers, _, err := src.Numbers.Numbers()
		if err != nil {
			return Manifest{}, err
		}
		if m.Numbers, err = deem.Canonical(numbers); err != nil {
			return Manifest{}, fmt.Errorf("numbers of the manifest: %w", err)
		}
	}
	err := w.plain(kindManifest, m)
	m.Root = w.head
	if err != nil || src.Key == nil {
		return m, err
	}
	return m, w.plain(kindSignature, signature{
		Algorithm: "ed25519", Key: src.Key.Public().(ed25519.PublicKey),
		Signature: ed25519.Sign(src.Key, signedText(w.head)),
	})
}

// prologue writes everything before the first item.
func (w *writer) prologue(src Source) error {
	h := header{Format: format, Software: clean(src.Software)}
	sealed, err := deem.Canonical(h)
	if err != nil {
		return err
	}
	h.Redacted = w.redact
	body, err := deem.Canonical(h)
	if err != nil {
		return err
	}
	if err := w.line(kindHeader, body, sealed); err != nil {
		return err
	}
	run := src.Run
	run.Created, run.Updated = run.Created.UTC(), run.Updated.UTC()
	if err := canonical(&run.Settings); err != nil {
		return fmt.Errorf("settings of run %s: %w", run.ID, err)
	}
	if err := w.plain(kindRun, run); err != nil {
		return err
	}
	j := src.Judge
	if err := canonical(&j.Identity); err != nil {
		return fmt.Errorf("identity of judge %s: %w", j.Name, err)
	}
	if err := w.plain(kindJudge, j); err != nil {
		return err
	}
	prices := src.Prices
	if err := canonical(&prices); err != nil || prices == nil {
		return err
	}
	return w.plain(kindPrices, prices)
}

// canonical makes JSON canonical. Empty JSON stays empty.
func canonical(text *json.RawMessage) error {
	if len(*text) == 0 {
		*text = nil
		return nil
	}
	c, err := deem.Canonical(*text)
	*text = c
	return err
}

// sealable writes a line with its texts, or sealed if the bundle is redacted.
func (w *writer) sealable(kind string, body, sealed []byte) error {
	if w.redact {
		body = sealed
	}
	return w.line(kind, body, sealed)
}

// plain writes a line that is its own sealed form.
func (w *writer) plain(kind string, v any) error {
	body, err := deem.Canonical(v)
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return w.line(kind, body, body)
}

// line chains a line to the previous one and writes it.
func (w *writer) line(kind string, body, sealed []byte) error {
	l := line{kind: kind, body: body, prev: w.head, hash: chainHash(w.head, kind, sealed)}
	w.head = l.hash
	w.buf = l.appendTo(w.buf[:0])
	_, err := w.file.enc.Write(w.buf)
	return err
}

// A signature signs a bundle: with Ed25519, for the hash of the manifest's line, and
// through the chain for everything before it.
type signature struct {
	Algorithm string `json:"algorithm"` // "ed25519"
	Key       []byte `json:"key"`       // the public key
	Signature []byte `json:"signature"`
}

func signedText(manifestHash string) []byte {
	return []byte(format + " signature\n" + manifestHash + "\n")
}

// Fingerprint returns a short name of a public key: the first sixteen digits of its
// SHA-256.
func Fingerprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}
