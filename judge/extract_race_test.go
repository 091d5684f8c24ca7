//go:build race

package judge

// The race detector makes everything ten times slower, and it is not run to measure time.
func init() { slowdown = 16 }
