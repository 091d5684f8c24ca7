package ci_test

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// wantDemo is in what deem demo prints.
const wantDemo = "69.9%"

func TestDebian(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("dpkg is not installed; scripts/need.sh packagers installs it")
	}
	dir := built(t)
	if line := installLine(t, `curl -fO "$DEEM/deem_`); runtime.GOARCH == "amd64" && !strings.Contains(line, filepath.Base(one(t, filepath.Join(dir, "dist", "*.deb")))) {
		t.Errorf("README names another file: %s", line)
	}
	system := t.TempDir()
	for _, name := range []string{"info", "updates"} {
		if err := os.MkdirAll(filepath.Join(system, "var/lib/dpkg", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(system, "var/lib/dpkg/status"), "")
	bare := append(bare(t, "/usr/sbin:/sbin", system), "DEBIAN_FRONTEND=noninteractive")
	run(t, system, bare, "dpkg", "--root="+system, "--force-not-root", "--log="+filepath.Join(system, "log"), "-i", one(t, filepath.Join(dir, "dist", "*.deb")))
	if out := run(t, system, bare, "dpkg", "--root="+system, "-s", "deem"); !strings.Contains(out, "Status: install ok installed") || !strings.Contains(out, "Version: 0.1.0\n") {
		t.Errorf("dpkg -s deem prints\n%s", out)
	}
	if out := run(t, system, bare, filepath.Join(system, "usr/bin/deem"), "demo"); !strings.Contains(out, wantDemo) {
		t.Errorf("deem demo printed\n%s", out)
	}
	if out := run(t, system, bare, "dpkg", "--root="+system, "-V", "deem"); out != "" {
		t.Errorf("dpkg finds files that are not as packed:\n%s", out)
	}
}

func TestRPM(t *testing.T) {
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Skip("rpm is not installed; scripts/need.sh packagers installs it")
	}
	dir, system := built(t), t.TempDir()
	file := one(t, filepath.Join(dir, "dist", "*.rpm"))
	bare := bare(t, "/usr/sbin", system)
	if out := run(t, system, bare, "rpm", "-K", "-v", file); strings.Count(out, ": OK\n") != 4 {
		t.Errorf("rpm -K prints\n%s", out)
	}
	if os.Getuid() != 0 {
		t.Skip("rpm --root needs root")
	}
	run(t, system, bare, "rpm", "--root", system, "--nodeps", "-i", file)
	if out := run(t, system, bare, "rpm", "--root", system, "-q", "deem"); !strings.Contains(out, "deem-0.1.0-1.") {
		t.Errorf("rpm -q deem prints %q", out)
	}
	run(t, system, bare, "rpm", "--root", system, "-V", "deem")
	if out := run(t, system, bare, filepath.Join(system, "usr/bin/deem"), "demo"); !strings.Contains(out, wantDemo) {
		t.Errorf("deem demo printed\n%s", out)
	}
}

// TestSums checks the checksums and their signature as docs/release.md says, and that a
// changed file is found.
func TestSums(t *testing.T) {
	dir := built(t)
	dist := filepath.Join(dir, "dist")
	key, err := os.ReadFile(filepath.Join(dir, "key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "allowed"), "deem "+string(key))
	verify := func(sums string) error {
		cmd := exec.CommandContext(t.Context(), "ssh-keygen", "-Y", "verify", "-f", filepath.Join(dir, "allowed"), "-I", "deem", "-n", "deem-release", "-s", filepath.Join(dist, "SHA256SUMS.sig"))
		cmd.Stdin = strings.NewReader(sums)
		return cmd.Run()
	}
	sums := read(t, filepath.Join(dist, "SHA256SUMS"))
	if err := verify(sums); err != nil {
		t.Errorf("the signature is refused: %v", err)
	}
	if verify(strings.Replace(sums, "a", "b", 1)) == nil {
		t.Error("the signature is taken for other checksums")
	}
	entries, err := os.ReadDir(dist)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "SHA256SUMS") {
			continue
		}
		digest := sha256.Sum256([]byte(read(t, filepath.Join(dist, e.Name()))))
		if !strings.Contains(sums, hex.EncodeToString(digest[:])+"  "+e.Name()+"\n") {
			t.Errorf("SHA256SUMS has another sum for %s, or none", e.Name())
		}
	}
	formula := read(t, filepath.Join(dist, "deem.rb"))
	archive := "deem-0.1.0-" + host + ".tar.gz"
	digest := regexp.MustCompile(`(?m)^(\w+)  ` + regexp.QuoteMeta(archive) + `$`).FindStringSubmatch(sums)
	if digest == nil || !strings.Contains(formula, `/`+archive+`"`) || !strings.Contains(formula, `sha256 "`+digest[1]+`"`) {
		t.Errorf("the formula lacks %s with %s:\n%s", archive, digest, formula)
	}
	if ruby, err := exec.LookPath("ruby"); err == nil {
		run(t, dist, nil, ruby, "-c", "deem.rb")
	}
}

