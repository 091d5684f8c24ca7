package faultserver

import (
	"bytes"
	"sync"
)

// An Output collects the output of a process. Tests that start deem against a [Server] read it
// while the process writes.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds output.
func (s *Output) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// String returns the output so far.
func (s *Output) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
