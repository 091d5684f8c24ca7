//go:build !linux

package main

// pin does nothing where the system does not let a program choose its processor.
func pin() {}