// TestArchive checks that the archive has the binary, and what a user or a lawyer looks for
// besides; and that the binary is static, stamped and starts at once.
func TestArchive(t *testing.T) {
	dir := built(t)
	base := "deem-0.1.0-" + host
	files := untar(t, filepath.Join(dir, "dist", base+".tar.gz"), base+"/")
	binary := filepath.Join(t.TempDir(), "deem")
	if err := os.WriteFile(binary, files["deem"], 0o700); err != nil { //nolint:gosec // It is a program.
		t.Fatal(err)
	}
	want := []string{"LICENSE", "NOTICE", "README.md", "man/deem.1", "man/deem-run.1", "licenses/std/LICENSE", "licenses/LIST"}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		want = append(want, "completions/deem."+shell)
	}
	for _, name := range regexp.MustCompile(`\S+/LICENSE`).FindAllString(string(files["NOTICE"]), -1) {
		want = append(want, "licenses/deem/"+name)
	}
	for _, name := range want {
		if len(files[name]) == 0 {
			t.Errorf("%s is missing", name)
		}
	}
	checkParts(t, dir, binary, string(files["licenses/LIST"]))
	if len(files["deem"]) > 60_000_000 {
		t.Errorf("the binary has %d bytes", len(files["deem"]))
	}
	program, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = program.Close() }()
	if slices.ContainsFunc(program.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Error("the binary asks for a loader: it is not static")
	}
	var said map[string]string
	if err := json.Unmarshal([]byte(run(t, dir, nil, binary, "version", "--json")), &said); err != nil {
		t.Fatal(err)
	}
	if said["version"] != "v0.1.0" || said["go"] != runtime.Version() || len(said["commit"]) != 40 || said["date"] == "" {
		t.Errorf("deem version says %v", said)
	}
}

// checkParts compares the parts of a binary with the list of licences and with the SBOM.
func checkParts(t *testing.T, dir, binary, list string) {
	t.Helper()
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components []struct {
			Purl     string
			Licenses []struct{ License struct{ ID string } }
		}
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, "dist", "deem.cdx.json"))), &doc); err != nil {
		t.Fatal(err)
	}
	licences := map[string]string{}
	for _, c := range doc.Components {
		licences[c.Purl] = c.Licenses[0].License.ID
	}
	for _, m := range info.Deps {
		if licences["pkg:golang/"+m.Path+"@"+m.Version] == "" || !strings.Contains(list, "  "+m.Path+" "+m.Version+"\n") {
			t.Errorf("%s %s is not in the SBOM with a licence, or not in licenses/LIST", m.Path, m.Version)
		}
	}
	if len(info.Deps) < 20 {
		t.Errorf("the binary is made of %d modules", len(info.Deps))
	}
}

