//go:build unix

package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// An account is a user of the system.
type account struct{ uid, gid int }

// serverAccount returns the user that the server runs as, or nil for the current user
// unless that is root.
func serverAccount() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // No other process is needed.
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if uidErr == nil && gidErr == nil {
			return &account{uid, gid}, nil
		}
	}
	return nil, errors.New("root may not run Postgres, and there is neither a user postgres nor a user nobody")
}

// detach makes cmd run as the given user, in a separate session: signals of the terminal,
// such as Ctrl-C, do not reach it.
func detach(cmd *exec.Cmd, u *account) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if u != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(u.uid), Gid: uint32(u.gid)} //nolint:gosec // Ids are small.
	}
}

// A guard is a process that waits until this one has ended, in whatever way, and then stops
// the server and removes its folder. It notices by a pipe of which only this process has
// the other end.
type guard struct {
	cmd  *exec.Cmd
	hold io.Closer
}

// watch is the script of a guard. The server belongs to the same user, and pg_ctl finds it
// by the pid file in the server's own folder, so that it cannot stop another server.
const watch = `cat >/dev/null
"$1" stop -s -m immediate -w -D "$2/data" >/dev/null 2>&1
cd / && rm -rf "$2"`

func newGuard(c *Cluster) (*guard, error) {
	// It must outlive every context.
	cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", watch, "storetest-guard", filepath.Join(c.bin, "pg_ctl"), c.folder) //nolint:gosec // Our own script.
	detach(cmd, c.user)
	hold, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start guard: %w", err)
	}
	return &guard{cmd, hold}, nil
}

// end makes the guard clean up now, and waits for it.
func (g *guard) end() error {
	return errors.Join(g.hold.Close(), g.cmd.Wait())
}
