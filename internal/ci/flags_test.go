package ci_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

var (
	declaredFlag = regexp.MustCompile(`(?m)^ +(?:(-\w), )?(--[\w-]+)`)
	namedCommand = regexp.MustCompile(`(?m)^  ([a-z][a-z-]+)  `)
)

// help returns what deem says of a command.
var help = func() func(words ...string) (string, bool) {
	var mu sync.Mutex
	kept := map[string]string{}
	return func(words ...string) (string, bool) {
		mu.Lock()
		defer mu.Unlock()
		key := strings.Join(words, " ")
		text, ok := kept[key]
		if !ok {
			out, err := exec.Command(binary, append(slices.Clone(words), "--help-all")...).Output()
			if err == nil {
				text = string(out)
			}
			kept[key] = text
		}
		return text, text != ""
	}
}()

// flagsOf returns the flags of a command and of those below it that the words name.
func flagsOf(words []string) (flags []string, known bool) {
	text, ok := help(words[:1]...)
	if !ok || !slices.Contains(commandNames(), words[0]) {
		return nil, false
	}
	if len(words) > 1 && regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(words[1]) {
		if below, ok := help(words[:2]...); ok {
			text += below
		}
	}
	for _, m := range declaredFlag.FindAllStringSubmatch(text, -1) {
		flags = append(flags, m[1], m[2])
	}
	return flags, true
}

// commandNames returns the commands that "deem --help" names.
func commandNames() []string {
	text, _ := help()
	names := []string{"help", "version", "completion", "worker"} // which are not listed
	for _, m := range namedCommand.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// checkFlags looks whether the commands of ours in a block exist, and their flags.
func checkFlags(t *testing.T, name string, b Block) {
	t.Helper()
	for _, words := range Commands(b.Text) {
		if filepath.Base(words[0]) == "deem" && len(words) > 1 {
			for _, problem := range problems(words[1:]) {
				t.Errorf("%s:%d: %s: %s", name, b.Line, strings.Join(words, " "), problem)
			}
		}
	}
}

// problems says what is wrong with the arguments of deem.
func problems(words []string) []string {
	if strings.HasPrefix(words[0], "-") {
		return nil
	}
	flags, ok := flagsOf(words)
	if !ok {
		return []string{"there is no command " + words[0]}
	}
	var list []string
	for _, word := range words[1:] {
		flag, _, _ := strings.Cut(word, "=")
		short := len(flag) == 2 && flag[0] == '-' && flag[1] != '-'
		if (strings.HasPrefix(flag, "--") || short) && !slices.Contains(flags, flag) {
			list = append(list, "there is no flag "+flag)
		}
	}
	takesBenchmark := slices.Contains([]string{"run", "plan", "probe"}, words[0])
	if takesBenchmark && len(words) > 1 && words[1] != "lock" && !strings.HasPrefix(words[1], "-") && !slices.Contains(benchmarks(), words[1]) {
		list = append(list, "there is no benchmark "+words[1])
	}
	return list
}

// benchmarks returns the names that "deem list benchmarks" knows.
var benchmarks = sync.OnceValue(func() []string {
	out, err := exec.Command(binary, "list", "benchmarks", "--json").Output()
	if err != nil {
		panic(err)
	}
	var list []struct{ Name string }
	if err := json.Unmarshal(out, &list); err != nil {
		panic(err)
	}
	var names []string
	for _, b := range list {
		names = append(names, b.Name)
	}
	return names
})

func TestProblems(t *testing.T) {
	for line, want := range map[string]string{
		"run longmemeval --data x -j 8 --json": "",
		"run --dta x":                          "there is no flag --dta",
		"rum --data x":                         "there is no command rum",
		"run longmem --data x":                 "there is no benchmark longmem",
		"label import x --by anna":             "",
		"label import x --bye anna":            "there is no flag --bye",
		"report last -z":                       "there is no flag -z",
		"--help":                               "",
	} {
		if got := strings.Join(problems(strings.Fields(line)), "; "); got != want {
			t.Errorf("deem %s: %q, want %q", line, got, want)
		}
	}
}

// TestBookHasFlags looks whether the book tells of every flag that a command has.
func TestBookHasFlags(t *testing.T) {
	var book strings.Builder
	for _, name := range pages(t) {
		book.WriteString(read(t, name))
	}
	told := regexp.MustCompile(`--[a-z][a-z-]*`).FindAllString(book.String(), -1)
	seen := 0
	for _, words := range allCommands() {
		flags, _ := flagsOf(words)
		for _, flag := range flags {
			seen++
			if strings.HasPrefix(flag, "--") && flag != "--help" && !slices.Contains(told, flag) {
				t.Errorf("no document tells of deem %s %s", strings.Join(words, " "), flag)
			}
		}
	}
	if seen < 300 {
		t.Errorf("%d flags were looked at: the test sees too little", seen)
	}
}

// allCommands returns every command and every command below one.
func allCommands() (list [][]string) {
	for _, command := range commandNames() {
		list = append(list, []string{command})
		whole, _ := help(command)
		_, subcommands, _ := strings.Cut(whole, "\nSUBCOMMANDS\n")
		subcommands, _, _ = strings.Cut(subcommands, "\n\n")
		for _, m := range namedCommand.FindAllStringSubmatch(subcommands, -1) {
			below := m[1]
			if text, ok := help(command, below); ok && strings.HasPrefix(text, "deem "+command+" "+below) {
				list = append(list, []string{command, below})
			}
		}
	}
	return list
}

var inlineFlag = regexp.MustCompile("`[^`\n]*`")

// foreign are flags of other programs that the documents speak of, and the one that help does
// not list.
var foreign = []string{"--log_samples", "--help-all", "--ephemeral", "--output-format", "--tools", "--notify", "--user"}

// TestFlagsInProse holds every flag that a document mentions to those there are.
func TestFlagsInProse(t *testing.T) {
	var all []string
	for _, words := range allCommands() {
		flags, _ := flagsOf(words)
		all = append(all, flags...)
	}
	mention := regexp.MustCompile(`(?:^|[ (])(--[a-z][\w-]*)`)
	for _, name := range pages(t) {
		for _, code := range inlineFlag.FindAllString(read(t, name), -1) {
			for _, m := range mention.FindAllStringSubmatch(strings.Trim(code, "`"), -1) {
				if !slices.Contains(all, m[1]) && !slices.Contains(foreign, m[1]) {
					t.Errorf("%s speaks of %s, which no command has", name, m[1])
				}
			}
		}
	}
}
