package main

import (
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// formula is a Homebrew formula.
var formula = template.Must(template.New("formula").Parse(`class Deem < Formula
  desc "Judge what a question-answering or memory system answered"
  homepage "{{.Homepage}}"
  version "{{.Version}}"
  license "Apache-2.0"
{{range .Systems}}
  on_{{.System}} do
{{- range .Archives}}
    on_{{.Arch}} do
      url "{{$.Downloads}}/{{.Name}}"
      sha256 "{{.Hash}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "deem"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/deem.bash" => "deem"
    zsh_completion.install "completions/deem.zsh" => "_deem"
    fish_completion.install "completions/deem.fish"
  end

  test do
    assert_match "score", shell_output("#{bin}/deem demo")
  end
end
`))

type formulaSystem struct {
	System   string
	Archives []formulaArchive
}

type formulaArchive struct{ Arch, Name, Hash string }

// writeFormula writes the formula for the platforms that Homebrew knows and the release
// has.
func (r *release) writeFormula(dir string, all sums) error {
	var systems []formulaSystem
	for _, s := range []struct{ brew, os string }{{"macos", "darwin"}, {"linux", "linux"}} {
		system := formulaSystem{System: s.brew}
		for _, a := range []struct{ brew, arch string }{{"arm", "arm64"}, {"intel", "amd64"}} {
			if x := all.of("-" + s.os + "-" + a.arch + ".tar.gz"); x.hash != "" {
				system.Archives = append(system.Archives, formulaArchive{a.brew, x.name, x.hash})
			}
		}
		if len(system.Archives) > 0 {
			systems = append(systems, system)
		}
	}
	var text strings.Builder
	err := formula.Execute(&text, map[string]any{
		"Version": r.name(), "Systems": systems, "Homepage": r.homepage, "Downloads": strings.TrimSuffix(r.downloads, "/"),
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "deem.rb"), []byte(text.String()), 0o644)
}
