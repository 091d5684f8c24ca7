package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"deem"
)

// grace is how long a process may take to exit after its input is closed, and again after
// SIGTERM.
const grace = 2 * time.Second

// A process is one running program. It handles one request at a time.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	lines  chan []byte   // of its output; closed at the end
	cut    chan struct{} // closed when lines are no longer read
	ended  chan struct{} // closed when the process has exited
	hello  hello
	errors tail
	clean  func([]byte) []byte
	asked  int // requests so far

	// Set before lines and ended are closed.
	readErr, exitErr error
}

// start starts the program and waits for its hello.
func start(ctx context.Context, o Options) (*process, error) {
	p := &process{
		cmd:   exec.Command(o.Command[0], o.Command[1:]...), //nolint:gosec,noctx // The user names it, and it outlives the request that starts it.
		lines: make(chan []byte), cut: make(chan struct{}), ended: make(chan struct{}),
		errors: tail{log: o.Log, clean: o.clean}, clean: o.clean,
	}
	p.cmd.Stderr = &p.errors
	p.cmd.WaitDelay = grace
	ownGroup(p.cmd)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, deem.WithHint(fmt.Errorf("start %s: %w", o.Command[0], err), "name a program that can be run, as command:./grade.py (chmod +x) or \"command:python3 grade.py\"")
	}
	go p.read(o.MaxReply)
	line, err := p.line(ctx, o.Start)
	if err == nil {
		p.hello, err = parseHello(line)
	}
	if err != nil {
		p.abort()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, deem.WithHint(fmt.Errorf("start %s: %w", strings.Join(o.Command, " "), err), "%s",
			cmp.Or(deem.HintOf(err), "the program must write its hello line first; deem init judge --lang python writes one that does"))
	}
	return p, nil
}

// read passes on the lines of the output until the process exits. Once the process is
// stopped, lines are dropped.
func (p *process) read(limit int) {
	defer close(p.ended)
	r := bufio.NewReaderSize(p.out, 64<<10)
	for {
		line, err := readLine(r, limit)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				p.readErr = err
			}
			break
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		select {
		case p.lines <- p.clean(line):
			continue
		case <-p.cut:
		}
		break
	}
	close(p.lines)
	_ = p.out.Close() // A program that keeps writing gets an error.
	p.exitErr = p.cmd.Wait()
}

// errLong is returned if a line exceeds the limit.
var errLong = errors.New("the line is too long")

// readLine reads a line of at most limit bytes. A last line without a newline counts.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > limit:
			return nil, fmt.Errorf("%w: more than %d bytes", errLong, limit)
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		default:
			return nil, io.EOF // The pipe was closed, by the program or by us.
		}
	}
}

// line returns the next line of the output, or why it ended.
func (p *process) line(ctx context.Context, within time.Duration) ([]byte, error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case line, ok := <-p.lines:
		if ok {
			return line, nil
		}
	case <-timer.C:
		return nil, bad(deem.Timeout, "no answer within %v", within)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p.readErr != nil {
		return nil, bad(deem.Provider, "%v", p.readErr)
	}
	select {
	case <-p.ended:
	case <-time.After(grace):
		return nil, bad(deem.Provider, "it closed its output%s", p.errors.said())
	}
	how := "it ended"
	if p.exitErr != nil {
		how = p.exitErr.Error()
	}
	return nil, bad(deem.Provider, "%s%s", how, p.errors.said())
}

// ask sends a request and returns the object that answers it, without its id.
func (p *process) ask(ctx context.Context, req deem.Request, timeout time.Duration) (object, error) {
	p.asked++
	text, err := encode(p.asked, req)
	if err != nil {
		return nil, bad(deem.Input, "%v", err)
	}
	sent := make(chan error, 1) // A program that does not read would block us.
	go func() {
		_, err := p.in.Write(text)
		sent <- err
	}()
	deadline := time.Now().Add(timeout)
	for {
		line, err := p.line(ctx, time.Until(deadline))
		if err != nil {
			return nil, err
		}
		var object object
		var id int
		switch err := json.Unmarshal(line, &object); {
		case errors.Is(err, errTwice):
			return nil, bad(deem.Unparseable, "%v: %s", err, clip(line))
		case err != nil || json.Unmarshal(object["id"], &id) != nil:
			return nil, bad(deem.Unparseable, `the line is not a JSON object with an "id": %s`, clip(line))
		}
		switch {
		case id < p.asked && id > 0:
			continue // A duplicate answer to an earlier request.
		case id != p.asked:
			return nil, bad(deem.Unparseable, "it answered request %d when it was asked %d", id, p.asked)
		}
		select {
		case <-sent:
		case <-time.After(time.Until(deadline)):
			return nil, bad(deem.Timeout, "it did not read the request within %v", timeout)
		}
		delete(object, "id")
		return object, nil
	}
}

// stop ends the process gracefully: it closes its input, then sends SIGTERM, and then kills
// the process with its children.
func (p *process) stop() {
	close(p.cut)
	_ = p.in.Close()
	for _, end := range []func(*exec.Cmd){terminate, kill} {
		select {
		case <-p.ended:
			return
		case <-time.After(grace):
			end(p.cmd)
		}
	}
	p.wait()
}

// abort kills the process at once. It is out of sync or does not answer.
func (p *process) abort() {
	close(p.cut)
	kill(p.cmd)
	_ = p.in.Close()
	p.wait()
}

// wait waits for a killed process. Its children may hold its output open.
func (p *process) wait() {
	_ = p.out.Close()
	<-p.ended
}

// A tail keeps the end of its input, and logs its lines.
type tail struct {
	mu   sync.Mutex
	text []byte
	line []byte
	log  func(string)

	clean func([]byte) []byte // removes secrets
}

// tailSize is how much of standard error is kept for an error message.
const tailSize = 2 << 10

// Write keeps the last bytes. It never fails: a program must not stop because of its log.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-tailSize):]...)
	t.text = t.text[max(0, len(t.text)-tailSize):]
	for part := range bytes.Lines(b) {
		room := max(0, tailSize-len(t.line))
		t.line = append(t.line, part[:min(room, len(part))]...)
		if part[len(part)-1] == '\n' {
			t.log(strings.TrimSpace(string(t.clean(t.line))))
			t.line = t.line[:0]
		}
	}
	return len(b), nil
}

// said returns the last line, as the end of a sentence.
func (t *tail) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.TrimSpace(t.text)
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	if len(text) == 0 {
		return ""
	}
	return ": " + clip(t.clean(text))
}
