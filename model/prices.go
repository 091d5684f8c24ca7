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

// Prices are what vendors charge. The zero value is the built-in table; entries
// go before it.
//
// As JSON it is what model/prices.json shows:
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

// A Price is what a model charges.
type Price struct {
	// Model is a name, as "openai:gpt-4o". It also stands for the dated versions of
	// that model, as "openai:gpt-4o-2024-08-06", and for nothing else: "gpt-4o-audio"
	// is another model, with another price. One that ends with ":" or "/" stands for
	// all that begin with it.
	Model string `json:"model"`

	Input       Rate  `json:"input"`
	CachedInput *Rate `json:"cached_input,omitempty"` // nil means that of Input
	Output      Rate  `json:"output"`

	// Batch is the share of the price that a call costs in one of the vendor's batches;
	// 0 means that this is not known, or that there are no batches.
	Batch Share `json:"batch,omitempty"`

	// Window is how many tokens prompt and reply may have together; 0 means that this is
	// not known.
	Window int `json:"window,omitempty"`
}

// A Rate is a price in millionths of a US dollar for a million tokens. In JSON it
// is in dollars for a million tokens, as vendors print it.
type Rate int64

// A Share is a part of a price in millionths. In JSON it is a number from 0 to 1.
type Share int64

// Of returns the share of a sum in millionths of a US dollar, rounded up.
func (s Share) Of(micros int64) int64 {
	// Whole dollars and the rest apart, since a sum of millions times a million is too large.
	whole, rest := micros/1_000_000, micros%1_000_000
	return whole*int64(s) + (rest*int64(s)+999_999)/1_000_000
}

// Cost returns what a call with the given usage costs in millionths of a US
// dollar, rounded up.
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

// dearest is the most that a call is said to cost: ten million dollars, which is more than
// a budget can be. A higher number would wrap around in the sums of a run, and so pass any
// budget.
const dearest = 10_000_000 * 1_000_000

// roundUp divides a number of two words by a million.
func roundUp(hi, lo uint64) int64 {
	lo, carry := bits.Add64(lo, 999_999, 0)
	hi += carry
	if hi >= 1_000_000 { // The quotient has two words itself.
		return dearest
	}
	micros, _ := bits.Div64(hi, lo, 1_000_000)
	return int64(min(micros, dearest))
}

// version is what vendors append to the name of a model for one version of it: a date
// (-2024-08-06, -20250514, @20250514, -0613, -preview-05-20, -preview-09-2025), a number
// (-001, and -0 of claude-opus-4-0), or a word for the newest. A number of one or two
// digits is none: claude-opus-4-5 costs a third of claude-opus-4. Nor is any other word,
// however small: -pro, -audio and -deep-research cost more.
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

// free are the models that never cost anything, whatever a table says.
var free = []Price{{Model: "fake:"}, {Model: "replay:"}, {Model: "ollama:"}, {Model: "vllm:"}, {Model: "lmstudio:"}, {Model: "command:"}, {Model: "http:"}, {Model: "https:"}, {Model: "offline"}}

// Of returns the price of the named model. Models that run here are free; then
// the entries of p are searched, then the built-in table; in each, the longest
// entry wins.
func (p Prices) Of(name string) (Price, bool) {
	for _, entries := range [][]Price{free, p.Entries, BuiltinPrices().Entries} {
		if price, ok := longest(entries, name); ok {
			return price, true
		}
	}
	return Price{}, false
}

// BatchOf returns the share of the price that the named model costs in a batch, and whether
// its vendor has batches. Of a table that gives a price of its own and no share, the built-in
// one counts.
func (p Prices) BatchOf(name string) (Share, bool) {
	e, ok := p.find(name, func(e Price) bool { return e.Batch > 0 })
	return e.Batch, ok
}

// WindowOf returns how many tokens a prompt and its reply may have together with the named
// model, and whether that is known.
func (p Prices) WindowOf(name string) (int, bool) {
	e, ok := p.find(name, func(e Price) bool { return e.Window > 0 })
	return e.Window, ok
}

// find returns the entry for a model among those that say what is asked.
func (p Prices) find(name string, says func(Price) bool) (Price, bool) {
	for _, entries := range [][]Price{p.Entries, BuiltinPrices().Entries} {
		if e, ok := longest(entries, name); ok && says(e) {
			return e, true
		}
	}
	return Price{}, false
}

// longest returns the longest entry that stands for name.
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

// BuiltinPrices returns the price table that comes with deem. Prices change:
// check your vendor's page, and give deem a table of your own where it matters.
var BuiltinPrices = sync.OnceValue(func() Prices {
	p, err := parsePrices("prices.json", builtinPrices)
	if err != nil {
		panic(err) // the file is ours, and a test reads it
	}
	return p
})

// LoadPrices reads a price table from a file. Its errors name the line.
func LoadPrices(path string) (Prices, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Prices{}, fmt.Errorf("read prices: %w", err)
	}
	return parsePrices(path, data)
}

// parsePrices reads a price table and checks it.
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

// problem says what is wrong with an entry that names a model, "" if nothing is.
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

// priceProblem names the line at which a table stopped making sense.
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

// entryOffset returns where the last entry for a model begins: of two, the later
// one is the mistake.
func entryOffset(data []byte, model string) int {
	quoted, err := json.Marshal(model)
	if err != nil {
		panic(err) // a string always has a JSON text
	}
	return bytes.LastIndex(data, quoted)
}

// problemAt returns a problem at the line of the given byte. A negative offset
// stands for the whole file.
func problemAt(file string, data []byte, offset int, message string) error {
	p := deem.Problem{File: file, Message: message}
	if offset >= 0 {
		p.Line = 1 + bytes.Count(data[:min(offset, len(data))], []byte("\n"))
	}
	return p
}

// A rateError is a price or a share that is none.
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

// UnmarshalJSON reads dollars for a million tokens, exactly: money never goes
// through a float.
func (r *Rate) UnmarshalJSON(text []byte) error {
	micros, ok := parseDollars(string(text))
	if !ok {
		return &rateError{text: string(text)}
	}
	*r = Rate(micros)
	return nil
}

// MarshalJSON writes dollars for a million tokens.
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

// parseDollars reads a decimal number of dollars as millionths.
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
