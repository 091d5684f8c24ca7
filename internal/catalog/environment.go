package catalog

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

// An Environment is the process's environment, and behind it what a file .env
// says. Keys come from here and from nowhere else.
type Environment struct {
	file      map[string]string
	providers []Vendor // of the user
}

// With returns the environment with further providers.
func (e Environment) With(providers []Vendor) Environment {
	e.providers = providers
	return e
}

// Get returns the value of a variable, "" when it is not set. What the process was
// given goes before the file.
func (e Environment) Get(name string) string {
	if v, ok := os.LookupEnv(name); ok {
		return v
	}
	return e.file[name]
}

// envLine is NAME=value, with an optional "export" as shells have it.
var envLine = regexp.MustCompile(`^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$`)

// ReadEnvironment reads a .env file if there is one.
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
			// The line itself is not shown: it may hold a key.
			return e, &deem.Problems{Total: 1, List: []deem.Problem{{File: name, Line: n, Message: "not of the form NAME=value"}}}
		}
		e.file[m[1]] = unquote(m[2])
	}
	if err := lines.Err(); err != nil {
		return e, fmt.Errorf("read %s: %w", name, err)
	}
	return e, nil
}

// unquote takes the quotes off a value, or a comment behind a bare one.
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
