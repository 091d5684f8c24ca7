package judge

import (
	"io/fs"
	"path"
)

// Folder returns the judges declared by the YAML files in an embedded folder, by name. It
// panics if a file is invalid: a program that embeds judges must have tested them.
func Folder(files fs.FS, folder string) map[string]*Declaration {
	names, err := fs.Glob(files, folder+"/*.yaml")
	if err != nil {
		panic("judge: " + err.Error())
	}
	all := map[string]*Declaration{}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			panic("judge: " + err.Error())
		}
		d, err := Parse(name, data, func(prompt string) ([]byte, error) {
			return fs.ReadFile(files, path.Join(folder, prompt))
		})
		if err != nil {
			panic("judge: " + err.Error())
		}
		all[d.Name] = d
	}
	return all
}
