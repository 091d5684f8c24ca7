// Package flock locks files, with locks that die with their process.
package flock

import "errors"

// ErrLocked means that somebody else holds the lock.
var ErrLocked = errors.New("locked by another process")
