package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"deem"
)

// A trouble is the meaning of a Postgres error code for the user, and what to do about it.
type trouble struct {
	says   string
	advice string
}

// troubles are by SQLSTATE, or by its class, which is the first two characters.
var troubles = map[string]trouble{
	"28": {
		"the server does not let you in",
		"check the user and the password; a password may come from the URL, PGPASSWORD or ~/.pgpass",
	},
	"3D": {
		"the server has no such database",
		"create it, as with `createdb`, or name another one with --db",
	},
	"42501": {
		"this user may not do that in the database",
		"let the user create a schema (GRANT CREATE ON DATABASE ...), or name one it owns with ?search_path= in the URL",
	},
	"53": {
		"the server lacks space, memory or connections",
		"free some and run the command again; everything committed so far is kept",
	},
	"57": {
		"the server is being shut down or started",
		"run the command again when it is up; everything committed so far is kept",
	},
	"08": {
		"the connection to the server broke",
		"run the command again when it is reachable; everything committed so far is kept",
	},
}

// unreachable is the trouble of errors that do not come from a server.
var unreachable = trouble{
	"the server cannot be reached",
	"check its address and that it is up; everything committed so far is kept",
}

// codeOf returns the SQLSTATE of a Postgres error, or "".
func codeOf(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// passing reports whether an error is transient: the server restarts, the connection broke,
// or two transactions conflicted.
func passing(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	switch code := codeOf(err); {
	case code == "":
		return broken(err)
	case strings.HasPrefix(code, "08"), strings.HasPrefix(code, "40"):
		return true // Connection broken; deadlock or serialization failure.
	default:
		// Shutdown, crash, starting up, idle session closed; too many connections;
		// the database is being copied.
		return slices.Contains([]string{"57P01", "57P02", "57P03", "57P05", "53300", "55006"}, code)
	}
}

// starting reports whether a server is there but not ready, which is worth waiting for even
// at the first contact. If a server cannot be reached then, its address is more likely
// misspelled than the server restarting.
func starting(err error) bool {
	code := codeOf(err)
	return code == "57P03" || code == "53300" || strings.HasPrefix(code, "40")
}

// broken reports whether a connection could not be made or was lost. A host name that does
// not resolve is not included: it is misspelled.
func broken(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return !dns.IsNotFound
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return codeOf(err) == ""
	}
	_, isNet := errors.AsType[net.Error](err)
	return isNet || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		strings.Contains(err.Error(), "conn closed") || pgconn.SafeToRetry(err)
}

// explain adds the operation, the store and the meaning of a Postgres error. An error that
// already has a hint keeps it.
func (s *Store) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	where := fmt.Sprintf("%s store %s", doing, s.path)
	err = inBrief(err)
	t := unreachable
	var ok bool
	if code := codeOf(err); code == "" {
		_, misspelt := errors.AsType[*net.DNSError](err)
		ok = (misspelt || broken(err)) && !errors.Is(err, context.Canceled)
	} else if t, ok = troubles[code]; !ok {
		t, ok = troubles[code[:min(2, len(code))]]
	}
	if ok && deem.HintOf(err) == "" {
		return deem.WithHint(fmt.Errorf("%s: %s: %w", where, t.says, err), "%s", t.advice)
	}
	return fmt.Errorf("%s: %w", where, err)
}

// A brief is an error with a shortened text.
type brief struct {
	text string
	error
}

func (b *brief) Error() string { return b.text }

func (b *brief) Unwrap() error { return b.error }

// inBrief shortens an error of pgconn to one line. It has one line for each address, with
// and without TLS, below one that repeats the value of --db.
func inBrief(err error) error {
	head, rest, ok := strings.Cut(err.Error(), ":\n")
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); !ok || !connecting {
		return err
	}
	var causes []string
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		if _, cause, ok := strings.Cut(line, ": dial error: "); ok {
			line = cause
		}
		if line != "" && !slices.Contains(causes, line) {
			causes = append(causes, line)
		}
	}
	if len(causes) == 0 {
		causes = []string{head}
	}
	return &brief{strings.Join(causes, "; "), err}
}
