package judge

import (
	"embed"
	"maps"
	"slices"
	"sync"
)

//go:embed judges/*.yaml prompts/*.txt
var files embed.FS

// declared returns the declarations of the built-in judges, one file each.
var declared = sync.OnceValue(func() map[string]*Declaration { return Folder(files, "judges") })

// Builtins returns the names of the built-in judges.
func Builtins() []string { return slices.Sorted(maps.Keys(declared())) }

// Builtin returns the built-in judge with the given name.
func Builtin(name string) (*Declaration, bool) {
	d, ok := declared()[name]
	if !ok {
		return nil, false
	}
	return new(*d), true
}
