package ci_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestImage builds the image where a container engine runs. Where none does, it checks
// what the file promises: a program alone in an image, with certificates, not started as
// root, and built by the Go that the module asks for.
func TestImage(t *testing.T) {
	const name = "deploy/Dockerfile"
	text := read(t, name)
	last := text[strings.LastIndex(text, "\nFROM ")+1:]
	for _, want := range []string{
		"FROM scratch\n", "/etc/ssl/certs/ca-certificates.crt\n", " /deem\n", "\nUSER 65532:65532\n", "\nENTRYPOINT [\"/deem\"]\n", "\nCMD [\"--help\"]\n",
	} {
		if !strings.Contains(last, want) {
			t.Errorf("%s: the last stage lacks %q", name, want)
		}
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))[1]
	if want := "FROM golang:" + version + "-"; !strings.Contains(text, want) {
		t.Errorf("%s has no line that begins with %q", name, want)
	}
	for _, engine := range []string{"docker", "podman"} {
		if testing.Short() || exec.CommandContext(t.Context(), engine, "info").Run() != nil {
			continue
		}
		build := exec.CommandContext(t.Context(), engine, "build", "-f", name, "-t", "deem-test", ".")
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s build: %v\n%s", engine, err, out)
		}
		out, err := exec.CommandContext(t.Context(), engine, "run", "--rm", "--read-only", "deem-test", "version").CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "deem ") {
			t.Errorf("%s run: %v\n%s", engine, err, out)
		}
		return
	}
	t.Log("no container engine runs here: the file was read, and no image was built")
}

// TestImageLayout runs the program in the file system that the last stage of the Dockerfile
// describes, as the user that it names.
func TestImageLayout(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may change the root folder of a process")
	}
	dir := t.TempDir()
	for top := dir; top != os.TempDir() && top != "/"; top = filepath.Dir(top) {
		if err := os.Chmod(top, 0o755); err != nil { //nolint:gosec // Another user must reach it.
			t.Fatal(err)
		}
	}
	image := layOut(t, dir)
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"default", image.command, "OPERATE"},
		{"demo", []string{"demo"}, "120 items"},
		{"run kept", []string{"list", "runs", "--json"}, `"records"`},
		{"stdin", []string{"run", "--data", "-"}, "100.0%"},
	} {
		out, err := image.run(t, tt.args...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: %v, want %q in\n%s", tt.name, err, tt.want, out)
		}
	}
	serve := image.run(t, "serve", "--listen", "127.0.0.1:0")
	log, err := serve.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	said, serves := "", false
	for lines := bufio.NewScanner(log); !serves && lines.Scan(); {
		said += lines.Text() + "\n"
		serves = strings.Contains(lines.Text(), "http://127.0.0.1:")
	}
	if !serves {
		t.Errorf("deem serve does not serve:\n%s", said)
	}
	_ = serve.Process.Kill()
	_ = serve.Wait() // It was killed.
}

// A laidOut image is a folder with the files of an image, and how its program is run.
type laidOut struct {
	dir, user, work  string
	command, environ []string
}

// layOut makes the folder that the last stage of the Dockerfile describes.
func layOut(t *testing.T, dir string) laidOut {
	t.Helper()
	text := read(t, "deploy/Dockerfile")
	image := laidOut{dir: dir}
	var folders []string // of the earlier stage
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		switch last := words[len(words)-1]; words[0] {
		case "RUN":
			if words[1] == "mkdir" {
				folders = words[3:]
			}
		case "FROM":
			image = laidOut{dir: dir}
		case "COPY":
			switch {
			case strings.HasPrefix(line, "COPY --from=build /out/deem "):
				program, err := os.ReadFile(binary)
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, last), program, 0o755) //nolint:gosec // It is run.
				}
				if err != nil {
					t.Fatal(err)
				}
			case strings.HasPrefix(line, "COPY --from=build --chown=65532:65532 /folders/ "):
				for _, folder := range folders {
					at := filepath.Join(dir, last, strings.TrimPrefix(folder, "/folders/"))
					if err := errors.Join(os.Mkdir(at, 0o755), os.Chown(at, 65532, 65532)); err != nil { //nolint:gosec // As in the image.
						t.Fatal(err)
					}
				}
			}
		case "USER":
			image.user = last
		case "WORKDIR":
			image.work = last
		case "ENV":
			image.environ = append(image.environ, last)
		case "CMD":
			if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "CMD ")), &image.command); err != nil {
				t.Fatal(err)
			}
		}
	}
	if image.user != "65532:65532" {
		t.Fatalf("the image runs as %q", image.user)
	}
	return image
}

// run returns a command that runs the program in the image.
func (i laidOut) run(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/deem", args...)
	cmd.Dir, cmd.Env = cmp.Or(i.work, "/"), append([]string{"HOME=/"}, i.environ...)
	cmd.Stdin = strings.NewReader(`{"id":"a","question":"?","references":["b"],"response":"b"}` + "\n")
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: i.dir, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	return cmd
}

