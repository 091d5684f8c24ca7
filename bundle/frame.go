package bundle

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A frameCheck follows the Zstandard frame of a bundle from block to block (RFC 8878,
// section 3.1.1). A decoder ignores skippable frames and reads several frames as one, so a
// signed file could contain unsigned bytes. There must be exactly one frame that contains
// all bytes.
type frameCheck struct {
	head     []byte // the beginning of a header: of the frame, then of a block
	skip     int    // bytes that are left to the decoder
	blocks   bool   // the header of the frame was read
	checksum bool   // four bytes follow the last block
	ended    bool
}

// add checks the next bytes.
func (f *frameCheck) add(p []byte) error {
	for len(p) > 0 {
		if f.skip > 0 {
			n := min(f.skip, len(p))
			f.skip, p = f.skip-n, p[n:]
			continue
		}
		if f.ended {
			return fmt.Errorf("%w: bytes stand behind the end of its Zstandard frame", ErrDamaged)
		}
		f.head, p = append(f.head, p[0]), p[1:]
		if !f.blocks {
			var h zstd.Header
			switch err := h.Decode(f.head); {
			case errors.Is(err, io.ErrUnexpectedEOF):
				continue
			case err != nil:
				return fmt.Errorf("%w: its Zstandard frame: %w", ErrDamaged, err)
			case h.Skippable:
				return fmt.Errorf("%w: it holds a skippable Zstandard frame, whose bytes belong to nothing", ErrDamaged)
			}
			f.head, f.blocks, f.checksum = f.head[:0], true, h.HasCheckSum
			continue
		}
		if len(f.head) < 3 {
			continue
		}
		block := int(f.head[0]) | int(f.head[1])<<8 | int(f.head[2])<<16
		last, kind, size := block&1 == 1, block>>1&3, block>>3
		if kind == 1 { // one byte, repeated size times
			if size == 0 {
				return fmt.Errorf("%w: its Zstandard frame repeats a byte 0 times", ErrDamaged)
			}
			size = 1
		}
		f.head, f.skip, f.ended = f.head[:0], size, last
		if last && f.checksum {
			f.skip += 4
		}
	}
	return nil
}
