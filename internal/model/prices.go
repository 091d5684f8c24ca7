package model

import (
	"bytes"
	"cmp"
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
	"deem/internal/words"
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

	// Input, CachedInput and Output are prices in dollars per million tokens, as on
	// vendors' price lists.
	Input       Millionths  `json:"input"`
	CachedInput *Millionths `json:"cached_input,omitempty"` // nil means Input
	Output      Millionths  `json:"output"`

	// Batch is the share of the price that is charged in a batch, from 0 to 1; 0 means that
	// it is unknown, or that the vendor has no batches.
	Batch Millionths `json:"batch,omitempty"`

	// Window is the maximum number of tokens of prompt and reply together; 0 if unknown.
	Window int `json:"window,omitempty"`
}

// Millionths is an exact decimal number, for example 2_500_000 for 2.5. In JSON it is written
// as a number.
type Millionths int64

// InBatch returns what calls cost in a batch that otherwise cost the given sum in millionths
// of a US dollar, rounded up. If the batch share is unknown, that is the same sum.
func (p Price) InBatch(micros int64) int64 {
	if p.Batch <= 0 {
		return micros
	}
	// Whole dollars and the rest separately, since millions times a million would overflow.
	whole, rest, share := micros/1_000_000, micros%1_000_000, int64(p.Batch)
	return whole*share + (rest*share+999_999)/1_000_000
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
		rate   Millionths
	}{{miss, p.Input}, {hit, cached}, {max(0, u.Output), p.Output}} {
		h, l := bits.Mul64(uint64(part.tokens), uint64(max(0, part.rate)))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry
	}
	lo, carry := bits.Add64(lo, 999_999, 0) // to round up
	hi += carry
	if hi >= 1_000_000 { // The quotient itself has two words.
		return dearest
	}
	micros, _ := bits.Div64(hi, lo, 1_000_000)
	return int64(min(micros, dearest))
}

// dearest is the maximum cost of a call: ten million dollars, which exceeds any budget.
// Higher numbers would overflow in the sums of a run, and so pass any budget.
const dearest = 10_000_000 * 1_000_000

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

// Of returns the price of the named model in a service tier, as returned by [TierOf], and
// whether it is known. Local models are free; otherwise the entries of p are searched, then
// the built-in table. In each, the longest entry wins. The built-in table has no prices of
// service tiers, and p is assumed to be about the tier.
//
// Batch and Window are those of the first entry that has them, even if the price is unknown.
func (p Prices) Of(name, tier string) (price Price, known bool) {
	tables := [][]Price{free, p.Entries, BuiltinPrices().Entries}
	for i, entries := range tables {
		var e Price
		ok := false
		for _, entry := range entries {
			if entry.matches(name) && (!ok || len(entry.Model) > len(e.Model)) {
				e, ok = entry, true
			}
		}
		if ok && !known && (tier == "" || i < 2) {
			price, known = e, true
		} else if ok {
			price.Batch, price.Window = cmp.Or(price.Batch, e.Batch), cmp.Or(price.Window, e.Window)
		}
	}
	return price, known
}

// A tiered model requests a service tier of its vendor, such as OpenAI's "flex" or
// "priority". Tiers have their own prices, half or twice the usual ones; the built-in table
// has only the usual ones.
type tiered interface {
	// ServiceTier returns the requested tier, or "" for the vendor's default.
	ServiceTier() string
}

// TierOf returns the service tier that m, or the model it wraps, requests, if the tier has
// its own price, and otherwise "".
func TierOf(m deem.Model) string {
	t, ok := As[tiered](m)
	if !ok {
		return ""
	}
	switch tier := t.ServiceTier(); tier {
	case "auto", "default", "standard":
		return ""
	default:
		return tier
	}
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
		offset := int(dec.InputOffset())
		if se, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = int(se.Offset)
		} else if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			offset = int(te.Offset)
		} else if re, ok := errors.AsType[*numberError](err); ok {
			offset = bytes.Index(data, []byte(re.text))
		} else if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			offset = bytes.Index(data, []byte(name))
		}
		return Prices{}, problemAt(file, data, offset, strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Prices{}, problemAt(file, data, int(dec.InputOffset()), "text after the end of the table")
	}
	seen := make(map[string]bool)
	for i, e := range p.Entries {
		if e.Model == "" {
			return Prices{}, problemAt(file, data, 0, fmt.Sprintf("entry %d names no model", i+1))
		}
		says := ""
		switch {
		case !strings.Contains(e.Model, ":"):
			says = fmt.Sprintf("model %q lacks its vendor, as in \"openai:%s\"", e.Model, e.Model)
		case seen[e.Model]:
			says = fmt.Sprintf("model %q has two prices", e.Model)
		case e.Batch > 1_000_000:
			says = fmt.Sprintf("model %q has a batch share above 1", e.Model)
		case e.Window < 0:
			says = fmt.Sprintf("model %q has a window of %d tokens", e.Model, e.Window)
		}
		if says != "" {
			quoted, err := json.Marshal(e.Model)
			if err != nil {
				panic(err) // a string can always be encoded
			}
			// Of two entries for a model, the later one is the mistake.
			return Prices{}, problemAt(file, data, bytes.LastIndex(data, quoted), says)
		}
		seen[e.Model] = true
	}
	return p, nil
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

// A numberError is an invalid number of a price table.
type numberError struct{ text string }

func (e *numberError) Error() string {
	return fmt.Sprintf("%s is not a number from 0 to 1,000,000 with at most six decimals", e.text)
}

// UnmarshalJSON reads a decimal number exactly: money never passes through a float.
func (n *Millionths) UnmarshalJSON(text []byte) error {
	micros, err := words.ParseDollars(string(text))
	if err != nil {
		return &numberError{string(text)}
	}
	*n = Millionths(micros)
	return nil
}

// MarshalJSON writes a decimal number.
func (n Millionths) MarshalJSON() ([]byte, error) {
	text := fmt.Sprintf("%d.%06d", n/1_000_000, n%1_000_000)
	return []byte(strings.TrimSuffix(strings.TrimRight(text, "0"), ".")), nil
}
