//go:build !unix

package sqlite_test

import "time"

// cpuTime is unknown here.
func cpuTime() time.Duration { return 0 }
