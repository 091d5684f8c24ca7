// Package board makes a leaderboard of run files that nobody has to believe.
//
// A board is a folder: board.yaml with title, lanes and rules, run files in runs, and a log
// in log. [Open] reads the folder, [Board.Check] verifies every file and computes every
// number again, and [Checked.Build] writes the pages. [Board.Append] adds what is new to the
// log, whose checkpoint is signed. No number on a page was typed, except claims, which are
// called that.
//
// A program that uses it must import deem/benchmark, which names the judges of benchmarks.
//
// Only runs of one lane are compared: the same questions, judge, reader and budget of
// contexts.
package board

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"deem"
	"deem/report"
)

// The files of a board.
const (
	configFile     = "board.yaml"
	runsFolder     = "runs"
	runEnding      = ".deem"
	entriesFile    = "log/entries.jsonl"
	checkpointFile = "log/checkpoint"
)

// A Board is a folder that was read. Nothing in it is checked yet.
type Board struct {
	dir    string
	config config
	hash   string // of board.yaml
	files  []string
}

// A config is board.yaml.
type config struct {
	Title  string `yaml:"title"`
	About  string `yaml:"about"`
	Origin string `yaml:"origin"` // the name of the log, and of its key
	Key    string `yaml:"key"`    // that signs checkpoints, as package note writes it
	Issues string `yaml:"issues"` // where disputes are filed; "" for nowhere
	Rules  rules  `yaml:"rules"`
	Lanes  []lane `yaml:"lanes"`
}

type rules struct {
	MaxUnjudged *float64 `yaml:"max_unjudged"` // share above which a score is withheld
	Signed      bool     `yaml:"signed"`       // every run file must be signed
}

// A lane names what its runs have in common. Only they are compared.
type lane struct {
	Name  string `yaml:"name"`
	About string `yaml:"about"`

	Questions string `yaml:"questions"` // hash of questions and references
	Judge     string `yaml:"judge"`     // hash
	Reader    string `yaml:"reader"`    // hash; "" if systems answer themselves
	Budget    int    `yaml:"budget"`    // tokens of contexts; 0 for no limit

	Floors   []string `yaml:"floors"`   // systems that are drawn as lines
	Ceilings []string `yaml:"ceilings"` // likewise
	Claims   []claim  `yaml:"claims"`   // numbers without a run file
}

// A claim is a number that somebody states.
type claim struct {
	System string  `yaml:"system"`
	Score  float64 `yaml:"score"`
	Source string  `yaml:"source"`
}

// Open reads a board. The error says what is wrong with board.yaml.
func Open(dir string) (*Board, error) {
	name := filepath.Join(dir, configFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, deem.WithHint(fmt.Errorf("%s is not a board: it has no %s", dir, configFile), "deem init board writes an example")
	}
	if err != nil {
		return nil, err
	}
	b := &Board{dir: dir, hash: hashOf(text)}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&b.config); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := b.config.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	found, err := filepath.Glob(filepath.Join(dir, runsFolder, "*"+runEnding))
	for _, path := range found {
		b.files = append(b.files, runsFolder+"/"+filepath.Base(path))
	}
	slices.Sort(b.files)
	return b, err
}

func (c config) check() error {
	switch {
	case c.Title == "":
		return errors.New("title is missing")
	case c.Origin == "" || c.Key == "":
		return errors.New("origin and key are missing: they name the log and the key that signs it")
	case len(c.Lanes) == 0:
		return errors.New("there are no lanes")
	}
	names := map[string]bool{}
	for i, l := range c.Lanes {
		switch {
		case l.Name == "" || names[l.Name]:
			return fmt.Errorf("lane %d needs a name of its own", i+1)
		case l.Questions == "" || l.Judge == "":
			return fmt.Errorf("lane %q needs the hashes of questions and judge", l.Name)
		}
		names[l.Name] = true
		for _, c := range l.Claims {
			if c.System == "" || c.Source == "" || c.Score < 0 || c.Score > 1 {
				return fmt.Errorf("lane %q: a claim needs system, source and a score from 0 to 1", l.Name)
			}
		}
	}
	return nil
}

// maxUnjudged is the share of unjudged items above which a score is withheld.
func (c config) maxUnjudged() float64 {
	if c.Rules.MaxUnjudged == nil {
		return report.DefaultMaxUnjudged
	}
	return *c.Rules.MaxUnjudged
}

// path returns the path of a file of the board, which is named with slashes.
func (b *Board) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// base returns the name of a run file without folder and ending.
func base(file string) string {
	return strings.TrimSuffix(strings.TrimPrefix(file, runsFolder+"/"), runEnding)
}