// A service is as much of one in compose.yaml as is looked at.
type service struct {
	Image       string
	Command     []string
	Environment map[string]string
	Ports       []string
	ReadOnly    bool                         `yaml:"read_only"`
	CapDrop     []string                     `yaml:"cap_drop"`
	SecurityOpt []string                     `yaml:"security_opt"`
	DependsOn   map[string]map[string]string `yaml:"depends_on"`
	Volumes     []string
	Healthcheck map[string]any
	Build       map[string]string
	Deploy      map[string]any
	Tmpfs       []string
	Grace       string `yaml:"stop_grace_period"`
	Restart     string
}

// TestCompose holds that nothing is open to the world or to itself that need not be, and
// that no secret has a default.
func TestCompose(t *testing.T) {
	var file struct {
		Name     string
		Services map[string]service
		Volumes  map[string]any
	}
	decode(t, "deploy/compose.yaml", &file)
	if len(file.Services) != 3 {
		t.Fatalf("compose.yaml has %d services, want 3", len(file.Services))
	}
	for name, s := range file.Services {
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s: port %s is open to the network", name, port)
			}
		}
		for key, value := range s.Environment {
			secret := strings.HasSuffix(key, "PASSWORD") || strings.HasSuffix(key, "TOKEN")
			if secret && !strings.Contains(value, ":?") {
				t.Errorf("%s: %s is %q, want it demanded", name, key, value)
			}
		}
		for other := range s.DependsOn {
			if _, ok := file.Services[other]; !ok {
				t.Errorf("%s depends on %s, which is not there", name, other)
			}
		}
		if s.Image == "deem" && !(s.ReadOnly && slices.Equal(s.CapDrop, []string{"ALL"}) && slices.Contains(s.SecurityOpt, "no-new-privileges:true")) {
			t.Errorf("%s may do more than it needs: %+v", name, s)
		}
	}
}

// An object is as much of one in kubernetes.yaml as is looked at.
type object struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Selector map[string]any
		Ports    []struct {
			TargetPort string `yaml:"targetPort"`
		}
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				Grace           int `yaml:"terminationGracePeriodSeconds"`
				SecurityContext struct {
					NonRoot bool `yaml:"runAsNonRoot"`
				} `yaml:"securityContext"`
				Containers []kubeContainer
			}
		}
	}
}

type kubeContainer struct {
	Name  string
	Args  []string
	Ports []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
	Liveness        probe `yaml:"livenessProbe"`
	Readiness       probe `yaml:"readinessProbe"`
	Resources       struct{ Limits map[string]string }
	SecurityContext struct {
		Escalation   *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnly     bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities struct{ Drop []string }
	} `yaml:"securityContext"`
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

// TestKubernetes holds that services and budgets find the pods they are for, that probes
// ask a port that is there, and that no container may do more than it needs.
func TestKubernetes(t *testing.T) {
	objects := decodeAll(t, "deploy/kubernetes.yaml")
	pods := map[string]kubeContainer{} // by the label part
	for _, o := range objects {
		if o.Kind != "Deployment" {
			continue
		}
		c := o.Spec.Template.Spec.Containers[0]
		pods[o.Spec.Template.Metadata.Labels["part"]] = c
		if !o.Spec.Template.Spec.SecurityContext.NonRoot || o.Spec.Template.Spec.Grace < 30 {
			t.Errorf("%s runs as root, or is killed in the middle of a call", o.Metadata.Name)
		}
		c.check(t)
	}
	if len(pods) != 2 {
		t.Fatalf("kubernetes.yaml has deployments of %d parts, want 2", len(pods))
	}
	for _, o := range objects {
		labels := o.Spec.Selector
		if match, ok := labels["matchLabels"].(map[string]any); ok {
			labels = match
		}
		part, _ := labels["part"].(string)
		c, ok := pods[part]
		if !ok {
			t.Errorf("%s %s is for the part %q, which is not there", o.Kind, o.Metadata.Name, part)
		}
		for _, port := range o.Spec.Ports {
			if !c.hasPort(port.TargetPort) {
				t.Errorf("%s %s leads to port %s, which is not there", o.Kind, o.Metadata.Name, port.TargetPort)
			}
		}
	}
}

func (c kubeContainer) check(t *testing.T) {
	t.Helper()
	s := c.SecurityContext
	if !s.ReadOnly || s.Escalation == nil || *s.Escalation || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) {
		t.Errorf("%s may do more than it needs: %+v", c.Name, s)
	}
	if c.Resources.Limits["memory"] == "" {
		t.Errorf("%s may take all memory", c.Name)
	}
	for path, p := range map[string]probe{"/healthz": c.Liveness, "/readyz": c.Readiness} {
		if p.HTTPGet.Path != path || !c.hasPort(p.HTTPGet.Port) {
			t.Errorf("%s is asked for %+v, want %s on one of its ports", c.Name, p.HTTPGet, path)
		}
	}
}

func (c kubeContainer) hasPort(name string) bool {
	for _, p := range c.Ports {
		if p.Name == name {
			return slices.ContainsFunc(c.Args, func(arg string) bool { return strings.HasSuffix(arg, ":"+strconv.Itoa(p.ContainerPort)) })
		}
	}
	return false
}

func decode(t *testing.T, name string, into any) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(read(t, name)))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func decodeAll(t *testing.T, name string) []object {
	t.Helper()
	var list []object
	for decoder := yaml.NewDecoder(strings.NewReader(read(t, name))); ; {
		var o object
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list = append(list, o)
	}
}
