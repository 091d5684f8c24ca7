package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// deployed is the folder of the deployment files.
var deployed = filepath.Join("..", "..", "deploy")

// readYAML returns the documents of a file. A duplicate key is an error.
func readYAML(t *testing.T, name string) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(deployed, name))
	if err != nil {
		t.Fatal(err)
	}
	var docs []map[string]any
	for dec := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var doc map[string]any
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		docs = append(docs, doc)
	}
}

// at follows keys into a document, and fails the test if one is missing.
func at(t *testing.T, doc any, keys ...any) any {
	t.Helper()
	for i, key := range keys {
		switch k := key.(type) {
		case string:
			m, _ := doc.(map[string]any)
			doc = m[k]
		case int:
			list, _ := doc.([]any)
			if k >= len(list) {
				t.Fatalf("there is no %v", keys[:i+1])
			}
			doc = list[k]
		}
		if doc == nil {
			t.Fatalf("there is no %v", keys[:i+1])
		}
	}
	return doc
}

// checkCommand checks that a container's arguments are a valid command of deem with valid
// flags.
func checkCommand(t *testing.T, args any) {
	t.Helper()
	var words []string
	list, _ := args.([]any)
	for _, w := range list {
		word, _ := w.(string)
		words = append(words, word)
	}
	cmd, rest, err := emptyApp().root().Find(words)
	if err != nil || !cmd.HasParent() {
		t.Errorf("deem has no command %q: %v", words, err)
		return
	}
	if err := cmd.ParseFlags(rest); err != nil || len(cmd.Flags().Args()) > 0 {
		t.Errorf("deem %s: %v, and %q is left", strings.Join(words, " "), err, cmd.Flags().Args())
	}
}

// Workers and page start with valid commands, have minimal privileges, and the file has no
// secret.
func TestComposeFile(t *testing.T) {
	docs := readYAML(t, "compose.yaml")
	if len(docs) != 1 {
		t.Fatalf("%d documents", len(docs))
	}
	for _, name := range []string{"worker", "serve"} {
		s := at(t, docs[0], "services", name)
		checkCommand(t, at(t, s, "command"))
		if at(t, s, "read_only") != true || len(at(t, s, "cap_drop").([]any)) == 0 {
			t.Errorf("%s may write to its image or has capabilities", name)
		}
		for variable, value := range at(t, s, "environment").(map[string]any) {
			text, _ := value.(string)
			if secret := strings.Contains(variable, "KEY") || strings.Contains(variable, "TOKEN") || strings.Contains(variable, "PASSWORD"); secret && !strings.HasPrefix(text, "${") {
				t.Errorf("%s: %s is not taken from the environment", name, variable)
			}
		}
	}
	for _, ports := range []any{at(t, docs[0], "services", "postgres", "ports", 0), at(t, docs[0], "services", "serve", "ports", 0)} {
		if text, _ := ports.(string); !strings.HasPrefix(text, "127.0.0.1:") {
			t.Errorf("the port %s is open to all", text)
		}
	}
}

func TestKubernetesFile(t *testing.T) {
	kinds := map[string]int{}
	for _, doc := range readYAML(t, "kubernetes.yaml") {
		kind, _ := at(t, doc, "kind").(string)
		kinds[kind]++
		at(t, doc, "apiVersion")
		at(t, doc, "metadata", "name")
		if kind != "Deployment" {
			continue
		}
		pod := at(t, doc, "spec", "template", "spec")
		c := at(t, pod, "containers", 0)
		checkCommand(t, at(t, c, "args"))
		if at(t, pod, "securityContext", "runAsNonRoot") != true || at(t, c, "securityContext", "readOnlyRootFilesystem") != true {
			t.Errorf("%v runs as root or may write to its image", at(t, doc, "metadata", "name"))
		}
		for _, probe := range []string{"livenessProbe", "readinessProbe"} {
			port := at(t, c, probe, "httpGet", "port")
			if port != at(t, c, "ports", 0, "name") {
				t.Errorf("%s asks port %v", probe, port)
			}
		}
		if at(t, c, "env", 0, "name") != dbVariable {
			t.Errorf("the database is %v", at(t, c, "env", 0))
		}
		at(t, c, "env", 0, "valueFrom", "secretKeyRef", "name")
		if labels, want := at(t, doc, "spec", "template", "metadata", "labels", "part"), at(t, doc, "spec", "selector", "matchLabels", "part"); labels != want {
			t.Errorf("the selector wants %v, and the pods are %v", want, labels)
		}
		at(t, pod, "terminationGracePeriodSeconds")
	}
	if kinds["Deployment"] != 2 || kinds["Service"] != 1 {
		t.Errorf("there are %v", kinds)
	}
}

// The image is one static binary without root.
func TestDockerfile(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(deployed, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"FROM", "WORKDIR", "COPY", "RUN", "ARG", "ENV", "USER", "EXPOSE", "ENTRYPOINT", "CMD"}
	var stages, last []string // of the last stage
	user := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case !slices.Contains(known, word):
			t.Errorf("no instruction %s", word)
		case word == "FROM":
			stages, last = append(stages, rest), nil
		case word == "USER":
			user = rest
		}
		last = append(last, word)
	}
	if len(stages) != 2 || stages[1] != "scratch" || strings.Contains(stages[0], "latest") {
		t.Errorf("the stages are %q, want one that builds and scratch", stages)
	}
	if user == "" || strings.HasPrefix(user, "0") || strings.HasPrefix(user, "root") {
		t.Errorf("the user is %q", user)
	}
	if slices.Contains(last, "RUN") {
		t.Error("the last stage runs something, and has no shell")
	}
	if slices.Index(last, "USER") > slices.Index(last, "ENTRYPOINT") {
		t.Error("the user is set too late")
	}
	if !strings.Contains(string(data), "CGO_ENABLED=0") {
		t.Error("the binary is not static")
	}
}
