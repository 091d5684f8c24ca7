package main

import "testing"

func TestLastProcessor(t *testing.T) {
	for _, tt := range []struct{ of, want processorSet }{
		{processorSet{0b11}, processorSet{0b10}},
		{processorSet{0b1}, processorSet{0b1}},
		{processorSet{1 << 63, 0b0110}, processorSet{0, 0b0100}},
		{processorSet{}, processorSet{}},
	} {
		if got := tt.of.last(); got != tt.want {
			t.Errorf("last of %b = %b, want %b", tt.of, got, tt.want)
		}
	}
}
