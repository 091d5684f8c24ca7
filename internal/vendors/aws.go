package vendors

import (
	"bufio"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deem"
	"deem/internal/words"
)

// Calls to AWS are signed by Signature Version 4, and calls to Google Cloud have tokens. The
// official SDKs do the same and much more. They are not used because of their size: each adds
// some twenty modules to a program that needs a hundred lines of them.

// An awsSigner signs calls to Amazon Web Services.
type awsSigner struct {
	words.Hidden
	Key, Secret string
	Session     string // of temporary credentials; "" for others
	Region      string
	Service     string // its name in signatures, for example "bedrock"

	Now func() time.Time // nil means [time.Now]
}

// findAWS finds credentials where the AWS tools look first: in the variables
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, then in the file
// ~/.aws/credentials under the profile in AWS_PROFILE. The region comes from AWS_REGION or
// AWS_DEFAULT_REGION, or from the profile in ~/.aws/config.
func findAWS(get func(variable string) string) (awsSigner, error) {
	profile := cmp.Or(get("AWS_PROFILE"), "default")
	credentials := cmp.Or(get("AWS_SHARED_CREDENTIALS_FILE"), filepath.Join(home(get), ".aws", "credentials"))
	config := cmp.Or(get("AWS_CONFIG_FILE"), filepath.Join(home(get), ".aws", "config"))
	a := awsSigner{
		Key: get("AWS_ACCESS_KEY_ID"), Secret: get("AWS_SECRET_ACCESS_KEY"), Session: get("AWS_SESSION_TOKEN"),
		Region: cmp.Or(get("AWS_REGION"), get("AWS_DEFAULT_REGION")), Service: "bedrock",
	}
	if a.Key == "" {
		p := section(credentials, profile)
		a.Key, a.Secret, a.Session = p["aws_access_key_id"], p["aws_secret_access_key"], p["aws_session_token"]
	}
	if a.Region == "" {
		// Profiles other than the default are named "profile NAME" in this file.
		a.Region = cmp.Or(section(config, profile)["region"], section(config, "profile "+profile)["region"])
	}
	switch {
	case a.Key == "" || a.Secret == "":
		return awsSigner{}, deem.WithHint(errors.New("no AWS credentials"),
			"set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE for a profile in %s; for a profile that signs in elsewhere, run: eval \"$(aws configure export-credentials --format env)\"", credentials)
	case a.Region == "":
		return awsSigner{}, deem.WithHint(errors.New("no AWS region"), "set AWS_REGION, as in AWS_REGION=us-east-1")
	}
	return a, nil
}

func home(get func(string) string) string { return cmp.Or(get("HOME"), get("USERPROFILE"), ".") }

// section returns the settings of one section of an INI file, or none if the file or
// section does not exist.
func section(file, name string) map[string]string {
	f, err := os.Open(file) //nolint:gosec // The user names it.
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	settings, inside := map[string]string{}, false
	for lines := bufio.NewScanner(io.LimitReader(f, 1<<20)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if head, ok := strings.CutPrefix(line, "["); ok {
			inside = strings.TrimSpace(strings.TrimSuffix(head, "]")) == name
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && inside && !strings.HasPrefix(line, "#") {
			settings[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return settings
}

// Authorize signs a call with Signature Version 4. The returned secret is the session
// token, the only secret that is sent.
func (a awsSigner) Authorize(r *http.Request, body []byte) (secret string, err error) {
	now := time.Now
	if a.Now != nil {
		now = a.Now
	}
	stamp := now().UTC().Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", stamp)
	if a.Session != "" {
		r.Header.Set("X-Amz-Security-Token", a.Session)
	}
	// Only the required headers are signed: proxies may change the others.
	values := map[string]string{"host": cmp.Or(r.Host, r.URL.Host)}
	for name, list := range r.Header {
		name = strings.ToLower(name)
		if name != "content-type" && !strings.HasPrefix(name, "x-amz-") {
			continue
		}
		trimmed := make([]string, len(list))
		for i, v := range list {
			trimmed[i] = strings.Join(strings.Fields(v), " ")
		}
		values[name] = strings.Join(trimmed, ",")
	}
	names := slices.Sorted(maps.Keys(values))
	signed, headers := strings.Join(names, ";"), ""
	for _, name := range names {
		headers += name + ":" + values[name] + "\n"
	}
	// Each segment of the sent path is escaped once more, as all services except S3 require.
	path := strings.Split(cmp.Or(r.URL.EscapedPath(), "/"), "/")
	for i, segment := range path {
		path[i] = escape(segment)
	}
	var query []string
	for name, values := range r.URL.Query() {
		for _, v := range values {
			query = append(query, escape(name)+"="+escape(v))
		}
	}
	slices.Sort(query)
	request := strings.Join([]string{r.Method, strings.Join(path, "/"), strings.Join(query, "&"), headers, signed, hexHash(body)}, "\n")
	scope := strings.Join([]string{stamp[:8], a.Region, a.Service, "aws4_request"}, "/")
	text := strings.Join([]string{"AWS4-HMAC-SHA256", stamp, scope, hexHash([]byte(request))}, "\n")
	key := []byte("AWS4" + a.Secret)
	for _, part := range append(strings.Split(scope, "/"), text) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s", a.Key, scope, signed, hex.EncodeToString(key)))
	return a.Session, nil
}

// escape escapes all bytes except the unreserved characters of RFC 3986.
func escape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

func hexHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
