//go:build unix

package command

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the process a group of its own, so that Ctrl-C stops deem and not the
// program in the middle of an item, and so that what it started can be ended with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
