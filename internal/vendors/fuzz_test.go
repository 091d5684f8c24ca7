package vendors_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deem/internal/vendors"
)

// FuzzEnvironment reads arbitrary .env files. An error names the line without quoting it,
// because it may be a key; and a plain NAME=value is read correctly, whatever surrounds it.
func FuzzEnvironment(f *testing.F) {
	for _, seed := range []string{"A=1", "export A = \"x y\" # c", "A='#'\r\nB=", "# c\n\n=x", "A=\"x", "A B=1", "\ufeffA=1", "A=1 # secret", "A==", "A='x'y"} {
		f.Add(seed)
	}
	name := regexp.MustCompile(`^[A-Z]+$`)
	value := regexp.MustCompile(`^[a-z0-9]+$`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(dir, ".env")
		const secret = "hunter2-0123"
		if err := os.WriteFile(file, []byte(text+secret), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := vendors.ReadEnvironment(file); err != nil && (strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), file)) {
			t.Errorf("the error of %q is %q", text, err)
		}
		k, v, _ := strings.Cut(text, "=")
		if !name.MatchString(k) || !value.MatchString(v) || os.Getenv(k) != "" {
			return
		}
		if err := os.WriteFile(file, []byte("X=1\n"+text+"\n#"), 0o600); err != nil {
			t.Fatal(err)
		}
		if e, err := vendors.ReadEnvironment(file); err != nil || e.Get(k) != v && k != "X" {
			t.Errorf("%q is read as %q, %v", text, e.Get(k), err)
		}
	})
}

// FuzzVendorOf checks that a model name is either split into an existing vendor and a name,
// or an error.
func FuzzVendorOf(f *testing.F) {
	for _, seed := range []string{"openai:gpt-4o", "openai:ft:x:y", ":x", "x:", "openai", "", "ollama:gpt-oss:20b", "OpenAI:x", "fake:yes"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, model string) {
		v, name, err := vendors.Environment{}.VendorOf(model)
		if err == nil && (name == "" || v.Name+":"+name != model) {
			t.Errorf("VendorOf(%q) = %q and %q", model, v.Name, name)
		}
	})
}
