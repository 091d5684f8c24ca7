//go:build !unix

package storetest

import "os/exec"

type account struct{ uid, gid int }

func serverAccount() (*account, error) { return nil, errMissing }

func detach(*exec.Cmd, *account) {}

type guard struct{}

func newGuard(*Cluster) (*guard, error) { return nil, errMissing }

func (g *guard) end() error { return nil }
