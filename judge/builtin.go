package judge

import (
	"embed"
	"fmt"
	"path"
)

//go:embed judges/*.yaml prompts/*.txt
var files embed.FS

// builtins are the judges that come with deem, written out by hand.
var builtins = []string{"universal", "rubric"}

// Builtins returns the names of the judges that come with deem.
func Builtins() []string { return append([]string(nil), builtins...) }

// Builtin returns the named judge that comes with deem.
func Builtin(name string) (*Declaration, bool) {
	for _, b := range builtins {
		if b == name {
			return mustParse(name), true
		}
	}
	return nil, false
}

// mustParse reads an embedded judge, which a test has read before.
func mustParse(name string) *Declaration {
	file := "judges/" + name + ".yaml"
	data, err := files.ReadFile(file)
	if err != nil {
		panic(fmt.Sprintf("judge: %v", err))
	}
	d, err := Parse(file, data, func(prompt string) ([]byte, error) {
		return files.ReadFile(path.Join(path.Dir(file), prompt))
	})
	if err != nil {
		panic(fmt.Sprintf("judge: %v", err))
	}
	return d
}
