package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"deem/internal/test/storetest"
)

// A hintCase provokes a hint and follows it.
type hintCase struct {
	when string // the last line provokes the hint; the lines before it set up what it needs

	// follow is what the hint says to type, one item per line: a command, flags to add to
	// the command or to replace in it, or "leave --flag out". Each line is an exact part of
	// the printed hint. If the hint has a placeholder in capitals, or a flag without its
	// value, "=> TEXT" follows with what a user would type.
	follow string

	// past means that following the hint may lead to another error, because it names a
	// server or a file that does not exist here.
	past bool
}

// TestHints follows hints exactly: the command must get past the error. It checks that
// every flag and every command in a hint exists, and that a case follows it. A new hint
// that says what to type needs a case.
func TestHints(t *testing.T) {
	notQuick(t)
	t.Parallel()
	sources := sourceHints(t)
	if len(sources) < 200 {
		t.Fatalf("only %d hints were found in the source", len(sources))
	}
	flags, commands := knownWords(t)
	var mu sync.Mutex
	followed, ran := map[string]string{}, 0 // by hint, what cases type
	walk := func(t *testing.T, cases []hintCase, cluster *storetest.Cluster) {
		for _, tt := range cases {
			lines := strings.Split(tt.when, "\n")
			t.Run(lines[len(lines)-1], func(t *testing.T) {
				t.Parallel()
				hint := followCase(t, newShell(t, cluster), tt, lines)
				mu.Lock()
				defer mu.Unlock()
				for source := range sources {
					if fits(source, hint) {
						followed[source] += tt.follow + "\n"
					}
				}
				ran++
			})
		}
	}
	t.Run("cases", func(t *testing.T) { walk(t, slices.Concat(hintCases, answerCases, serverCases, boardCases), nil) })
	t.Run("postgres", func(t *testing.T) { walk(t, postgresCases, storetest.Start(t, storetest.Options{})) })
	if ran < len(hintCases)+len(answerCases)+len(serverCases)+len(boardCases) {
		return // -run chose some, or some failed.
	}
	withPostgres := ran == len(hintCases)+len(answerCases)+len(serverCases)+len(boardCases)+len(postgresCases)
	command := regexp.MustCompile(`\bdeem (` + strings.Join(commands, "|") + `)\b`)
	flag := regexp.MustCompile(`(?:^|[^\w-])(--[a-z][a-z-]+)`)
	for source, file := range sources {
		words := command.FindAllString(source, -1)
		for _, m := range flag.FindAllStringSubmatch(foreign.ReplaceAllString(source, ""), -1) {
			if !flags[m[1]] {
				t.Errorf("%s: hint %q: no command has the flag %s", file, source, m[1])
			}
			words = append(words, m[1])
		}
		if pending[source] {
			if followed[source] != "" {
				t.Errorf("%s: a case follows the hint %q: take it off the list of pending hints", file, source)
			}
			continue
		}
		for _, word := range words {
			if withPostgres && !strings.Contains(followed[source], word) {
				t.Errorf("%s: hint %q says %s, and no case follows it", file, source, word)
			}
		}
	}
}

// pending are hints that no case follows yet. Their flags are checked like all others.
var pending = map[string]bool{
	"judge a sample of the same items: deem run --sample 200":                                                         true,
	"--map retrieved=COLUMN,gold=COLUMN names other columns; this file has lists in %s":                               true,
	`a row needs "retrieved", a list of ids, and "gold_ids"; deem retrieval BENCHMARK reads the files of a benchmark`: true,
	"--jq . shows the whole document":                                                                                 true,
	"allow more time with --timeout 5m":                                                                               true,
	"deem report RUN shows one run":                                                                                   true,
	"if they are the items, --map response=COLUMN names the column with the response; otherwise take the list with the items out of it: jq '%s' %s > part.json": true,
	"judge each and compare them: deem run --data %s; deem run --data %s; deem compare last~1 last":                                                             true,
	"%s looks like the verdict, and then there are %s: --map %s=%s":                                                                                             true,
	"choose one: --pick %s; take each by itself: --pick each; or count all rows together: --pick %s":                                                            true,
	"a gate looks like 'overall >= -1pp', 'unjudged <= 1%%', 'p < 0.05' or 'better'; several gates are --gate 'p < 0.05' --gate 'overall > 0'":                  true,
}