func untar(t *testing.T, name, base string) map[string][]byte {
	t.Helper()
	unpacked, err := gzip.NewReader(strings.NewReader(read(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(unpacked); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		path, ok := strings.CutPrefix(h.Name, base)
		if !ok || (h.Mode&0o111 != 0) != (path == "deem") {
			t.Errorf("%s has mode %o, or is not in %s", h.Name, h.Mode, base)
		}
		files[path] = body
	}
}

// installLine returns the line of README that installs with a program.
func installLine(t *testing.T, program string) string {
	t.Helper()
	for line := range strings.Lines(read(t, "README.md")) {
		if strings.HasPrefix(line, program) {
			return line
		}
	}
	t.Fatalf("README.md has no line that begins with %q", program)
	return ""
}

// TestReproducible packs a stand-in for the binary twice.
func TestReproducible(t *testing.T) {
	dir := t.TempDir()
	const pack = `
import sys
sys.path.insert(0, "scripts")
import packages
out, files, binary, address = sys.argv[1], [("usr/bin/deem", b"a binary", 0o755)], ("deem", b"a binary"), {"DEEM_CONTACT": "", "DEEM_HOMEPAGE": ""}
for p in packages.PLATFORMS:
    packages.archive(out, "deem-0.1.0rc1-" + p, files, 1234567890, p.startswith("windows"))
    packages.wheel(out, "0.1.0rc1", p, binary, [])
    packages.npm_platform(out, "0.1.0rc1", p, binary, [])
    if p.startswith("linux"):
        packages.deb(out, "0.1.0rc1", p, files, 1234567890, address)
        packages.rpm(out, "0.1.0rc1", p, files, 1234567890, address)
packages.npm_main(out, "0.1.0rc1", packages.PLATFORMS, "https://example.org")
`
	for _, name := range []string{"one", "two"} {
		out := filepath.Join(dir, name)
		if err := os.Mkdir(out, 0o755); err != nil {
			t.Fatal(err)
		}
		run(t, root, append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1"), python(t), "-c", pack, out)
	}
	same(t, filepath.Join(dir, "one"), filepath.Join(dir, "two"), 6+6+7+2+2)
	// A version before a release is spelled as each system sorts it before the release.
	for _, name := range []string{"deem-0.1.0-rc.1.tgz", "deem_0.1.0~rc1_arm64.deb", "deem-0.1.0~rc1-1.aarch64.rpm", "deem-0.1.0rc1-py3-none-win_arm64.whl"} {
		if _, err := os.Stat(filepath.Join(dir, "one", name)); err != nil {
			t.Error(err)
		}
	}
}

// same compares two folders that have n files each.
func same(t *testing.T, one, two string, n int) {
	t.Helper()
	entries, err := os.ReadDir(one)
	if err != nil || len(entries) != n {
		t.Fatalf("%s has %d files (%v), want %d", one, len(entries), err, n)
	}
	for _, e := range entries {
		if read(t, filepath.Join(one, e.Name())) != read(t, filepath.Join(two, e.Name())) {
			t.Errorf("%s differs in the second build", e.Name())
		}
	}
}

// TestPublishCheck sets the addresses in a copy of the repository. Before that, the check
// names each one that is missing.
func TestPublishCheck(t *testing.T) {
	dir := t.TempDir()
	names := []string{"scripts/publish.sh", "publish.env", "README.md", "SECURITY.md", "examples/ci/github.yml", "docs/ci.md", "go.mod"}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), read(t, name))
	}
	publish := func(mode string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "bash", filepath.Join(dir, "scripts/publish.sh"), mode).CombinedOutput()
		return string(out), err
	}
	out, err := publish("check")
	for _, want := range []string{"DEEM_DOWNLOADS is not set", "DEEM_HOMEPAGE is not set", "DEEM_CONTACT is not set", "the Go module is deem"} {
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("publish.sh check ends with %v and does not say that %s:\n%s", err, want, out)
		}
	}
	env := read(t, filepath.Join(dir, "publish.env"))
	for name, value := range map[string]string{"HOMEPAGE": "https://example.org/you/deem", "DOWNLOADS": "https://example.org/get/{version}", "CONTACT": "safe@example.org"} {
		env = strings.Replace(env, "DEEM_"+name+`=""`, "DEEM_"+name+`="`+value+`"`, 1)
	}
	write(t, filepath.Join(dir, "publish.env"), env)
	write(t, filepath.Join(dir, "go.mod"), strings.Replace(read(t, filepath.Join(dir, "go.mod")), "module deem", "module example.org/you/deem", 1))
	if out, err := publish("check"); err == nil || strings.Count(out, "run make publish") != 4 {
		t.Errorf("publish.sh check ends with %v, want four files that are not written:\n%s", err, out)
	}
	if out, err := publish("write"); err != nil {
		t.Errorf("publish.sh write: %v\n%s", err, out)
	}
	if out, err := publish("check"); err != nil {
		t.Errorf("publish.sh check: %v\n%s", err, out)
	}
	if text := read(t, filepath.Join(dir, "README.md")); !strings.Contains(text, "\nDEEM=https://example.org/get/0.1.0\n") {
		t.Error("README.md lacks the address of the downloads")
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
