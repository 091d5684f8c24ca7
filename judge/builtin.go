package judge

import (
	"embed"
	"path"
	"strings"
)

//go:embed judges/*.yaml prompts/*.txt
var files embed.FS

// Builtins returns the names of the built-in judges, sorted.
func Builtins() []string {
	entries, err := files.ReadDir("judges")
	if err != nil {
		panic(err) // The folder is part of the program.
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	return names
}

// Builtin returns the built-in judge with the given name, and reports whether there is one.
func Builtin(name string) (*Declaration, bool) {
	file := "judges/" + name + ".yaml"
	data, err := files.ReadFile(file)
	if err != nil {
		return nil, false
	}
	d, err := Parse(file, data, func(prompt string) ([]byte, error) { return files.ReadFile(path.Join("judges", prompt)) })
	if err != nil {
		panic("judge: " + err.Error()) // The file is part of the program, and a test reads it.
	}
	return d, true
}
