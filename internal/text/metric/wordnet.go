package metric

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"deem/internal/text"
)

// WordNet is the lexical database of Princeton University, version 3.0, read from a folder.
// It is safe for concurrent use.
type WordNet struct {
	name  string
	parts [4]part
}

// A part is the data of one part of speech.
type part struct {
	data       string              // the file with the synsets
	lemmas     map[string]senses   // by the lemma in lower case, with _ for spaces
	offsets    []uint32            // positions in data of the synsets of all lemmas
	exceptions map[string][]string // irregular forms, with their lemmas
	suffixes   []suffix            // of regular forms
}

// senses is the range of a lemma in offsets.
type senses struct{ from, to uint32 }

// A suffix rule replaces the suffix of an inflected form.
type suffix struct{ old, new string }

// partNames are the names of the files, in NLTK's order.
var partNames = [4]string{"noun", "verb", "adj", "adv"}

// suffixes are the rules of Morphy, the lemmatizer of WordNet.
var suffixes = [4][]suffix{
	{{"s", ""}, {"ses", "s"}, {"ves", "f"}, {"xes", "x"}, {"zes", "z"}, {"ches", "ch"}, {"shes", "sh"}, {"men", "man"}, {"ies", "y"}},
	{{"s", ""}, {"ies", "y"}, {"es", "e"}, {"es", ""}, {"ed", "e"}, {"ed", ""}, {"ing", "e"}, {"ing", ""}},
	{{"er", ""}, {"est", ""}, {"er", "e"}, {"est", "e"}},
	nil,
}

// OpenWordNet reads WordNet from a folder with index.noun, data.noun, noun.exc, and the
// same for verb, adj and adv. It takes about 50 MB of memory. The error wraps
// [fs.ErrNotExist] if a file is missing.
func OpenWordNet(dir string) (*WordNet, error) { return ReadWordNet(os.DirFS(dir), dir) }

// ReadWordNet reads WordNet from a file system. The name is used in errors.
func ReadWordNet(fsys fs.FS, name string) (*WordNet, error) {
	wn := &WordNet{}
	hash := sha256.New()
	for i, of := range partNames {
		p := &wn.parts[i]
		p.suffixes = suffixes[i]
		for _, file := range []struct {
			name string
			read func(data []byte) error
		}{
			{"data." + of, func(data []byte) error { p.data = string(data); return nil }},
			{"index." + of, p.readIndex},
			{of + ".exc", p.readExceptions},
		} {
			data, err := fs.ReadFile(fsys, file.name)
			if err != nil {
				return nil, fmt.Errorf("open WordNet in %s: %w", name, err)
			}
			if err := file.read(data); err != nil {
				return nil, fmt.Errorf("read %s/%s:%w", name, file.name, err)
			}
			fmt.Fprintf(hash, "%s %d\n", file.name, len(data))
			hash.Write(data)
		}
	}
	wn.name = fmt.Sprintf("wordnet:%.12x", hash.Sum(nil))
	return wn, nil
}

// Name identifies the database: "wordnet" and the beginning of the hash of its files.
func (wn *WordNet) Name() string { return wn.name }

// readIndex reads the positions of the synsets of each lemma.
func (p *part) readIndex(data []byte) error {
	lines := bytes.Count(data, []byte("\n"))
	p.lemmas = make(map[string]senses, lines)
	p.offsets = make([]uint32, 0, 2*lines)
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		if strings.HasPrefix(line, " ") {
			continue // The file begins with the licence.
		}
		if err := p.readLemma(line); err != nil {
			return fmt.Errorf("%d: %w", n, err)
		}
	}
	return nil
}

