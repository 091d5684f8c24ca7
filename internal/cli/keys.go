package cli

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"deem"
)

// generateKey returns a new key pair as the contents of two PEM files: PKCS #8 for the
// private key, PKIX for the public one, as used by OpenSSL.
func generateKey() (private, public []byte, err error) {
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

// parsePrivateKey parses the contents of a private key file.
func parsePrivateKey(text []byte) (ed25519.PrivateKey, error) {
	der, err := pemBlock(text, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errors.New("the private key cannot be read") // the parser's error may contain parts of the key
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, deem.WithHint(fmt.Errorf("the private key is a %T, and only Ed25519 signs a bundle", parsed), keyAdvice)
	}
	return key, nil
}

// parsePublicKey parses the contents of a public key file.
func parsePublicKey(text []byte) (ed25519.PublicKey, error) {
	der, err := pemBlock(text, "PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, fmt.Errorf("the public key cannot be read: %w", err)
	}
	key, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return nil, deem.WithHint(fmt.Errorf("the public key is a %T, and only Ed25519 signs a bundle", parsed), keyAdvice)
	}
	return key, nil
}

// pemBlock returns the contents of the first block of a PEM text.
func pemBlock(text []byte, kind string) ([]byte, error) {
	b, _ := pem.Decode(text)
	switch {
	case b == nil:
		return nil, deem.WithHint(errors.New("it is not a key in PEM"), keyAdvice)
	case b.Type != kind:
		return nil, deem.WithHint(fmt.Errorf("it holds a %q, and a %q is wanted", b.Type, kind), keyAdvice)
	}
	return b.Bytes, nil
}