// followCase provokes the hint of a case, follows it and returns it.
func followCase(t *testing.T, sh *shell, tt hintCase, lines []string) string {
	t.Helper()
	for _, files := range []map[string]string{hintFiles, answerFiles, serverFiles} {
		for name, text := range files {
			writeFile(t, filepath.Join(sh.dir, name), text)
		}
	}
	for _, line := range lines[:len(lines)-1] {
		if code, said := sh.typed(t, line); code == 1 || code == 2 {
			t.Fatalf("%s: exit code %d\n%s", line, code, said)
		}
	}
	when := lines[len(lines)-1]
	code, said := sh.typed(t, when)
	hint := hintIn(said)
	if code == 0 || hint == "" {
		t.Fatalf("%s: exit code %d, want an error with a hint\n%s", when, code, said)
	}
	for part := range strings.SplitSeq(hint, ";") {
		flag := regexp.MustCompile(`--[a-z-]+ \w+`).FindString(part)
		if flag != "" && strings.Contains(when+" ", " "+flag+" ") && !strings.Contains(part, "deem ") {
			t.Errorf("%s: the hint %q suggests %s again", when, hint, flag)
		}
	}
	if tt.follow != "" {
		for line := range strings.SplitSeq(tt.follow, "\n") {
			followHint(t, sh, tt, when, said, line)
		}
	}
	return hint
}

// followHint types what a hint says and checks that the error is gone.
func followHint(t *testing.T, sh *shell, tt hintCase, when, said, line string) {
	t.Helper()
	printed, instead, filled := strings.Cut(line, " => ")
	if !strings.Contains(hintIn(said), printed) {
		t.Fatalf("the hint %q does not say %q", hintIn(said), printed)
	}
	if filled {
		pattern := regexp.MustCompile(`[A-Z]{2,}`).ReplaceAllString(regexp.QuoteMeta(printed), ".+")
		if !regexp.MustCompile(`^`+pattern+`( |=|$)`).MatchString(instead) && !strings.Contains(instead, " "+printed+" ") && !strings.HasPrefix(instead, "deem ") && !strings.HasPrefix(instead, "POST ") {
			t.Fatalf("%q is not %q with its placeholders filled in", instead, printed)
		}
		printed = instead
	}
	next := printed
	switch {
	case strings.HasPrefix(printed, "-"):
		next = withFlags(t, when, printed)
	case strings.HasPrefix(printed, "leave "):
		flag := strings.TrimSuffix(strings.TrimPrefix(printed, "leave "), " out")
		next = regexp.MustCompile(` `+flag+`( [^-\s]\S*)?`).ReplaceAllString(when, "")
	}
	if next == when {
		t.Fatalf("following %q leaves the command as it was: %s", printed, when)
	}
	code, now := sh.typed(t, next)
	if code == 0 && strings.HasPrefix(when, "POST ") && strings.HasPrefix(next, "deem serve") {
		code, now = sh.typed(t, when) // The new server answers it.
	}
	switch {
	case code != 1 && code != 2:
	case tt.past && errorIn(now) != errorIn(said):
	default:
		t.Errorf("%s\n%s\nfollowed by %s: exit code %d\n%s", when, said, next, code, now)
	}
}

// withFlags adds flags to a command, or replaces those that it has.
func withFlags(t *testing.T, command, flags string) string {
	t.Helper()
	name, _, _ := strings.Cut(flags, " ")
	if name, value, ok := strings.Cut(flags, " "); ok && regexp.MustCompile(` `+name+` `).MatchString(command) {
		return regexp.MustCompile(` `+name+` ('[^']*'|\S+)`).ReplaceAllLiteralString(command, " "+name+" "+value)
	}
	if strings.Contains(command, " "+name+" ") {
		t.Fatalf("%s has %s already", command, name)
	}
	return command + " " + flags
}

