//go:build ignore

// Gen writes vocabularies/*.gz, which hold the tokens of OpenAI's models in the order of
// their ranks. It takes them from a library that has them as Go source:
//
//	go run gen.go
//
// The layout is that which load.go reads: how many tokens there are and how long all of
// them are, the length of each in a byte, and the tokens one behind the other.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tiktoken-go/tokenizer/codec"
)

func main() {
	log.SetFlags(0)
	for _, c := range []*codec.Codec{codec.NewO200kBase(), codec.NewCl100kBase()} {
		packed := pack(c)
		check(os.WriteFile(filepath.Join("vocabularies", c.GetName()+".gz"), packed, 0o644))
		fmt.Printf("%s: %d bytes\n", c.GetName(), len(packed))
	}
}

// pack packs the tokens of c. Ranks have no gaps, so the first without a token is the
// number of tokens; the marks of the chat format come after a gap and are not text.
func pack(c *codec.Codec) []byte {
	var lengths, text []byte
	for {
		token, err := c.Decode([]uint{uint(len(lengths))})
		if err != nil {
			break
		}
		if len(token) > 255 {
			log.Fatalf("%s: a token has %d bytes", c.GetName(), len(token))
		}
		lengths = append(lengths, byte(len(token)))
		text = append(text, token...)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	check(err)
	check(binary.Write(w, binary.LittleEndian, []uint32{uint32(len(lengths)), uint32(len(text))}))
	for _, part := range [][]byte{lengths, text} {
		_, err = w.Write(part)
		check(err)
	}
	check(w.Close())
	return packed.Bytes()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
