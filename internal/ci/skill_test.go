package ci_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSkill follows the skill for coding agents to the letter: it runs every command of it, in
// order, in a folder with the files of the quick start.
func TestSkill(t *testing.T) {
	page, errs := Parse("SKILL.md", strings.ReplaceAll(read(t, "python/src/deem/SKILL.md"), "   ```sh", "<!-- run -->\n   ```sh"))
	for _, err := range errs {
		t.Error(err)
	}
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join(root, "examples", "quickstart", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), []byte(read(t, file)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=" + filepath.Dir(binary) + ":/usr/bin:/bin", "HOME=" + dir}
	var printed strings.Builder
	commands := 0
	for _, block := range page.Blocks {
		for line := range strings.Lines(block.Text) {
			commands++
			printed.WriteString(run(t, dir, env, "bash", "-c", line))
		}
	}
	for _, want := range []string{"now is better than before", "corrected score", "ok"} {
		if !strings.Contains(printed.String(), want) {
			t.Errorf("the commands do not print %q:\n%s", want, printed.String())
		}
	}
	if commands < 9 {
		t.Errorf("%d commands were run: the test sees too little", commands)
	}
}
