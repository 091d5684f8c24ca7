package bundle

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// A signature signs a bundle: with Ed25519, for the hash of the manifest's line, and
// through the chain for everything before it.
type signature struct {
	Algorithm string `json:"algorithm"` // "ed25519"
	Key       []byte `json:"key"`       // the public key
	Signature []byte `json:"signature"`
}

// signed returns the text that is signed.
func signed(manifestHash string) []byte {
	return []byte(format + " signature\n" + manifestHash + "\n")
}

func sign(key ed25519.PrivateKey, manifestHash string) signature {
	return signature{
		Algorithm: "ed25519", Key: key.Public().(ed25519.PublicKey),
		Signature: ed25519.Sign(key, signed(manifestHash)),
	}
}

// check checks the signature of a manifest.
func (s signature) check(manifestHash string) error {
	switch {
	case s.Algorithm != "ed25519":
		return fmt.Errorf("the signature is of the unknown kind %q", s.Algorithm)
	case len(s.Key) != ed25519.PublicKeySize:
		return fmt.Errorf("the public key has %d bytes, and not %d", len(s.Key), ed25519.PublicKeySize)
	case !ed25519.Verify(s.Key, signed(manifestHash), s.Signature):
		return errors.New("the signature does not fit the manifest and the key in the file")
	}
	return nil
}

// Fingerprint returns a short name of a public key: the first sixteen digits of its
// SHA-256.
func Fingerprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}
