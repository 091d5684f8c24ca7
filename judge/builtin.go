package judge

import (
	"embed"
	"sync"
)

//go:embed judges/*.yaml prompts/*.txt
var files embed.FS

// builtins are the judges that come with deem, written out by hand.
var builtins = []string{"universal", "rubric", "faithful", "relevant", "context", "helpful", "refusal", "memory-use", "safe-instructions"}

// declared are their declarations.
var declared = sync.OnceValue(func() map[string]*Declaration { return Folder(files, "judges") })

// Builtins returns the names of the judges that come with deem.
func Builtins() []string { return append([]string(nil), builtins...) }

// Builtin returns the named judge that comes with deem.
func Builtin(name string) (*Declaration, bool) {
	d, ok := declared()[name]
	if !ok {
		return nil, false
	}
	return new(*d), true
}