// readLemma reads a line: lemma, part of speech, number of synsets, pointers and counts,
// and finally the offsets of the synsets. There are 150,000 lines, so it does not split
// them into all their fields.
func (p *part) readLemma(line string) error {
	lemma, rest, _ := strings.Cut(line, " ")
	_, rest, _ = strings.Cut(rest, " ")
	count, rest, _ := strings.Cut(rest, " ")
	synsets, err := strconv.ParseUint(count, 10, 16)
	if err != nil || lemma == "" {
		return errors.New("no lemma with its number of synsets")
	}
	from := len(p.offsets)
	for range synsets {
		rest = strings.TrimRight(rest, " \r\n")
		offset := rest[strings.LastIndexByte(rest, ' ')+1:]
		rest = rest[:len(rest)-len(offset)]
		at, err := strconv.ParseUint(offset, 10, 32)
		if err != nil || int(at) > len(p.data) || !strings.HasPrefix(p.data[at:], offset) {
			return fmt.Errorf("%s: no synset at %q", lemma, offset)
		}
		p.offsets = append(p.offsets, uint32(at))
	}
	slices.Reverse(p.offsets[from:])
	p.lemmas[lemma] = senses{uint32(from), uint32(len(p.offsets))}
	return nil
}

// readExceptions reads irregular forms, one per line with its lemmas.
func (p *part) readExceptions(data []byte) error {
	p.exceptions = make(map[string][]string, bytes.Count(data, []byte("\n")))
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 0 {
			p.exceptions[fields[0]] = fields[1:]
		}
	}
	return nil
}

// Synonyms returns the single words that share a meaning with the word, in any of its forms
// and as any part of speech, and the word itself, sorted. They are spelt as in WordNet,
// where names are capitalized.
func (wn *WordNet) Synonyms(word string) []string {
	list := []string{word}
	form := text.Lower(word)
	for i := range wn.parts {
		p := &wn.parts[i]
		for _, lemma := range p.morphy(form) {
			s := p.lemmas[lemma]
			for _, at := range p.offsets[s.from:s.to] {
				list = appendWords(list, p.data[at:])
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// appendWords appends the single words of the synset at the beginning of data. Its line has
// the offset, the lexicographer file, the type, the number of words in hexadecimal, and
// each word with a number. An adjective may have its syntactic position in brackets.
func appendWords(list []string, data string) []string {
	line, _, _ := strings.Cut(data, "\n")
	fields := strings.SplitN(line, " ", 5)
	if len(fields) < 5 {
		return list
	}
	words, err := strconv.ParseUint(fields[3], 16, 16)
	if err != nil {
		return list
	}
	rest := fields[4]
	for range words {
		word, after, _ := strings.Cut(rest, " ")
		if i := strings.IndexByte(word, '('); i >= 0 && strings.HasSuffix(word, ")") {
			word = word[:i]
		}
		if !strings.Contains(word, "_") {
			list = append(list, word)
		}
		_, rest, _ = strings.Cut(after, " ")
	}
	return list
}

// morphy returns the possible lemmas of a form. They are given for an irregular form;
// otherwise suffixes are removed until a lemma is found.
func (p *part) morphy(form string) []string {
	if lemmas, ok := p.exceptions[form]; ok {
		return p.known(append([]string{form}, lemmas...))
	}
	// A form that was seen before leads to nothing new. Without this check a word like
	// "seseseses" would have an exponential number of forms.
	seen := map[string]bool{}
	forms := p.strip([]string{form}, seen)
	found := p.known(append([]string{form}, forms...))
	for len(found) == 0 && len(forms) > 0 {
		forms = p.strip(forms, seen)
		found = p.known(forms)
	}
	return found
}

// strip returns the forms without their suffixes, except those seen before.
func (p *part) strip(forms []string, seen map[string]bool) []string {
	var list []string
	for _, form := range forms {
		for _, s := range p.suffixes {
			stem, ok := strings.CutSuffix(form, s.old)
			if !ok {
				continue
			}
			if shorter := stem + s.new; !seen[shorter] {
				seen[shorter] = true
				list = append(list, shorter)
			}
		}
	}
	return list
}

// known returns the forms that are lemmas, without duplicates.
func (p *part) known(forms []string) []string {
	var list []string
	for _, form := range forms {
		if _, ok := p.lemmas[form]; ok && !slices.Contains(list, form) {
			list = append(list, form)
		}
	}
	return list
}
