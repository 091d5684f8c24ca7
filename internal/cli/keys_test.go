package cli

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"deem/bundle"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	private, public, err := generateKey()
	if err != nil {
		t.Fatal(err)
	}
	key, err := parsePrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	pub, err := parsePublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	if !pub.Equal(key.Public()) {
		t.Error("the public key is not that of the private one")
	}
	for name, text := range map[string]string{"nothing": "", "no PEM": "secret", "the other one": string(public), "torn": string(private[:60])} {
		if _, err := parsePrivateKey([]byte(text)); err == nil {
			t.Errorf("parsePrivateKey(%s): no error", name)
		}
	}
	if _, err := parsePublicKey(private); err == nil {
		t.Error("parsePublicKey of a private key: no error")
	}
}

// FuzzKeys reads any text as a key. One that is taken signs, or says whose signature it is,
// and an error repeats nothing of the file.
func FuzzKeys(f *testing.F) {
	private, public, err := generateKey()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(private)
	f.Add(public)
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"))
	f.Add([]byte("hunter2"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if key, err := parsePrivateKey(text); err == nil {
			if len(ed25519.Sign(key, text)) != ed25519.SignatureSize {
				t.Errorf("%q is a key that does not sign", text)
			}
		} else if len(text) > 20 && strings.Contains(err.Error(), string(text)) {
			t.Errorf("error %q repeats the file", err)
		}
		if key, err := parsePublicKey(text); err == nil && len(bundle.Fingerprint(key)) != 16 {
			t.Errorf("%q has the name %q", text, bundle.Fingerprint(key))
		}
	})
}
