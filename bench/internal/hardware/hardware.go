// Package hardware says what a benchmark was measured on.
package hardware

import (
	"bufio"
	"os"
	"strings"
)

// Processor returns the name of the processor where the system tells it.
func Processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unnamed"
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unnamed"
}
