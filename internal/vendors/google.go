package vendors

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"deem"
	"deem/internal/words"
)

// scope is the scope of a token: all of Google Cloud that the account may use.
const scope = "https://www.googleapis.com/auth/cloud-platform"

// A googleAccount authorizes calls to Google Cloud with tokens that expire. It is safe for
// concurrent use.
type googleAccount struct {
	words.Hidden
	// Client requests tokens; nil means [http.DefaultClient]. Now may be nil for
	// [time.Now].
	Client *http.Client
	Now    func() time.Time

	account account
	source  string // the file

	mu      sync.Mutex
	token   string
	expires time.Time
}

// An account is a Google Cloud credentials file: of a service account, or of a person who
// signed in with gcloud.
type account struct {
	Type         string `json:"type"`
	QuotaProject string `json:"quota_project_id"`
	TokenURI     string `json:"token_uri"`

	Email      string `json:"client_email"` // of a service account
	PrivateKey string `json:"private_key"`
	KeyID      string `json:"private_key_id"`

	ClientID     string `json:"client_id"` // of a person
	ClientSecret string `json:"client_secret"`
	RefreshToken string `json:"refresh_token"`
}

// findGoogle reads the credentials file in GOOGLE_APPLICATION_CREDENTIALS, or the one that
// "gcloud auth application-default login" wrote. A token in GOOGLE_ACCESS_TOKEN takes
// precedence over both, and is used unchanged.
func findGoogle(get func(variable string) string) (*googleAccount, error) {
	if token := get("GOOGLE_ACCESS_TOKEN"); token != "" {
		return &googleAccount{token: token, source: "GOOGLE_ACCESS_TOKEN", expires: time.Now().AddDate(1, 0, 0)}, nil
	}
	folder := cmp.Or(get("CLOUDSDK_CONFIG"), filepath.Join(home(get), ".config", "gcloud"))
	file := cmp.Or(get("GOOGLE_APPLICATION_CREDENTIALS"), filepath.Join(folder, "application_default_credentials.json"))
	text, err := os.ReadFile(file) //nolint:gosec // The user names it.
	if err != nil {
		return nil, deem.WithHint(fmt.Errorf("no Google Cloud credentials: %w", err),
			"name a key file in GOOGLE_APPLICATION_CREDENTIALS, or run: gcloud auth application-default login")
	}
	g := &googleAccount{source: file}
	if err := json.Unmarshal(text, &g.account); err != nil {
		return nil, fmt.Errorf("read %s: not JSON", file) // The decoder's error may show a key.
	}
	switch g.account.Type {
	case "service_account":
		_, err := g.account.key()
		return g, err
	case "authorized_user":
		return g, nil
	}
	return nil, deem.WithHint(fmt.Errorf("read %s: credentials of type %q are not supported", file, g.account.Type),
		"use those of a service account, or set GOOGLE_ACCESS_TOKEN=$(gcloud auth print-access-token)")
}

// Authorize adds a token to a call, a new one if the last has expired.
func (g *googleAccount) Authorize(r *http.Request, _ []byte) (secret string, err error) {
	token, err := g.Token(r.Context())
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if g.account.QuotaProject != "" {
		r.Header.Set("X-Goog-User-Project", g.account.QuotaProject)
	}
	return token, nil
}

// Token returns a token that is valid for at least a minute. Transient errors are marked,
// so that the call is retried.
func (g *googleAccount) Token(ctx context.Context) (string, error) {
	now := time.Now
	if g.Now != nil {
		now = g.Now
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.token != "" && now().Add(time.Minute).Before(g.expires) {
		return g.token, nil
	}
	form := url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {g.account.RefreshToken},
		"client_id": {g.account.ClientID}, "client_secret": {g.account.ClientSecret},
	}
	if g.account.Type != "authorized_user" {
		assertion, err := g.account.assertion(now())
		if err != nil {
			return "", err
		}
		form = url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.account.tokenURI(), strings.NewReader(form.Encode()))
	if err != nil {
		return "", errors.New("the credentials have no usable token_uri")
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := cmp.Or(g.Client, http.DefaultClient).Do(r)
	if err != nil {
		return "", &deem.ModelError{Kind: deem.Provider, Passing: true, Err: errors.New("the token server of Google Cloud cannot be reached")}
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return "", &deem.ModelError{Kind: deem.Provider, Passing: true, Err: errors.New("the token server of Google Cloud broke off")}
	}
	var reply struct {
		Token       string `json:"access_token"`
		Seconds     int64  `json:"expires_in"`
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if json.Unmarshal(bytes.TrimSpace(text), &reply) == nil && resp.StatusCode == http.StatusOK && reply.Token != "" {
		g.token, g.expires = reply.Token, now().Add(time.Duration(cmp.Or(reply.Seconds, 3600))*time.Second)
		return g.token, nil
	}
	me := &deem.ModelError{Kind: deem.Provider, Status: resp.StatusCode, Passing: resp.StatusCode >= 500, Fatal: resp.StatusCode < 500}
	me.Err = deem.WithHint(fmt.Errorf("no token from Google Cloud: HTTP %d %s %s", resp.StatusCode, reply.Error, reply.Description), "check the credentials in %s", g.source)
	return "", me
}

func (a account) tokenURI() string { return cmp.Or(a.TokenURI, "https://oauth2.googleapis.com/token") }

// assertion returns a JSON Web Token that identifies the account, signed with RS256.
func (a account) assertion(now time.Time) (string, error) {
	key, err := a.key()
	if err != nil {
		return "", err
	}
	head, _ := json.Marshal(map[string]string{"alg": "RS256", "typ": "JWT", "kid": a.KeyID}) // strings can always be encoded
	claims, _ := json.Marshal(map[string]any{
		"iss": a.Email, "scope": scope, "aud": a.tokenURI(), "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	})
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), err
}

// key returns the private key of a service account.
func (a account) key() (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(a.PrivateKey))
	if block == nil {
		return nil, errors.New("the credentials have no private key in PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		parsed, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if err != nil || !ok {
		return nil, errors.New("the private key of the credentials is not an RSA key")
	}
	return key, nil
}
