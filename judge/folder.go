package judge

import (
	"io/fs"
	"path"
)

// Folder returns the judges that the YAML files of an embedded folder declare, by name. It
// panics when one is wrong: a program that embeds judges has tested them.
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
