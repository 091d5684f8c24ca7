package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deem"
)

// Key returns the identity of the run: the SHA-256, in hexadecimal, over judge hash,
// dataset hash, model, endpoint and trials. Two specs with the same key are the same run.
func (s Spec) Key() string {
	h := sha256.New()
	for _, field := range []string{
		s.Judge.Hash, s.Dataset.Hash, s.Model, CleanEndpoint(s.Endpoint), strconv.Itoa(s.Trials),
	} {
		// Each field is preceded by its length, so that no text can move from one field to
		// the next without changing the key.
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(field))))
		h.Write([]byte(field))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Clean returns the spec in the stored form, with an endpoint that has no user, password,
// query or fragment: all of these may contain keys. It is an error if the spec is
// incomplete.
func (s Spec) Clean() (Spec, error) {
	switch {
	case s.Judge.Hash == "":
		return Spec{}, errors.New("the run's judge has no hash")
	case s.Dataset.Hash == "":
		return Spec{}, errors.New("the run's dataset has no hash")
	case s.Trials < 1:
		return Spec{}, fmt.Errorf("a run needs at least 1 trial, not %d", s.Trials)
	}
	s.Endpoint = CleanEndpoint(s.Endpoint)
	return s, nil
}

// CleanEndpoint returns an endpoint in the stored form, without parts that may be secret. It
// works on the text, not on a parsed URL, because users type "user:key@host", which is not a
// URL.
func CleanEndpoint(endpoint string) string {
	endpoint, _, _ = strings.Cut(endpoint, "?")
	endpoint, _, _ = strings.Cut(endpoint, "#")
	scheme, rest := "", endpoint
	if i := strings.Index(endpoint, "//"); i == 0 || i > 0 && endpoint[i-1] == ':' {
		scheme, rest = endpoint[:i+2], endpoint[i+2:]
	}
	host, path := rest, ""
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		host, path = rest[:slash], rest[slash:]
	}
	if _, err := url.Parse("//" + rest); err != nil {
		// A password with a slash in it looks like this. An @ in the path is harmless
		// elsewhere, but here it may end the password.
		host, path = rest, ""
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	return scheme + host + path
}

// CheckRecord returns an error for a record that no store can keep. Stores call it before
// they write anything.
func CheckRecord(rec deem.Record) error {
	var problem string
	switch {
	case rec.Verdict == nil && rec.Failure == nil:
		problem = "has neither a verdict nor a failure"
	case rec.Verdict != nil && rec.Failure != nil:
		problem = "has both a verdict and a failure"
	case rec.Trial < 0:
		problem = fmt.Sprintf("has trial %d", rec.Trial)
	case rec.Position < 0:
		problem = fmt.Sprintf("has position %d", rec.Position)
	case !finite(rec.Item.Weight):
		problem = fmt.Sprintf("has weight %v", rec.Item.Weight)
	case rec.Verdict != nil:
		problem = checkVerdict(*rec.Verdict)
	case rec.Failure.Probability != nil && !finite(*rec.Failure.Probability):
		problem = fmt.Sprintf("has probability %v", *rec.Failure.Probability)
	}
	if problem != "" {
		return fmt.Errorf("record of item %q %s", rec.Item.ID, problem)
	}
	return nil
}

func checkVerdict(v deem.Verdict) string {
	if !finite(v.Score) {
		return fmt.Sprintf("has score %v", v.Score)
	}
	if v.Confidence != nil && !finite(*v.Confidence) {
		return fmt.Sprintf("has confidence %v", *v.Confidence)
	}
	for name, value := range v.Aspects {
		if !finite(value) {
			return fmt.Sprintf("has aspect %q = %v", name, value)
		}
	}
	for i, p := range v.Parts {
		if p.Score != nil && !finite(*p.Score) {
			return fmt.Sprintf("has score %v for criterion %d", *p.Score, i+1)
		}
	}
	return ""
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// probesNamed is the prefix of the last name of a dataset of probes. The names of the
// source files come before it.
const probesNamed = "probes, seed "

// ProbeNames returns the names of a dataset of probes generated from the given files with
// the given seed.
func ProbeNames(source []string, seed uint64) []string {
	return append(slices.Clone(source), fmt.Sprint(probesNamed, seed))
}

// ProbesOf returns the source of a dataset of probes, or false for other datasets.
func (s Spec) ProbesOf() (source []string, seed uint64, ok bool) {
	last := len(s.Dataset.Names) - 1
	if last < 0 {
		return nil, 0, false
	}
	text, ok := strings.CutPrefix(s.Dataset.Names[last], probesNamed)
	if !ok {
		return nil, 0, false
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	return s.Dataset.Names[:last], seed, err == nil
}

// Probes reports whether the dataset consists of probes.
func (s Spec) Probes() bool {
	_, _, ok := s.ProbesOf()
	return ok
}
