package api

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"deem"
	"deem/internal/server"
	"deem/internal/usage"
)

// Limits of a submission. The length of a line bounds the memory of one item.
const (
	maxLine  = 16 << 20
	maxItems = 1_000_000
)

// A spool is a folder of items that wait to be judged. A file contains the items of one
// dataset and is named after its hash, so that items sent twice are stored once, and file
// names never come from a client.
//
// Items are needed until their run is done: the store contains only items that have a
// record, and a server that is restarted needs the rest.
type spool struct {
	dir string

	mu   sync.Mutex
	used map[string]int // number of jobs that use a file, by hash
}

func newSpool(dir string) *spool { return &spool{dir: dir, used: map[string]int{}} }

// spooled is a dataset in a file of the spool.
type spooled struct {
	file string
	hash string
	n    int
}

// take reads items from read, which calls its argument with the JSON of each, checks them
// and stores them. The caller must release the result.
func (sp *spool) take(most int, read func(each func(raw []byte) error) error) (spooled, error) {
	if sp.dir == "" {
		return spooled{}, errNoSpool
	}
	if err := os.MkdirAll(sp.dir, 0o700); err != nil {
		return spooled{}, fmt.Errorf("keep items: %w", err)
	}
	f, err := os.CreateTemp(sp.dir, incoming+"*.jsonl")
	if err != nil {
		return spooled{}, fmt.Errorf("keep items: %w", err)
	}
	in := &intake{most: most, out: bufio.NewWriter(f), ids: map[[16]byte]bool{}}
	hash, err := deem.DatasetHash(in.items(read))
	switch err = errors.Join(err, in.out.Flush(), f.Close()); {
	case err == nil && in.bad.total > 0:
		err = server.WithStatus(http.StatusBadRequest, &in.bad)
	case err == nil && in.n == 0:
		err = server.BadRequest("there are no items to judge")
	}
	if err != nil {
		return spooled{}, errors.Join(err, os.Remove(f.Name()))
	}
	got := spooled{file: sp.name(hash), hash: hash, n: in.n}
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if err := os.Rename(f.Name(), got.file); err != nil {
		return spooled{}, errors.Join(err, os.Remove(f.Name()))
	}
	sp.used[hash]++
	return got, nil
}

// stale is the age after which an unused file is removed.
const stale = 24 * time.Hour

// sweep removes files that killed servers left behind: partial uploads, and datasets that
// no run needs.
func (sp *spool) sweep(wanted func(hash string) bool) {
	files, _ := os.ReadDir(sp.dir) // Without a folder there is nothing to remove.
	for _, f := range files {
		name, isOurs := strings.CutSuffix(f.Name(), ".jsonl")
		info, err := f.Info()
		// Another server may be about to start the run of a new file.
		if err != nil || !isOurs || time.Since(info.ModTime()) < stale {
			continue
		}
		if strings.HasPrefix(name, incoming) || !wanted(name) {
			_ = os.Remove(filepath.Join(sp.dir, f.Name())) // A file that stays does no harm.
		}
	}
}

// incoming is the prefix of files that are still being received.
const incoming = "incoming-"

// errNoSpool is returned if the server has no spool and therefore cannot judge.
var errNoSpool = errors.New("this server judges nothing: it has no folder for items")

func (sp *spool) name(hash string) string { return filepath.Join(sp.dir, hash+".jsonl") }

// find returns a dataset that was stored earlier, and false if it is not there. The caller
// must release it.
func (sp *spool) find(hash string, n int) (spooled, bool) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if !sp.has(hash) {
		return spooled{}, false
	}
	sp.used[hash]++
	return spooled{file: sp.name(hash), hash: hash, n: n}, true
}

// has reports whether the spool contains a dataset.
func (sp *spool) has(hash string) bool {
	_, err := os.Stat(sp.name(hash))
	return sp.dir != "" && err == nil
}

// release releases a dataset. It is removed if no job uses it and wanted returns false.
func (sp *spool) release(d spooled, wanted func(hash string) bool) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if sp.used[d.hash]--; sp.used[d.hash] > 0 {
		return
	}
	delete(sp.used, d.hash)
	if !wanted(d.hash) {
		_ = os.Remove(d.file) // A file that stays does no harm.
	}
}

// items yields the items of the file. It can be called more than once.
func (d spooled) items() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		f, err := os.Open(d.file)
		if err != nil {
			yield(deem.Item{}, err)
			return
		}
		defer func() { _ = f.Close() }()
		dec := json.NewDecoder(bufio.NewReader(f))
		for n := 0; ; n++ {
			var it deem.Item
			err := dec.Decode(&it)
			if errors.Is(err, io.EOF) && n == d.n {
				return
			}
			if err != nil {
				yield(deem.Item{}, fmt.Errorf("read the items of dataset %s: %w", deem.ShortHash(d.hash), err))
				return
			}
			if !yield(it, nil) {
				return
			}
		}
	}
}

// An intake checks items as they are received, and writes the valid ones.
type intake struct {
	most int
	out  *bufio.Writer
	n    int
	ids  map[[16]byte]bool // by a prefix of their hash, since there may be a million
	bad  badItems
}

