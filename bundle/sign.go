package bundle

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"

	"deem"
)

// A Signature signs a bundle: with Ed25519, for the hash of the manifest's line, and
// through the chain for everything before it.
type Signature struct {
	Algorithm string `json:"algorithm"` // "ed25519"
	Key       []byte `json:"key"`       // the public key
	Signature []byte `json:"signature"`
}

// signed returns the text that is signed.
func signed(manifestHash string) []byte {
	return []byte(Format + " signature\n" + manifestHash + "\n")
}

func sign(key ed25519.PrivateKey, manifestHash string) Signature {
	return Signature{
		Algorithm: "ed25519", Key: key.Public().(ed25519.PublicKey),
		Signature: ed25519.Sign(key, signed(manifestHash)),
	}
}

// check checks the signature of a manifest.
func (s Signature) check(manifestHash string) error {
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

// by reports whether the signature has the given key.
func (s Signature) by(key ed25519.PublicKey) bool { return bytes.Equal(s.Key, key) }

// Fingerprint returns a short name of a public key: the first sixteen digits of its
// SHA-256.
func Fingerprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

// GenerateKey returns a new key pair as the contents of two PEM files: PKCS #8 for the
// private key, PKIX for the public one, as used by OpenSSL.
func GenerateKey() (private, public []byte, err error) {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	pubDER, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return nil, nil, err
	}
	private = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return private, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pubDER}), nil
}

const keyAdvice = "deem keygen makes a pair of keys; so does openssl genpkey -algorithm ed25519"

// ParsePrivateKey parses the contents of a private key file.
func ParsePrivateKey(text []byte) (ed25519.PrivateKey, error) {
	block, err := block(text, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block)
	if err != nil {
		return nil, errors.New("the private key cannot be read") // the parser's error may contain parts of the key
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, deem.WithHint(fmt.Errorf("the private key is a %T, and only Ed25519 signs a bundle", parsed), keyAdvice)
	}
	return key, nil
}

// ParsePublicKey parses the contents of a public key file.
func ParsePublicKey(text []byte) (ed25519.PublicKey, error) {
	block, err := block(text, "PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKIXPublicKey(block)
	if err != nil {
		return nil, fmt.Errorf("the public key cannot be read: %w", err)
	}
	key, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return nil, deem.WithHint(fmt.Errorf("the public key is a %T, and only Ed25519 signs a bundle", parsed), keyAdvice)
	}
	return key, nil
}

// block returns the contents of the first block of a PEM text.
func block(text []byte, kind string) ([]byte, error) {
	b, _ := pem.Decode(text)
	switch {
	case b == nil:
		return nil, deem.WithHint(errors.New("it is not a key in PEM"), keyAdvice)
	case b.Type != kind:
		return nil, deem.WithHint(fmt.Errorf("it holds a %q, and a %q is wanted", b.Type, kind), keyAdvice)
	}
	return b.Bytes, nil
}
