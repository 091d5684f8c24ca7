package vendors

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/model/bedrock"
)

// The signatures are from the test suite that AWS published for Signature Version 4.
func TestSignatureVectors(t *testing.T) {
	const session = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="
	for _, tt := range []struct{ name, method, url, contentType, body, session, want string }{
		{"get-vanilla", "GET", "https://example.amazonaws.com/", "", "", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"get-vanilla-query-order-key-case", "GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", "", "", "", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{"post-vanilla", "POST", "https://example.amazonaws.com/", "", "", "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{"post-x-www-form-urlencoded", "POST", "https://example.amazonaws.com/", "application/x-www-form-urlencoded", "Param1=value1", "", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
		{"post-sts-header-before", "POST", "https://example.amazonaws.com/", "", "", session, "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
	} {
		r, err := http.NewRequest(tt.method, tt.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.contentType != "" {
			r.Header.Set("Content-Type", tt.contentType)
		}
		a := awsSigner{
			Key: "AKIDEXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Session: tt.session, Region: "us-east-1", Service: "service",
			Now: func() time.Time { return time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC) },
		}
		if _, err := a.Authorize(r, []byte(tt.body)); err != nil {
			t.Fatal(err)
		}
		if got := r.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+tt.want) {
			t.Errorf("%s: %s, want signature %s", tt.name, got, tt.want)
		}
	}
}

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestFindAWS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".aws", "credentials"), "[default]\naws_access_key_id = AKDEFAULT\naws_secret_access_key=s1\n\n[work]\n# a comment = no\naws_access_key_id=AKWORK\naws_secret_access_key=s2\naws_session_token=tok\n")
	write(t, filepath.Join(dir, ".aws", "config"), "[default]\nregion=eu-west-1\n[profile work]\nregion = us-west-2\n")
	for _, tt := range []struct {
		env  map[string]string
		want awsSigner
	}{
		{map[string]string{"HOME": dir}, awsSigner{Key: "AKDEFAULT", Secret: "s1", Region: "eu-west-1", Service: "bedrock"}},
		{map[string]string{"HOME": dir, "AWS_PROFILE": "work"}, awsSigner{Key: "AKWORK", Secret: "s2", Session: "tok", Region: "us-west-2", Service: "bedrock"}},
		{map[string]string{"HOME": dir, "AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "r"}, awsSigner{Key: "AK", Secret: "s", Region: "r", Service: "bedrock"}},
	} {
		got, err := findAWS(environment(tt.env))
		if err != nil || got.Key != tt.want.Key || got.Secret != tt.want.Secret || got.Session != tt.want.Session || got.Region != tt.want.Region {
			t.Errorf("%v: key %s, session %q, region %s, %v", tt.env, got.Key, got.Session, got.Region, err)
		}
	}
	if _, err := findAWS(environment(map[string]string{"HOME": t.TempDir()})); err == nil || !strings.Contains(deem.HintOf(err), "AWS_ACCESS_KEY_ID") {
		t.Errorf("without credentials: %v", err)
	}
	if text := fmt.Sprintf("%v %+v %#v", awsSigner{Secret: "hush"}, awsSigner{Secret: "hush"}, awsSigner{Secret: "hush"}); strings.Contains(text, "hush") {
		t.Errorf("printed as %s", text)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A service account exchanges a signed assertion for a token, which is used until a minute
// before it expires.
func TestServiceAccount(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if got := r.FormValue("grant_type"); got != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
			t.Errorf("grant_type %q", got)
		}
		parts := strings.Split(r.FormValue("assertion"), ".")
		sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
		signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
		if err := rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], signature); err != nil {
			t.Errorf("the signature does not hold: %v", err)
		}
		text, _ := base64.RawURLEncoding.DecodeString(parts[1])
		var claims map[string]any
		if err := json.Unmarshal(text, &claims); err != nil || claims["iss"] != "judge@example.test" || claims["scope"] != "https://www.googleapis.com/auth/cloud-platform" {
			t.Errorf("claims %s", text)
		}
		fmt.Fprintf(w, `{"access_token": "token-%d", "expires_in": 3599, "token_type": "Bearer"}`, asked)
	}))
	t.Cleanup(srv.Close)
	file := filepath.Join(t.TempDir(), "key.json")
	text, _ := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "p1", "client_email": "judge@example.test", "private_key_id": "k1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": srv.URL,
	})
	write(t, file, string(text))
	g, err := findGoogle(environment(map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": file}))
	if err != nil || g.account.Email == "" {
		t.Fatal(g, err)
	}
	now := time.Now()
	g.Now = func() time.Time { return now }
	for _, tt := range []struct {
		after time.Duration
		want  string
	}{{0, "token-1"}, {58 * time.Minute, "token-1"}, {59 * time.Minute, "token-2"}} {
		now = now.Add(tt.after)
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		if secret, err := g.Authorize(r, nil); err != nil || secret != tt.want || r.Header.Get("Authorization") != "Bearer "+tt.want {
			t.Errorf("after %v: %q, %v", tt.after, r.Header.Get("Authorization"), err)
		}
		now = now.Add(-tt.after)
	}
}

// The credentials of a signed-in person are refreshed, and the error of a refusal contains
// no secrets.
func TestAuthorizedUser(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("refresh_token") != "refresh-hush" || r.FormValue("client_secret") != "client-hush" {
			t.Errorf("form %v", r.Form)
		}
		w.WriteHeader(status)
		if status == http.StatusOK {
			fmt.Fprint(w, `{"access_token": "tok", "expires_in": 1}`)
			return
		}
		fmt.Fprint(w, `{"error": "invalid_grant", "error_description": "Token has been expired or revoked."}`)
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "application_default_credentials.json"), `{"type":"authorized_user","client_id":"c","client_secret":"client-hush","refresh_token":"refresh-hush","quota_project_id":"q","token_uri":"`+srv.URL+`"}`)
	g, err := findGoogle(environment(map[string]string{"CLOUDSDK_CONFIG": dir}))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	if _, err := g.Authorize(r, nil); err != nil || r.Header.Get("X-Goog-User-Project") != "q" {
		t.Errorf("%v, %v", r.Header, err)
	}
	status = http.StatusBadRequest
	_, err = g.Token(t.Context())
	if err == nil || !strings.Contains(err.Error(), "invalid_grant") || strings.Contains(err.Error(), "hush") {
		t.Errorf("a revoked token: %v", err)
	}
	if text := fmt.Sprintf("%v %+v %#v", g, g, g); strings.Contains(text, "hush") {
		t.Errorf("printed as %s", text)
	}
}

// A call without a key is signed. The secret is not sent, and a session token that the
// server repeats is redacted.
func TestSigned(t *testing.T) {
	t.Parallel()
	a := awsSigner{Key: "AKIDEXAMPLE", Secret: "hush-hush-hush", Session: "session-token-1234567890", Region: "us-east-1", Service: "bedrock"}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got := r.Header.Get("Authorization")
		again := r.Clone(r.Context())
		again.Header = http.Header{"Content-Type": r.Header["Content-Type"]}
		at, _ := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		b := a
		b.Now = func() time.Time { return at }
		if _, err := b.Authorize(again, body); err != nil || again.Header.Get("Authorization") != got {
			t.Errorf("signed as %s, want %s", got, again.Header.Get("Authorization"))
		}
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": "not for " + a.Session})
	}))
	t.Cleanup(srv.Close)
	m, err := bedrock.New(bedrock.Options{Model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0", BaseURL: srv.URL, Authorize: a.Authorize})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.(io.Closer).Close() }()
	_, err = m.Complete(t.Context(), deem.Prompt("Is it so?"))
	if err == nil || strings.Contains(err.Error(), a.Session) || strings.Contains(err.Error(), a.Secret) {
		t.Errorf("error %v", err)
	}
}