// items yields the items from read until the first invalid one. Problems with items are
// collected; an error ends the intake.
func (in *intake) items(read func(each func(raw []byte) error) error) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		err := read(func(raw []byte) error {
			if in.n++; in.n > in.most {
				err := fmt.Errorf("these are more than %d items", in.most)
				if in.most < maxItems {
					err = deem.WithHint(err, "POST %s/runs takes more, and judges them in the background", server.APIRoot)
				}
				return server.WithStatus(http.StatusRequestEntityTooLarge, err)
			}
			it, err := decodeItem(raw)
			if it.ID == "" {
				it.ID = strconv.Itoa(in.n) // like rows of a file
			}
			sum := sha256.Sum256([]byte(it.ID))
			key := [16]byte(sum[:16])
			if err == nil && in.ids[key] {
				err = deem.WithHint(fmt.Errorf("the id %q is that of an earlier item", it.ID), "the ids of items are unique")
			}
			in.ids[key] = true
			if err != nil {
				in.bad.add(in.n-1, it.ID, err)
			}
			if in.bad.total > 0 {
				return nil
			}
			if _, err := in.out.Write(append(it.Canonical(), '\n')); err != nil {
				return err
			}
			yield(it, nil)
			return nil
		})
		if err != nil {
			yield(deem.Item{}, err)
		}
	}
}

type itemProblem struct {
	Index   int    `json:"index"` // from 0, in the order in which items were sent
	ID      string `json:"id,omitempty"`
	Message string `json:"message"`
}

// badItems is the error for invalid items. It lists the first maxListed.
type badItems struct {
	list  []itemProblem
	total int
	hint  string
}

// maxListed is the maximum number of invalid items listed.
const maxListed = 20

func (b *badItems) add(index int, id string, err error) {
	b.total++
	b.hint = cmp.Or(b.hint, deem.HintOf(err))
	if len(b.list) < maxListed {
		b.list = append(b.list, itemProblem{index, id, err.Error()})
	}
}

// Error returns the number of invalid items and the problem with the first.
func (b *badItems) Error() string {
	first := b.list[0]
	if b.total == 1 {
		return fmt.Sprintf("item %d (id %q): %s", first.Index, first.ID, first.Message)
	}
	return fmt.Sprintf("%d items are wrong; the first is item %d (id %q): %s", b.total, first.Index, first.ID, first.Message)
}

// A sentItem is an item as clients send it. Pointers distinguish missing from empty fields.
type sentItem struct {
	ID         string            `json:"id"`
	Category   string            `json:"category"`
	Cluster    string            `json:"cluster"`
	Question   string            `json:"question"`
	References []string          `json:"references"`
	Response   *string           `json:"response"`
	Messages   deem.Conversation `json:"messages"`
	Fields     map[string]string `json:"fields"`
	Weight     *float64          `json:"weight"`
}

func decodeItem(raw []byte) (deem.Item, error) {
	var in sentItem
	err := decodeStrictly(raw, &in, "an item")
	it := deem.Item{
		ID: in.ID, Category: in.Category, Cluster: in.Cluster, Question: in.Question,
		References: in.References, Messages: in.Messages, Fields: in.Fields,
	}
	switch {
	case err != nil:
		return it, err
	case slices.ContainsFunc(in.Messages, func(t deem.Turn) bool { return t.Role == "" }):
		return it, errors.New("a message has no role")
	case in.Response == nil:
		return it, deem.WithHint(errors.New("there is no response"), "a system that gave nothing has the empty text as its response")
	case in.Weight != nil && !(*in.Weight > 0 && !math.IsInf(*in.Weight, 0)):
		return it, fmt.Errorf("the weight %v is not a positive number", *in.Weight)
	case in.Weight != nil:
		it.Weight = *in.Weight
	}
	it.Response = *in.Response
	return it, nil
}

// decodeStrictly decodes a JSON object and rejects unknown fields. More are fields that the
// caller decodes elsewhere; they are only suggested in errors.
func decodeStrictly(raw []byte, to any, what string, more ...string) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(to)
	if err == nil {
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return fmt.Errorf("something follows behind %s", what)
		}
		return nil
	}
	if field, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if field.Field == "" {
			return fmt.Errorf("%s is an object, not %s", what, article(field.Value))
		}
		if number, ok := strings.CutPrefix(field.Value, "number "); ok && wordFor(field.Type) == "a number" {
			return fmt.Errorf("%s cannot be %s", field.Field, number) // It is too large, or has a fraction.
		}
		return fmt.Errorf("%s is %s, not %s", field.Field, wordFor(field.Type), article(field.Value))
	}
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		name, _ = strconv.Unquote(name)
		var known []string
		for field := range reflect.TypeOf(to).Elem().Fields() {
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			known = append(known, key)
		}
		return usage.Unknown("field", name, append(known, more...))
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s is not JSON: %w", what, err)
	}
	return err // The error of an UnmarshalJSON method describes itself.
}

// wordFor returns the JSON name of a type, with an article.
func wordFor(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Bool:
		return "true or false"
	default:
		return "a number"
	}
}

func article(noun string) string {
	word, _, _ := strings.Cut(noun, " ") // for example "number -1"
	if word == "bool" {
		return "true or false"
	}
	if word == "array" || word == "object" {
		return "an " + word
	}
	return "a " + word
}
