package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deem/internal/cli"
	"deem/internal/test/modeltest"
)

// TestTerminalIsHarmless checks that no control character of a server's error, a response
// or a run file reaches a terminal, on either stream, and that JSON there means the same as
// in a pipe.
func TestTerminalIsHarmless(t *testing.T) {
	const hostile = "\x1b]0;owned\x07\x1b[31mred\u009b2J\u202e\x7f"
	srv := modeltest.NewServer(t, func(modeltest.Asked) modeltest.Answer {
		text, _ := json.Marshal(hostile)
		return modeltest.Fail(400, fmt.Sprintf(`{"error":{"message":%s}}`, text))
	})
	t.Setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
	dir := t.TempDir()
	db, file := filepath.Join(dir, "deem.db"), filepath.Join(dir, "run.deem")
	row, err := json.Marshal(map[string]string{"id": "q1", "category": "c" + hostile, "question": hostile, "reference": "7", "response": hostile})
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "items.jsonl")
	if err := os.WriteFile(data, append(row, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := ""
	for _, command := range []string{
		"run --judge exact --db " + db + " --data " + data,
		"export last --db " + db + " -o " + file,
		"show q1 --run " + file, "show q1 --json --run " + file, "report " + file, "export " + file + " --format jsonl -o -", "verify " + file,
		"run --yes --judge universal --model openai:gpt-4o-mini --db " + db + " --base-url " + srv.URL + " --data " + data,
		"doctor --model openai:gpt-4o-mini --db " + db + " --base-url " + srv.URL,
	} {
		out := onTerminal(t, strings.Fields(command))
		seen += out
		// The bar moves the cursor and clears its line, and a report is bold or coloured;
		// nothing else is allowed.
		calm := strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[1A", "", "\x1b[A", "", "\x1b[J", "", "\x1b[0J", "", "\x1b[2K", "").Replace(out)
		if bad := strings.IndexAny(calm, "\x1b\x07\x7f\u009b\u202e"); bad >= 0 {
			t.Errorf("%s prints a control character: %q", command, calm[max(0, bad-40):min(len(calm), bad+40)])
		}
		if !strings.Contains(command, "--json") {
			continue
		}
		var shown struct {
			Record struct{ Item struct{ Response string } }
		}
		if err := json.Unmarshal([]byte(out), &shown); err != nil || !strings.Contains(out, `\u009b`) {
			t.Errorf("%s: %v, in %q", command, err, out)
		}
	}
	if !strings.Contains(seen, "red\uFFFD2J") {
		t.Errorf("nothing that was printed holds the hostile text:\n%s", seen)
	}
}

// onTerminal runs a command on a terminal, and returns the output.
func onTerminal(t *testing.T, args []string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("this machine has no pseudo terminals: %v", err)
	}
	defer func() { _ = master.Close() }()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	shown := make(chan string)
	go func() {
		var all []byte
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			all = append(all, buf[:n]...)
			if err != nil { // EIO, once the other side is closed
				shown <- string(all)
				return
			}
		}
	}()
	cli.Main(args, strings.NewReader(""), tty, tty)
	if err := tty.Close(); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(<-shown, "\r", "")
}
