package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"deem"
	"deem/internal/labels"
	"deem/internal/usage"
	"deem/model/replay"
)

// An output is a flag that names a file which is replaced or appended to. The files of
// other flags, such as -o, must not exist: see writeNew.
type output struct {
	flag     string
	what     string                 // the content that deem writes
	ours     func(head []byte) bool // whether a file with this beginning has such content
	appended bool
	again    string // the flag that may read the file before it is replaced
}

// outputs lists all outputs. A file is recognized by its beginning.
var outputs = []output{
	{flag: "flips", what: "table of deem compare --flips", ours: begins("id,category,change,question,references,")},
	{flag: "html", what: "page of deem compare or deem rejudge", ours: contains(`<meta name="generator" content="deem">`)},
	{flag: "card", what: "card of deem probe", ours: func(head []byte) bool {
		return begins("Judge card: ")(head) || begins("{\n  \"version\": \"deem.probe/")(head) || contains("<title>Judge card: ")(head)
	}},
	{flag: "write-known", what: "registry of deem agree --write-known", ours: isRegistry, again: "--known"},
	{flag: "queue", what: "table of items to label", ours: begins(strings.Join(labels.TableColumns, ",") + "\n")},
	{flag: "record", what: "file of replies of deem --record", ours: isReplies, appended: true},
	{flag: "log", what: "log of deem", ours: isLog, appended: true},
}

// inputs are the flags that name files to read. For --model it is the part after "replay:".
// Arguments that are files are read too.
var inputs = []string{
	"data", "responses", "contexts", "reader", "other", "baseline", "labels", "known", "errata", "lock", "probes", "judge", "model", "prices", "ca-file",
	"token-file", "config",
}

// headSize is the number of bytes read to recognize a file: the first line of a file of
// replies contains a whole reply.
const headSize = 1 << 20

// checkOutputs refuses to overwrite files that deem did not write as the same kind of
// output, and files that the command reads. It does so before anything is opened, asked or
// paid for.
func checkOutputs(flags *pflag.FlagSet, args []string) error {
	var reads []readFile
	read := func(name, by string) {
		if info, err := os.Stat(name); err == nil {
			reads = append(reads, readFile{info, by})
		}
	}
	for _, flag := range inputs {
		for _, name := range flagValues(flags, flag) {
			name = strings.TrimPrefix(name, "replay:")
			if file, ok := strings.CutPrefix(name, "labels:"); ok { // a judge, as labels:FILE#COLUMN
				name, _, _ = strings.Cut(file, "#")
			}
			read(name, "--"+flag)
		}
	}
	for _, arg := range args {
		read(arg, "the command")
		if _, name, ok := strings.Cut(arg, "="); ok { // as in "deem compare NAME=RUN.deem"
			read(name, "the command")
		}
	}
	by := map[string]string{}
	for _, out := range outputs {
		for _, name := range flagValues(flags, out.flag) {
			if name == "" || name == "-" {
				continue
			}
			flag := "--" + out.flag
			if other, ok := by[filepath.Clean(name)]; ok {
				return usage.Errorf("%s is written twice: by %s and by %s", name, other, flag)
			}
			by[filepath.Clean(name)] = flag
			if err := out.check(name, reads); err != nil {
				return usage.Mark(deem.WithHint(err, "%s", orHint(err, "name another file with "+flag)))
			}
		}
	}
	return nil
}

// check checks the existing file at the location of the output.
func (out output) check(name string, reads []readFile) error {
	info, err := os.Stat(name)
	if err != nil {
		return nil //nolint:nilerr // A missing file loses nothing; creating it reports why it fails.
	}
	for _, r := range reads {
		if r.by != out.again && os.SameFile(info, r.info) {
			return fmt.Errorf("--%s would write over %s, which %s reads", out.flag, name, r.by)
		}
	}
	switch {
	case !info.Mode().IsRegular() && out.appended, info.Mode().IsRegular() && info.Size() == 0:
		return nil // a terminal, a pipe or an empty file
	case !info.Mode().IsRegular():
		return thereAlready(name, "--"+out.flag, "is not a file")
	}
	f, err := os.Open(name) //nolint:gosec // The user names the file.
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // the file was only read
	head, err := io.ReadAll(io.LimitReader(f, headSize))
	if err != nil {
		return err
	}
	if !out.ours(head) {
		return thereAlready(name, "--"+out.flag, "is not a "+out.what)
	}
	return nil
}

// thereAlready returns the error for a file that would be lost; more may say what it is
// not.
func thereAlready(name, flag, more string) error {
	err := fmt.Errorf("%s is there already", name)
	if more != "" {
		err = fmt.Errorf("%w, and %s", err, more)
	}
	return usage.Mark(deem.WithHint(err, "move it away, or name another file with %s", flag))
}

// A readFile is a file that a command reads, and the flag or argument that names it.
type readFile struct {
	info os.FileInfo
	by   string
}

// flagValues returns the values of a flag, or nil if the command does not have it.
func flagValues(flags *pflag.FlagSet, name string) []string {
	f := flags.Lookup(name)
	if f == nil {
		return nil
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

func begins(with string) func(head []byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(with)) }
}

// contains searches the head of a page, where its title is.
func contains(text string) func(head []byte) bool {
	return func(head []byte) bool { return bytes.Contains(head[:min(len(head), 1024)], []byte(text)) }
}

// firstLine returns the first line that is not blank.
func firstLine(head []byte) []byte {
	for line := range bytes.Lines(head) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line
		}
	}
	return nil
}

// isReplies reports whether a file begins like one that --model replay:FILE reads. A first
// line that is longer than the head is recognized by its beginning.
func isReplies(head []byte) bool {
	line := firstLine(head)
	if len(head) == headSize && len(line) >= headSize-1 {
		return bytes.HasPrefix(line, []byte(`{"request":"`))
	}
	_, err := replay.Read("", "", bytes.NewReader(line))
	return err == nil
}

// isRegistry reports whether a file begins like a registry of known disagreements, which
// people may write too. It is YAML; labels in YAML have neither of the two keys.
func isRegistry(head []byte) bool {
	if bytes.HasPrefix(head, []byte("# Disagreements of the judge with people that are known.")) {
		return true // An empty registry has nothing else to recognize.
	}
	if len(head) == headSize { // The head ends within an entry.
		head = head[:bytes.LastIndex(head, []byte("\n- "))+1]
	}
	var list []map[string]any
	if yaml.Unmarshal(head, &list) != nil || len(list) == 0 {
		return false
	}
	return !slices.ContainsFunc(list, func(k map[string]any) bool { return k["item"] == nil || k["judge"] == nil && k["people"] == nil })
}

// isLog reports whether a file begins with an event.
func isLog(head []byte) bool {
	var event map[string]json.RawMessage
	if json.Unmarshal(firstLine(head), &event) != nil {
		return false
	}
	return !slices.ContainsFunc([]string{"time", "level", "msg"}, func(key string) bool { return event[key] == nil })
}
