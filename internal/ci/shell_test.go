package ci_test

import "strings"

// Commands returns the commands of a shell script, each as its words: lines that end in
// a backslash are put together, comments are dropped, and a list of commands behind one
// another is taken apart. It knows the shell that documents are written in and no more:
// quotes, but neither loops nor here-documents.
func Commands(script string) [][]string {
	var s splitter
	for line := range strings.Lines(strings.ReplaceAll(script, "\\\n", " ")) {
		s.line(strings.TrimSuffix(line, "\n"))
	}
	return s.commands
}

// A splitter takes a script apart.
type splitter struct {
	commands [][]string
	words    []string
	word     strings.Builder
	inWord   bool
	quote    rune // that we are in, or 0
}

func (s *splitter) line(line string) {
	for _, r := range line {
		if s.quote == 0 && r == '#' && !s.inWord {
			break
		}
		s.next(r)
	}
	if s.quote != 0 {
		s.next('\n')
		return
	}
	s.endCommand()
}

func (s *splitter) next(r rune) {
	switch {
	case s.quote != 0 && r == s.quote:
		s.quote = 0
	case s.quote != 0:
		s.word.WriteRune(r)
	case r == '\'' || r == '"':
		s.quote, s.inWord = r, true
	case strings.ContainsRune("|;&()", r):
		s.endCommand()
	case r == ' ' || r == '\t':
		s.endWord()
	default:
		s.inWord = true
		s.word.WriteRune(r)
	}
}

func (s *splitter) endWord() {
	if s.inWord {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.inWord = false
}

func (s *splitter) endCommand() {
	s.endWord()
	words := s.words
	for len(words) > 0 && assignment(words[0]) {
		words = words[1:]
	}
	if len(words) > 0 {
		s.commands = append(s.commands, words)
	}
	s.words = nil
}

// assignment reports whether a word sets a variable for the command behind it.
func assignment(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}
