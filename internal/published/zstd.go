package published

import (
	"archive/zip"

	"github.com/klauspost/compress/zstd"
)

// registerZstd lets an archive hold entries that are packed with zstd, as newer logs
// of inspect do. The standard library knows only deflate.
func registerZstd(r *zip.Reader) {
	r.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderMaxMemory(maxEntry), zstd.WithDecoderConcurrency(1)))
}
