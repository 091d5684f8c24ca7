//go:build !js

// Verifier works in a browser only; here it says so.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "verifier: this program is for browsers: make verifier builds it for WebAssembly")
	os.Exit(2)
}
