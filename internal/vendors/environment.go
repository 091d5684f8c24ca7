package vendors

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"deem"
)

// An Environment is the process environment, with the file .env as a fallback. It is the
// only source of API keys.
type Environment struct {
	file      map[string]string
	providers []Vendor // of the user
}

// With returns the environment with additional providers.
func (e Environment) With(providers []Vendor) Environment {
	e.providers = providers
	return e
}

// Get returns the value of a variable, or "". The process environment takes precedence over
// the file.
func (e Environment) Get(name string) string {
	if v, ok := os.LookupEnv(name); ok {
		return v
	}
	return e.file[name]
}

// envLine matches NAME=value, with an optional "export" as in shells.
var envLine = regexp.MustCompile(`^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$`)

// ReadEnvironment reads a .env file if it exists.
func ReadEnvironment(name string) (Environment, error) {
	e := Environment{file: map[string]string{}}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return e, err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := envLine.FindStringSubmatch(line)
		if m == nil {
			// The line itself is not shown, because it may contain a key.
			return e, &deem.Problems{Total: 1, List: []deem.Problem{{File: name, Line: n, Message: "not of the form NAME=value"}}}
		}
		e.file[m[1]] = unquote(m[2])
	}
	if err := lines.Err(); err != nil {
		return e, fmt.Errorf("read %s: %w", name, err)
	}
	return e, nil
}

// unquote removes the quotes around a value, or the comment after an unquoted one.
func unquote(v string) string {
	for _, q := range []string{`"`, `'`} {
		if strings.HasPrefix(v, q) {
			if end := strings.Index(v[1:], q); end >= 0 {
				return v[1 : 1+end]
			}
		}
	}
	v, _, _ = strings.Cut(v, " #")
	return strings.TrimSpace(v)
}