func hintIn(said string) string { return lineIn(said, "hint") }

func errorIn(said string) string { return lineIn(said, "error") }

// lineIn returns the first line of a kind on standard error.
func lineIn(said, kind string) string {
	for line := range strings.Lines(said) {
		if text, ok := strings.CutPrefix(line, "deem: "+kind+": "); ok {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// verb matches the verbs of a format.
var verb = regexp.MustCompile(`%[-+#0-9.]*[a-z]`)

// fits reports whether a printed hint begins like the given format.
func fits(format, printed string) bool {
	parts := verb.Split(format, -1)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`^(?:` + strings.Join(parts, ".*") + `)`).MatchString(printed)
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// foreign matches commands of other programs.
var foreign = regexp.MustCompile(`\b(aws|curl|inspect) [^;)]*`)

// knownWords returns all flags, and the names of all commands.
func knownWords(t *testing.T) (flags map[string]bool, commands []string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z][a-z-]+)  `).FindAllStringSubmatch(helpOf(t, "--help"), -1) {
		commands = append(commands, m[1])
	}
	flags = map[string]bool{}
	for _, name := range append(slices.Clone(commands), "cascade fit", "cascade check", "label import", "runs copy", "runs rm", "worker",
		"compare bridge", "board build", "board check", "board key", "board log", "export keygen") {
		for _, f := range regexp.MustCompile(`--[a-z][a-z-]+`).FindAllString(helpOf(t, append(strings.Fields(name), "--help-all")...), -1) {
			flags[f] = true
		}
	}
	return flags, commands
}

// sourceHints returns the hints in the source by their format, with their positions: the
// second argument of WithHint, and texts that reach it through a variable, a constant or a
// function.
func sourceHints(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	hints := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || path != root && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		where, _ := filepath.Rel(root, path)
		add := func(e ast.Expr) {
			if s := textOf(e); s != "" && s != "%s" {
				hints[s] = where
			}
		}
		addTexts := func(n ast.Node) {
			ast.Inspect(n, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && nameOf(call.Fun) == "Join" {
					return false
				}
				if e, ok := n.(ast.Expr); ok && strings.Contains(textOf(e), " ") {
					add(e)
					return false
				}
				return true
			})
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if nameOf(n.Fun) == "WithHint" && len(n.Args) > 1 {
					for _, arg := range n.Args[1:] {
						addTexts(arg)
					}
				}
			case *ast.FuncDecl:
				if isAdvice(n.Name.Name) {
					addTexts(n)
				}
			case *ast.ValueSpec:
				for i, value := range n.Values {
					if i < len(n.Names) && (isAdvice(n.Names[i].Name) || n.Names[i].Name == "needsLists") {
						add(value)
					}
				}
			case *ast.AssignStmt:
				for i, value := range n.Rhs {
					if i < len(n.Lhs) && isAdvice(nameOf(n.Lhs[i])) {
						add(value)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hints
}

// isAdvice reports whether a function, variable or constant is a hint, by its name.
func isAdvice(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "hint") || strings.HasSuffix(name, "advice") || name == "hintbystatus"
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// textOf returns the text of a literal or of concatenated literals, with %s for other
// operands, or "" for anything else.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		if e.Kind != token.STRING || err != nil {
			return ""
		}
		return s
	case *ast.BinaryExpr:
		x, y := textOf(e.X), textOf(e.Y)
		switch {
		case e.Op != token.ADD || x == "" && y == "":
			return ""
		case x == "":
			x = "%s"
		case y == "":
			y = "%s"
		}
		return x + y
	case *ast.CallExpr:
		if nameOf(e.Fun) == "Sprintf" && len(e.Args) > 0 {
			return textOf(e.Args[0])
		}
	}
	return ""
}
