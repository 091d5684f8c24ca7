package model

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"regexp"
	"strings"
	"sync"

	"deem"
)

// Prices is a price table. The zero value is the built-in table; entries take precedence
// over it.
//
// Its JSON has the format of model/prices.json:
//
//	{
//	  "version": "our contract",
//	  "date": "2026-11-15",
//	  "prices": [
//	    {"model": "openai:gpt-4o", "input": 2.50, "cached_input": 1.25, "output": 10.00, "batch": 0.5, "window": 128000}
//	  ]
//	}
type Prices struct {
	Version string  `json:"version"`
	Date    string  `json:"date"` // the day the table was compiled
	Note    string  `json:"note,omitempty"`
	Entries []Price `json:"prices"`
}

// A Price is the price of a model.
type Price struct {
	// Model is a name, for example "openai:gpt-4o". It also matches dated versions of that
	// model, such as "openai:gpt-4o-2024-08-06", but no other name: "gpt-4o-audio" is
	// another model with another price. A name that ends with ":" or "/" matches all names
	// that begin with it.
	Model string `json:"model"`

	Input       Rate  `json:"input"`
	CachedInput *Rate `json:"cached_input,omitempty"` // nil means Input
	Output      Rate  `json:"output"`

	// Batch is the share of the price that is charged in a batch; 0 means that it is
	// unknown, or that the vendor has no batches.
	Batch Share `json:"batch,omitempty"`

	// Window is the maximum number of tokens of prompt and reply together; 0 if unknown.
	Window int `json:"window,omitempty"`
}

// A Rate is a price in millionths of a US dollar per million tokens. In JSON it is in
// dollars per million tokens, as on vendors' price lists.
type Rate int64

// A Share is a fraction of a price in millionths. In JSON it is a number from 0 to 1.
type Share int64

// Of returns the share of a sum in millionths of a US dollar, rounded up.
func (s Share) Of(micros int64) int64 {
	// Whole dollars and the rest separately, since millions times a million would overflow.
	whole, rest := micros/1_000_000, micros%1_000_000
	return whole*int64(s) + (rest*int64(s)+999_999)/1_000_000
}

// Cost returns the cost of a call with the given usage in millionths of a US dollar,
// rounded up.
func (p Price) Cost(u deem.Usage) int64 {
	cached := p.Input
	if p.CachedInput != nil {
		cached = *p.CachedInput
	}
	hit := min(max(0, u.CachedInput), max(0, u.Input))
	miss := max(0, u.Input) - hit
	var hi, lo uint64
	for _, part := range []struct {
		tokens int
		rate   Rate
	}{{miss, p.Input}, {hit, cached}, {max(0, u.Output), p.Output}} {
		h, l := bits.Mul64(uint64(part.tokens), uint64(max(0, part.rate)))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry
	}
	return roundUp(hi, lo)
}

// free reports whether calls cost nothing.
func (p Price) free() bool { return p.Input == 0 && p.Output == 0 }

// dearest is the maximum cost of a call: ten million dollars, which exceeds any budget.
// Higher numbers would overflow in the sums of a run, and so pass any budget.
const dearest = 10_000_000 * 1_000_000

// roundUp divides a two-word number by a million, rounding up.
func roundUp(hi, lo uint64) int64 {
	lo, carry := bits.Add64(lo, 999_999, 0)
	hi += carry
	if hi >= 1_000_000 { // The quotient itself has two words.
		return dearest
	}
	micros, _ := bits.Div64(hi, lo, 1_000_000)
	return int64(min(micros, dearest))
}

