package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deem"
)

// minSecret is the minimum length of a text that is redacted in errors. Shorter ones are
// placeholders, and would redact ordinary words.
const minSecret = 6

// redacted replaces a secret.
const redacted = "[redacted]"

// A redactor removes secrets from texts.
type redactor struct {
	errors *strings.Replacer // replaces all secrets

	// Replies are evidence, so only text that is hardly an ordinary word is replaced in
	// them.
	forms []string // the spellings to look for
	reply *strings.Replacer
}

// secretName matches the names of headers that contain secrets.
var secretName = regexp.MustCompile(`(?i)auth|key|token|secret|cookie|password|credential|session`)

// newRedactor returns a redactor for all secrets in the options: the key, the values of the
// headers, the passwords of the base URL and the proxy, and the query of the base URL.
func newRedactor(o Options, proxy *url.URL) redactor {
	secrets := []string{o.Key}
	if user := o.Base.url.User; user != nil { // The password, plain and as it is sent.
		password, _ := user.Password()
		secrets = append(secrets, password, strings.TrimPrefix(o.Base.basicAuth(), "Basic "))
	}
	for name, values := range o.Base.Query() {
		if name != "api-version" {
			secrets = append(secrets, values...)
		}
	}
	if proxy != nil && proxy.User != nil {
		password, _ := proxy.User.Password()
		secrets = append(secrets, password)
	}
	certain := slices.Clone(secrets)
	for name, value := range o.Headers {
		values := []string{value, strings.TrimPrefix(value, "Bearer ")}
		secrets = append(secrets, values...)
		if secretName.MatchString(name) || len(value) >= 20 && !strings.Contains(value, " ") {
			certain = append(certain, values...)
		}
	}
	r := redactor{errors: replacer(spellings(secrets, func(s string) bool { return len(s) >= minSecret }))}
	r.forms = spellings(certain, certainSecret)
	r.reply = replacer(r.forms)
	return r
}

// secretVariable matches the names of environment variables that contain secrets.
var secretVariable = regexp.MustCompile(`(?i)(key|token|secret|password|passwd|credentials?)$`)

// RedactEnv returns a function that removes the secrets in an environment from the output of
// a program that runs in it. Paths of files with secrets are not secret.
func RedactEnv(environ []string) func(text []byte) []byte {
	var secrets []string
	for _, variable := range environ {
		if name, value, _ := strings.Cut(variable, "="); secretVariable.MatchString(name) && !strings.HasPrefix(value, "/") {
			secrets = append(secrets, value)
		}
	}
	forms := spellings(secrets, certainSecret)
	return redactor{forms: forms, reply: replacer(forms)}.clean
}

// certainSecret reports whether a text is hardly an ordinary word.
func certainSecret(s string) bool {
	return len(s) >= 8 || len(s) >= minSecret && strings.ContainsAny(s, "0123456789")
}

// spellings returns the spellings in which the secrets accepted by fit may appear in an
// answer: plain, in a URL, in JSON, in JSON within JSON, and in Base64.
func spellings(secrets []string, fit func(string) bool) []string {
	var forms []string
	for _, s := range secrets {
		if !fit(s) {
			continue
		}
		quoted := inJSON(s)
		query, path := url.QueryEscape(s), url.PathEscape(s)
		forms = append(forms, s, query, path, lowerHex(query), lowerHex(path), quoted, inJSON(quoted))
		for offset := range 3 {
			forms = append(forms, inBase64(s, offset, base64.RawStdEncoding), inBase64(s, offset, base64.RawURLEncoding))
		}
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// replacer replaces the forms. If a form is a prefix of another, the longer goes first.
func replacer(forms []string) *strings.Replacer {
	var pairs []string
	for _, form := range slices.Backward(forms) {
		pairs = append(pairs, form, redacted)
	}
	return strings.NewReplacer(pairs...)
}

// inJSON returns s as it appears in a JSON text: servers quote what they were sent.
func inJSON(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // Every string can be encoded.
	}
	return string(text[1 : len(text)-1])
}

// percent matches an escaped byte in a URL.
var percent = regexp.MustCompile(`%[0-9A-F]{2}`)

// lowerHex writes the escapes of a URL in lower case, as some servers do.
func lowerHex(s string) string { return percent.ReplaceAllStringFunc(s, strings.ToLower) }

// inBase64 returns the part of any Base64 text that represents s, if s begins there at a
// byte index with the given remainder modulo three. The characters at both ends are
// omitted, since they also depend on the text around s.
func inBase64(s string, offset int, enc *base64.Encoding) string {
	text := enc.EncodeToString(append(make([]byte, offset), s...))
	return text[(8*offset+5)/6 : 8*(offset+len(s))/6]
}

// redact returns the text of an error without the secrets.
func (r redactor) redact(s string) string { return r.errors.Replace(s) }

// clean returns a server's answer without the secrets. It is the only place where an answer
// enters the program, so stored, recorded, exported and logged text has no secrets either.
// See [Client.Clean] for secrets that are complete only once the answer is decoded.
func (r redactor) clean(text []byte) []byte {
	if len(r.forms) == 0 {
		return text
	}
	text = plain(text)
	if !r.containsSecret(text) {
		return text
	}
	return []byte(r.reply.Replace(string(text)))
}

func (r redactor) containsSecret(text []byte) bool {
	return slices.ContainsFunc(r.forms, func(form string) bool { return bytes.Contains(text, []byte(form)) })
}

// Clean returns a reply without secrets that were spread over parts of the answer. Tokens
// that spell a secret are dropped together with their log-probabilities.
func (c *Client) Clean(reply deem.Reply) deem.Reply {
	for _, text := range []*string{&reply.Text, &reply.Refusal} {
		if slices.ContainsFunc(c.secrets.forms, func(form string) bool { return strings.Contains(*text, form) }) {
			*text = c.secrets.reply.Replace(*text)
		}
	}
	var tokens []byte
	for _, t := range reply.Logprobs {
		tokens = append(tokens, t.Token...)
	}
	if c.secrets.containsSecret(tokens) {
		reply.Logprobs = nil
	}
	return reply
}

// plain replaces JSON escapes of ASCII characters by the characters, for example \/ by /
// and \u006b by k. A JSON parser sees the same text.
func plain(text []byte) []byte {
	if !bytes.Contains(text, []byte(`\/`)) && !bytes.Contains(text, []byte(`\u00`)) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		i++
		if text[i] == '/' {
			out = append(out, '/')
			continue
		}
		if text[i] == 'u' && i+4 < len(text) {
			c, err := strconv.ParseUint(string(text[i+1:i+5]), 16, 16)
			if err == nil && c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
				out = append(out, byte(c))
				i += 4
				continue
			}
		}
		out = append(out, '\\', text[i])
	}
	return out
}
