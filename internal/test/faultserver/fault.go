package faultserver

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// A Fault is a way in which an answer fails.
type Fault string

// The faults. Their order is the order in which shares are laid out, and so part of the
// meaning of a seed.
const (
	Busy        Fault = "busy"        // 429 with a Retry-After, as if there were too many calls
	Unavailable Fault = "unavailable" // 500, 502, 503 or 529
	Reset       Fault = "reset"       // the connection is reset before the answer
	Slow        Fault = "slow"        // the body arrives slowly, but completely
	Malformed   Fault = "malformed"   // a body that is not JSON
	Truncated   Fault = "truncated"   // the connection breaks in the middle of the body
	WrongType   Fault = "wrong_type"  // a web page with status 200
	NoChoices   Fault = "no_choices"  // JSON without a reply in it
	Filtered    Fault = "filtered"    // a reply that a content filter stopped
	CutShort    Fault = "cut_short"   // a reply truncated at its token limit
)

// Faults returns every fault.
func Faults() []Fault {
	return []Fault{Busy, Unavailable, Reset, Slow, Malformed, Truncated, WrongType, NoChoices, Filtered, CutShort}
}

// answered reports whether a caller gets a complete answer in spite of the fault, which a
// vendor charges for.
func (f Fault) answered() bool {
	return f == "" || f == Slow || f == Filtered || f == CutShort
}

// A share is a fault with the end of its interval in 0 to 1.
type share struct {
	fault Fault
	upTo  float64
}

// sharesOf lays the shares end to end. It panics on invalid shares, which are a mistake in
// a test.
func sharesOf(faults map[Fault]float64) []share {
	var list []share
	sum := 0.0
	for _, f := range Faults() {
		if p, ok := faults[f]; ok {
			sum += p
			list = append(list, share{f, sum})
			if p < 0 || math.IsNaN(p) {
				panic(fmt.Sprintf("faultserver: the share of %s is %v", f, p))
			}
		}
	}
	for f := range faults {
		if !slices.Contains(Faults(), f) {
			panic(fmt.Sprintf("faultserver: no fault %q", f))
		}
	}
	if sum > 1+1e-9 {
		panic(fmt.Sprintf("faultserver: the shares of faults sum to %v", sum))
	}
	return list
}

// A digest is a prefix of a SHA-256: enough to distinguish requests.
type digest [16]byte

func digestOf(text []byte) digest {
	sum := sha256.Sum256(text)
	return digest(sum[:16])
}

// An outcome is what happens to one attempt.
type outcome struct {
	fault Fault
	draw  uint64 // further randomness: which status, how much jitter
}

// outcomeOf returns the outcome of an attempt, from 0, of the request with the given digest.
func (s *Server) outcomeOf(d digest, attempt int) outcome {
	var seed [len(d) + 16]byte
	copy(seed[:], d[:])
	binary.LittleEndian.PutUint64(seed[len(d):], s.opts.Seed)
	binary.LittleEndian.PutUint64(seed[len(d)+8:], uint64(attempt)) //nolint:gosec // a count
	sum := sha256.Sum256(seed[:])
	outcome := outcome{draw: binary.LittleEndian.Uint64(sum[8:])}
	at := unit(binary.LittleEndian.Uint64(sum[:8]))
	for _, sh := range s.shares {
		if at < sh.upTo {
			outcome.fault = sh.fault
			break
		}
	}
	return outcome
}

// unit maps 64 random bits to a number from 0 up to 1.
func unit(bits uint64) float64 { return float64(bits>>11) / (1 << 53) }

// statuses are the statuses of vendors that are unavailable.
var statuses = []int{500, 502, 503, 529}