// version matches the suffixes that vendors append to the name of a model for one version:
// a date (-2024-08-06, -20250514, @20250514, -0613, -preview-05-20, -preview-09-2025), a
// number (-001, and -0 of claude-opus-4-0), or a word for the newest. A number of one or
// two digits is not a version: claude-opus-4-5 costs a third of claude-opus-4. Neither is
// any other word: -pro, -audio and -deep-research cost more.
var version = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-(preview|exp|beta))?([-@](` +
		`\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{3,4}|0|(0[1-9]|1[0-2])-(\d{2}|20\d{2})|latest|default))?(-preview)?$`)
})

// matches reports whether p is a price of the named model.
func (p Price) matches(name string) bool {
	rest, ok := strings.CutPrefix(name, p.Model)
	if !ok {
		return false
	}
	return strings.HasSuffix(p.Model, ":") || strings.HasSuffix(p.Model, "/") || version().MatchString(rest)
}

// free lists the models that are always free, whatever a table contains.
var free = []Price{{Model: "fake:"}, {Model: "replay:"}, {Model: "ollama:"}, {Model: "vllm:"}, {Model: "lmstudio:"}, {Model: "command:"}, {Model: "http:"}, {Model: "https:"}, {Model: "offline"}}

// Of returns the price of the named model. Local models are free; otherwise the entries of
// p are searched, then the built-in table. In each, the longest entry wins.
func (p Prices) Of(name string) (Price, bool) {
	for _, entries := range [][]Price{free, p.Entries, BuiltinPrices().Entries} {
		if price, ok := longest(entries, name); ok {
			return price, true
		}
	}
	return Price{}, false
}

// BatchOf returns the share of the price that the named model costs in a batch, and whether
// its vendor has batches. If the entry of p has no share, the built-in one is used.
func (p Prices) BatchOf(name string) (Share, bool) {
	e, ok := p.find(name, func(e Price) bool { return e.Batch > 0 })
	return e.Batch, ok
}

// WindowOf returns the context window of the named model in tokens, prompt and reply
// together, and whether it is known.
func (p Prices) WindowOf(name string) (int, bool) {
	e, ok := p.find(name, func(e Price) bool { return e.Window > 0 })
	return e.Window, ok
}

// find returns the entry for a model among those for which says is true.
func (p Prices) find(name string, says func(Price) bool) (Price, bool) {
	for _, entries := range [][]Price{p.Entries, BuiltinPrices().Entries} {
		if e, ok := longest(entries, name); ok && says(e) {
			return e, true
		}
	}
	return Price{}, false
}

// longest returns the longest entry that matches name.
func longest(entries []Price, name string) (best Price, ok bool) {
	for _, e := range entries {
		if e.matches(name) && (!ok || len(e.Model) > len(best.Model)) {
			best, ok = e, true
		}
	}
	return best, ok
}

//go:embed prices.json
var builtinPrices []byte

// BuiltinPrices returns the price table that comes with deem. Prices change: check your
// vendor's page, and give deem your own table if exact costs matter.
var BuiltinPrices = sync.OnceValue(func() Prices {
	p, err := parsePrices("prices.json", builtinPrices)
	if err != nil {
		panic(err) // the file is ours, and a test reads it
	}
	return p
})

// LoadPrices reads a price table from a file. Errors name the line.
func LoadPrices(path string) (Prices, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Prices{}, fmt.Errorf("read prices: %w", err)
	}
	return parsePrices(path, data)
}

// parsePrices parses and checks a price table.
func parsePrices(file string, data []byte) (Prices, error) {
	var p Prices
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return Prices{}, priceProblem(file, data, dec, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Prices{}, problemAt(file, data, int(dec.InputOffset()), "text after the end of the table")
	}
	seen := make(map[string]bool)
	for i, e := range p.Entries {
		if e.Model == "" {
			return Prices{}, problemAt(file, data, 0, fmt.Sprintf("entry %d names no model", i+1))
		}
		if says := e.problem(seen[e.Model]); says != "" {
			return Prices{}, problemAt(file, data, entryOffset(data, e.Model), says)
		}
		seen[e.Model] = true
	}
	return p, nil
}

// problem returns what is wrong with an entry that names a model, or "".
func (p Price) problem(again bool) string {
	switch {
	case !strings.Contains(p.Model, ":"):
		return fmt.Sprintf("model %q lacks its vendor, as in \"openai:%s\"", p.Model, p.Model)
	case again:
		return fmt.Sprintf("model %q has two prices", p.Model)
	case p.Window < 0:
		return fmt.Sprintf("model %q has a window of %d tokens", p.Model, p.Window)
	}
	return ""
}

// priceProblem returns an error with the line at which parsing failed.
func priceProblem(file string, data []byte, dec *json.Decoder, err error) error {
	offset := int(dec.InputOffset())
	if se, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = int(se.Offset)
	} else if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = int(te.Offset)
	} else if re, ok := errors.AsType[*rateError](err); ok {
		offset = bytes.Index(data, []byte(re.text))
	} else if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		offset = bytes.Index(data, []byte(name))
	}
	return problemAt(file, data, offset, strings.TrimPrefix(err.Error(), "json: "))
}

// entryOffset returns the offset of the last entry for a model: of two, the later one is
// the mistake.
func entryOffset(data []byte, model string) int {
	quoted, err := json.Marshal(model)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return bytes.LastIndex(data, quoted)
}

// problemAt returns a problem at the line of the given byte offset. A negative offset means
// the whole file.
func problemAt(file string, data []byte, offset int, message string) error {
	p := deem.Problem{File: file, Message: message}
	if offset >= 0 {
		p.Line = 1 + bytes.Count(data[:min(offset, len(data))], []byte("\n"))
	}
	return p
}

// A rateError is an invalid price or share.
type rateError struct {
	text  string
	share bool
}

func (e *rateError) Error() string {
	if e.share {
		return fmt.Sprintf("share %s is not a number from 0 to 1 with at most six decimals", e.text)
	}
	return fmt.Sprintf("price %s is not a number of dollars from 0 to 1,000,000 with at most six decimals", e.text)
}

// UnmarshalJSON reads dollars per million tokens, exactly: money never passes through a
// float.
func (r *Rate) UnmarshalJSON(text []byte) error {
	micros, ok := parseDollars(string(text))
	if !ok {
		return &rateError{text: string(text)}
	}
	*r = Rate(micros)
	return nil
}

// MarshalJSON writes dollars per million tokens.
func (r Rate) MarshalJSON() ([]byte, error) { return decimal(int64(r)), nil }

// UnmarshalJSON reads a number from 0 to 1, exactly.
func (s *Share) UnmarshalJSON(text []byte) error {
	millionths, ok := parseDollars(string(text))
	if !ok || millionths > 1_000_000 {
		return &rateError{text: string(text), share: true}
	}
	*s = Share(millionths)
	return nil
}

// MarshalJSON writes a number from 0 to 1.
func (s Share) MarshalJSON() ([]byte, error) { return decimal(int64(s)), nil }

// decimal writes millionths as a decimal number.
func decimal(millionths int64) []byte {
	text := fmt.Sprintf("%d.%06d", millionths/1_000_000, millionths%1_000_000)
	return []byte(strings.TrimSuffix(strings.TrimRight(text, "0"), "."))
}

// parseDollars parses a decimal number of dollars as millionths.
func parseDollars(text string) (micros int64, ok bool) {
	whole, decimals, _ := strings.Cut(text, ".")
	if whole == "" || len(whole) > 7 || len(decimals) > 6 {
		return 0, false
	}
	for _, c := range whole + decimals + strings.Repeat("0", 6-len(decimals)) {
		if c < '0' || c > '9' {
			return 0, false
		}
		micros = micros*10 + int64(c-'0')
	}
	return micros, micros <= 1_000_000*1_000_000
}
