//go:build ignore

// Gen writes jieba/jieba.bin.gz, the data of jieba 0.42.1: the words of its dict.txt with their
// frequencies, and the emission table of its hidden Markov model. Its argument is the
// folder of an installed jieba:
//
//	go run jieba_gen.go /usr/lib/python3/dist-packages/jieba
//
// jieba_load.go reads the file.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"log"
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run jieba_gen.go FOLDER")
	}
	var out bytes.Buffer
	writeWords(&out, readWords(filepath.Join(os.Args[1], "dict.txt")))
	writeEmissions(&out, readEmissions(filepath.Join(os.Args[1], "finalseg", "prob_emit.py")))
	var zipped bytes.Buffer
	zw, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	check(err)
	_, err = zw.Write(out.Bytes())
	check(err)
	check(zw.Close())
	check(os.WriteFile("jieba/jieba.bin.gz", zipped.Bytes(), 0o644))
	fmt.Printf("%d bytes, %d compressed\n", out.Len(), zipped.Len())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// readWords returns the frequency of each word, the last one if a word occurs twice, and
// under "" the sum over all lines.
func readWords(name string) map[string]int {
	f, err := os.Open(name)
	check(err)
	defer f.Close()
	words := map[string]int{}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		parts := strings.Split(strings.TrimSpace(sc.Text()), " ")
		n, err := strconv.Atoi(parts[1])
		check(err)
		words[parts[0]] = n
		words[""] += n
	}
	check(sc.Err())
	return words
}

// writeWords writes the logarithm of the total, the distinct frequencies with their
// logarithms, and the sorted words: the number of bytes shared with the previous word, the
// rest of the word, and the index of its frequency.
func writeWords(out *bytes.Buffer, words map[string]int) {
	total := words[""]
	delete(words, "")
	freqs := slices.Compact(slices.Sorted(maps.Values(words)))
	float(out, logarithm(total))
	uvarint(out, len(freqs))
	for _, n := range freqs {
		uvarint(out, n)
		float(out, logarithm(n))
	}
	uvarint(out, len(words))
	var shared, lengths, rest, classes bytes.Buffer
	before := ""
	for _, w := range slices.Sorted(maps.Keys(words)) {
		n := 0
		for n < min(len(w), len(before)) && w[n] == before[n] {
			n++
		}
		uvarint(&shared, n)
		uvarint(&lengths, len(w)-n)
		rest.WriteString(w[n:])
		i, _ := slices.BinarySearch(freqs, words[w])
		uvarint(&classes, i)
		before = w
	}
	// Separate columns compress better than word by word.
	for _, b := range []*bytes.Buffer{&shared, &lengths, &rest, &classes} {
		uvarint(out, b.Len())
		out.Write(b.Bytes())
	}
}

// logarithm returns the correctly rounded natural logarithm of n, which is the result of
// the C library for every number here. Go's own may differ in the last bit, and then in the
// choice between two equally likely paths.
func logarithm(n int) float64 {
	if n <= 1 {
		return 0 // jieba reads a frequency of zero as one.
	}
	e := big.NewFloat(float64(n)).MantExp(nil)
	x := new(big.Float).SetPrec(200).SetMantExp(big.NewFloat(float64(n)), -e)
	sum := atanhSeries(x)
	ln2 := atanhSeries(big.NewFloat(2).SetPrec(200))
	sum.Add(sum, ln2.Mul(ln2, big.NewFloat(float64(e))))
	f, _ := sum.Float64()
	if math.Abs(f-math.Log(float64(n))) > 1e-14*f {
		log.Fatalf("log(%d) = %v", n, f)
	}
	return f
}

// atanhSeries returns log(x) as 2 artanh((x-1)/(x+1)).
func atanhSeries(x *big.Float) *big.Float {
	newFloat := func() *big.Float { return new(big.Float).SetPrec(200) }
	one := big.NewFloat(1)
	z := newFloat().Quo(newFloat().Sub(x, one), newFloat().Add(x, one))
	square := newFloat().Mul(z, z)
	sum, power := newFloat(), newFloat().Set(z)
	for k := 1; k < 300; k += 2 {
		sum.Add(sum, newFloat().Quo(power, big.NewFloat(float64(k))))
		power.Mul(power, square)
	}
	return sum.Mul(sum, big.NewFloat(2))
}

// readEmissions returns the log-probability of each character in each of the states
// B, E, M and S.
func readEmissions(name string) map[string]map[rune]float64 {
	src, err := os.ReadFile(name)
	check(err)
	state := regexp.MustCompile(`'([BEMS])': \{`)
	entry := regexp.MustCompile(`'\\u([0-9a-f]{4})': (-[0-9.e+-]+)`)
	table := map[string]map[rune]float64{}
	starts := state.FindAllSubmatchIndex(src, -1)
	for i, s := range starts {
		end := len(src)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		probs := map[rune]float64{}
		for _, m := range entry.FindAllSubmatch(src[s[1]:end], -1) {
			r, err := strconv.ParseUint(string(m[1]), 16, 32)
			check(err)
			probs[rune(r)], err = strconv.ParseFloat(string(m[2]), 64)
			check(err)
		}
		table[string(src[s[2]:s[3]])] = probs
	}
	if n := strings.Count(string(src), `'\u`); n != len(table["B"])+len(table["E"])+len(table["M"])+len(table["S"]) {
		log.Fatalf("%s: %d entries, not all read", name, n)
	}
	return table
}

// writeEmissions writes, for B, E, M and S in turn, the number of characters, the
// characters as differences from the previous one, and their log-probabilities.
func writeEmissions(out *bytes.Buffer, table map[string]map[rune]float64) {
	for _, s := range []string{"B", "E", "M", "S"} {
		chars := slices.Sorted(maps.Keys(table[s]))
		uvarint(out, len(chars))
		before := rune(0)
		for _, r := range chars {
			uvarint(out, int(r-before))
			before = r
		}
		for _, r := range chars {
			float(out, table[s][r])
		}
	}
}

func uvarint(out *bytes.Buffer, n int) {
	out.Write(binary.AppendUvarint(nil, uint64(n)))
}

func float(out *bytes.Buffer, f float64) {
	out.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)))
}
