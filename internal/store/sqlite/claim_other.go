//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package sqlite

import "os"

// flock does nothing where there is no lock that dies with its process. Two
// processes that judge one run there pay for some items twice, but the database
// keeps one record of each.
func flock(*os.File) error { return nil }
