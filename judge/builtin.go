package judge

import (
	"embed"
	"maps"
	"slices"
	"sync"
)

//go:embed judges/*.yaml prompts/*.txt
var files embed.FS

// declared are the declarations of the judges that come with deem, a file each.
var declared = sync.OnceValue(func() map[string]*Declaration { return Folder(files, "judges") })

// Builtins returns the names of the judges that come with deem.
func Builtins() []string { return slices.Sorted(maps.Keys(declared())) }

// Builtin returns the named judge that comes with deem.
func Builtin(name string) (*Declaration, bool) {
	d, ok := declared()[name]
	if !ok {
		return nil, false
	}
	return new(*d), true
}
