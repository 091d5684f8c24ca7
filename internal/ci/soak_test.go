//go:build soak

package ci_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSoakRelease builds the release of all platforms, and again in a clone with another
// path and from an empty build cache, and compares every byte.
func TestSoakRelease(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DEEM_DOWNLOADS", "https://example.org") // or the folder would be in the formula
	release(t, root, filepath.Join(dir, "one"), "", "--version", "v0.1.0")
	clone := filepath.Join(dir, "another", "place")
	run(t, dir, nil, "git", "clone", "-q", root, clone)
	t.Setenv("GOCACHE", filepath.Join(dir, "cache"))
	release(t, clone, filepath.Join(dir, "two"), "", "--version", "v0.1.0")
	// Six archives, wheels and npm packages, the npm package deem, two .deb, two .rpm, the
	// formula, the list of parts and the checksums.
	same(t, filepath.Join(dir, "one"), filepath.Join(dir, "two"), 6+6+6+1+2+2+3)
	for _, name := range []string{"deem-0.1.0-windows-arm64.zip", "deem-0.1.0-darwin-arm64.tar.gz"} {
		if _, err := os.Stat(filepath.Join(dir, "one", name)); err != nil {
			t.Error(err)
		}
	}
}
