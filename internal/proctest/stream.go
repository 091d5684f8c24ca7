// Package proctest is for tests that start deem as a process.
package proctest

import (
	"bytes"
	"sync"
)

// A Stream is what a process wrote so far. It can be read while the process writes.
type Stream struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write takes what the process writes.
func (s *Stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// String returns all of it.
func (s *Stream) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
