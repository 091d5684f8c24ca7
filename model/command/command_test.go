package command_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deem"
	"deem/model/command"
)

// TestMain makes the test binary serve as the program; an environment variable selects its
// behaviour.
func TestMain(m *testing.M) {
	if how := os.Getenv("DEEM_TEST_PROGRAM"); how != "" {
		program(how)
		return
	}
	os.Exit(m.Run())
}

const hello = `{"deem": 1, "kind": "judge", "name": "tester", "version": "7"}`

// program reads requests and answers them, correctly or not.
func program(how string) {
	switch how {
	case "no hello":
		fmt.Println("Loading the model...")
		select {}
	case "killed":
		name := os.Getenv("DEEM_TEST_STARTS")
		text, _ := os.ReadFile(name)
		if err := os.WriteFile(name, append(text, 'x'), 0o600); err != nil {
			os.Exit(2)
		}
		if slices.Contains(strings.Fields(os.Getenv("DEEM_TEST_FAILS")), fmt.Sprint(len(text)+1)) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	case "cannot start":
		fmt.Fprintln(os.Stderr, "Traceback")
		fmt.Fprintln(os.Stderr, "ModuleNotFoundError: No module named 'grader'")
		os.Exit(1)
	case "silent start":
		select {}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "model":
		fmt.Println(`{"deem": 1, "kind": "model", "name": "echo"}`)
	}
	if how != "model" {
		fmt.Println(hello)
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			if how == "stubborn" {
				select {} // It continues although its input has ended.
			}
			return
		}
		var ask struct {
			ID      int           `json:"id"`
			Item    deem.Item     `json:"item"`
			Request *deem.Request `json:"request"`
		}
		if err := json.Unmarshal([]byte(line), &ask); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		answer(how, ask.ID, ask.Item, ask.Request)
	}
}

func answer(how string, id int, it deem.Item, req *deem.Request) {
	odd := strings.HasSuffix(it.ID, "odd")
	yes := fmt.Sprintf(`{"id": %d, "label": "yes", "score": 1, "reason": %q}`, id, it.ID)
	switch {
	case how == "model":
		text, _ := json.Marshal(req.Messages[0].Content)
		fmt.Printf(`{"id": %d, "text": %s, "usage": {"input": 3, "output": 1}}`+"\n", id, text)
	case (how == "crash" || how == "killed") && odd:
		fmt.Fprintln(os.Stderr, "boom on", it.ID)
		os.Exit(3)
	case how == "bad line" && odd:
		fmt.Println("debug: judging", it.ID)
		fmt.Println(yes)
	case how == "wrong id" && odd:
		fmt.Printf(`{"id": %d, "label": "yes", "score": 1}`+"\n", id+100)
	case how == "late" && odd:
		time.Sleep(time.Minute)
	case how == "flood" && odd:
		for {
			if _, err := fmt.Print(strings.Repeat("x", 1<<16)); err != nil {
				os.Exit(1)
			}
		}
	case how == "same key" && odd:
		fmt.Printf(`{"id": %d, "label": "no", "score": 0, "Label": "yes", "score": 1}`+"\n", id)
	case how == "key":
		fmt.Fprintln(os.Stderr, "the key is", os.Getenv("TEST_API_KEY"))
		if odd {
			os.Exit(3)
		}
		fmt.Printf(`{"id": %d, "label": "yes", "score": 1, "reason": %q}`+"\n", id, os.Getenv("TEST_API_KEY"))
	case how == "twice":
		fmt.Println(yes)
		fmt.Println(yes)
	default:
		fmt.Println(yes)
	}
}

func open(t *testing.T, how string, o command.Options) (*command.Model, error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DEEM_TEST_PROGRAM", how)
	o.Command = []string{exe}
	opened, err := command.Open(t.Context(), o)
	if err != nil {
		return nil, err
	}
	m := opened.(*command.Model)
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m, nil
}

func about(id string) deem.Request {
	return deem.Request{Messages: []deem.Message{{Role: command.ItemRole, Content: string(deem.Item{ID: id, Response: "r"}.Canonical())}}}
}

// A program that misbehaves on one item fails that item, with a kind and a message, and
// judges the items before and after it.
func TestTroubleIsOfOneItem(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	for _, tt := range []struct {
		how  string
		kind deem.Kind
		want string
	}{
		{"crash", deem.Provider, "exit status 3: boom on 3-odd"},
		{"bad line", deem.Unparseable, "debug: judging 3-odd"},
		{"wrong id", deem.Unparseable, "it answered request 102 when it was asked 2"},
		{"late", deem.Timeout, "no answer within"},
		{"flood", deem.Provider, "the line is too long"},
	} {
		t.Run(tt.how, func(t *testing.T) {
			m, err := open(t, tt.how, command.Options{Processes: 1, Timeout: 2 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range []string{"2", "3-odd", "4", "5-odd", "6"} {
				reply, err := m.Complete(t.Context(), about(id))
				if !strings.HasSuffix(id, "odd") {
					if err != nil || !strings.Contains(reply.Text, fmt.Sprintf("%q", id)) {
						t.Errorf("item %s: %q, %v", id, reply.Text, err)
					}
					continue
				}
				me, ok := errors.AsType[*deem.ModelError](err)
				if !ok || me.Kind != tt.kind || me.Fatal || id == "3-odd" && !strings.Contains(me.Error(), tt.want) {
					t.Errorf("item %s: error %v, want kind %s with %q", id, err, tt.kind, tt.want)
				}
			}
		})
	}
}

// A key that stands twice, even in another case, decides nothing.
func TestSameKeyTwice(t *testing.T) {
	m, err := open(t, "same key", command.Options{Processes: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Complete(t.Context(), about("odd"))
	if me, ok := errors.AsType[*deem.ModelError](err); !ok || me.Kind != deem.Unparseable || !strings.Contains(me.Error(), `a key stands twice in one object: "Label"`) {
		t.Errorf("error %v", err)
	}
	if _, err := m.Complete(t.Context(), about("even")); err != nil {
		t.Errorf("the next item: %v", err)
	}
}

// A key in the environment that a program prints reaches neither replies nor errors nor logs.
func TestPrintedKey(t *testing.T) {
	const key = `sk-test-0123456789"abcdef`
	t.Setenv("TEST_API_KEY", key)
	var mu sync.Mutex
	var logged []string
	m, err := open(t, "key", command.Options{Processes: 1, Log: func(line string) {
		mu.Lock()
		logged = append(logged, line)
		mu.Unlock()
	}})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := m.Complete(t.Context(), about("even"))
	if err != nil || !strings.Contains(reply.Text, `"reason":"[redacted]"`) {
		t.Errorf("reply %q, %v", reply.Text, err)
	}
	if _, err := m.Complete(t.Context(), about("odd")); err == nil || !strings.Contains(err.Error(), "the key is [redacted]") {
		t.Errorf("error %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if all := strings.Join(logged, "\n"); strings.Contains(all, "sk-test") || !strings.Contains(all, "the key is [redacted]") {
		t.Errorf("logged %q", all)
	}
}

// A duplicate answer is not treated as the answer to the next item.
func TestAnswersTwice(t *testing.T) {
	m, err := open(t, "twice", command.Options{Processes: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		id := fmt.Sprint("item", i)
		reply, err := m.Complete(t.Context(), about(id))
		if err != nil || !strings.Contains(reply.Text, fmt.Sprintf("%q", id)) {
			t.Fatalf("item %s: %q, %v", id, reply.Text, err)
		}
	}
}

func TestCannotStart(t *testing.T) {
	for how, want := range map[string]string{
		"cannot start": "No module named 'grader'",
		"no hello":     "the first line is not a hello: Loading the model...",
		"silent start": "no answer within 300ms",
	} {
		_, err := open(t, how, command.Options{Start: 300 * time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), want) || deem.HintOf(err) == "" {
			t.Errorf("%s: error %v (hint %q), want %q", how, err, deem.HintOf(err), want)
		}
	}
	_, err := command.Open(t.Context(), command.Options{Command: []string{"/no/such/program"}})
	if err == nil || deem.HintOf(err) == "" {
		t.Errorf("a program that is not there: %v", err)
	}
}

// A program that ignores the end of its input and SIGTERM is killed.
func TestStubbornProgramIsEnded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	exe, _ := os.Executable()
	t.Setenv("DEEM_TEST_PROGRAM", "stubborn")
	m, err := command.Open(t.Context(), command.Options{Command: []string{exe}})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := m.(io.Closer).Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("Close took %v", took)
	}
}

func TestManyAtOnce(t *testing.T) {
	m, err := open(t, "crash", command.Options{Processes: 2})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	judged, failed := 0, 0
	for i := range 100 {
		all.Go(func() {
			id := fmt.Sprint(i)
			if i%10 == 0 {
				id += "-odd"
			}
			reply, err := m.Complete(t.Context(), about(id))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && strings.Contains(reply.Text, fmt.Sprintf("%q", id)):
				judged++
			case i%10 == 0 && err != nil:
				failed++
			default:
				t.Errorf("item %s: %q, %v", id, reply.Text, err)
			}
		})
	}
	all.Wait()
	if judged != 90 || failed != 10 {
		t.Errorf("%d judged and %d failed, want 90 and 10", judged, failed)
	}
}

func TestCancelled(t *testing.T) {
	m, err := open(t, "late", command.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := m.Complete(ctx, about("1-odd")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
}

func TestIdentity(t *testing.T) {
	m, err := open(t, "ok", command.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Name() != "command:tester" || !strings.Contains(m.Settings(), "version=7") || !strings.Contains(m.Settings(), "sha256=") {
		t.Errorf("name %q, settings %q", m.Name(), m.Settings())
	}
	_, err = m.Complete(t.Context(), deem.Prompt("is it right?"))
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || !me.Fatal || !strings.Contains(deem.HintOf(err), "--judge") {
		t.Errorf("a judge that is asked as a model: %v", err)
	}
}

func TestModel(t *testing.T) {
	m, err := open(t, "model", command.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := m.Complete(t.Context(), deem.Prompt("is 2 < 3 & \"true\"?"))
	if err != nil || reply.Text != "is 2 < 3 & \"true\"?" || reply.Usage.Input != 3 || reply.Stop != deem.StopEnd {
		t.Errorf("reply %+v, %v", reply, err)
	}
}

func TestServer(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, hello)
			return
		}
		var ask struct {
			Item deem.Item `json:"item"`
		}
		_ = json.NewDecoder(r.Body).Decode(&ask)
		switch ask.Item.ID {
		case "busy":
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		case "page":
			fmt.Fprint(w, "<html>not JSON</html>")
		default:
			fmt.Fprintf(w, `{"label": "no", "reason": %q}`, ask.Item.ID)
		}
	}))
	defer srv.Close()
	s, err := command.Dial(t.Context(), command.ServerOptions{URL: srv.URL + "/judge"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.(io.Closer).Close() }()
	if s.Name() != "http:tester" || deem.SettingsOf(s) != "version=7" {
		t.Errorf("name %q, settings %q", s.Name(), deem.SettingsOf(s))
	}
	if reply, err := s.Complete(t.Context(), about("a")); err != nil || reply.Text != `{"label":"no","reason":"a"}` {
		t.Errorf("reply %+v, %v", reply, err)
	}
	if _, err := s.Complete(t.Context(), about("busy")); !passing(err) {
		t.Errorf("a busy server: %v, want an error that may pass", err)
	}
	if _, err := s.Complete(t.Context(), about("page")); err == nil {
		t.Errorf("a page in place of an object: %v", err)
	}
}

func passing(err error) bool {
	me, ok := errors.AsType[*deem.ModelError](err)
	return ok && me.Passing
}

// BenchmarkComplete measures a trivial program with two processes.
func BenchmarkComplete(b *testing.B) {
	exe, _ := os.Executable()
	b.Setenv("DEEM_TEST_PROGRAM", "ok")
	m, err := command.Open(b.Context(), command.Options{Command: []string{exe}, Processes: 2})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = m.(io.Closer).Close() }()
	b.SetParallelism(2)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := m.Complete(b.Context(), about("x")); err != nil {
				b.Error(err)
			}
		}
	})
}

// A program that is killed while it restarts is started once more, and the run continues. A
// program that cannot start any more ends the run.
func TestKilledWhileItStarts(t *testing.T) {
	for _, c := range []struct {
		fails string // which starts fail
		want  string // "" if the item after the crash is judged
	}{
		{"2", ""},
		{"2 3", ""},
		{"2 3 4 5 6 7 8 9", "signal: killed"},
	} {
		t.Setenv("DEEM_TEST_FAILS", c.fails)
		t.Setenv("DEEM_TEST_STARTS", filepath.Join(t.TempDir(), "starts"))
		m, err := open(t, "killed", command.Options{Processes: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Complete(t.Context(), about("1-odd")); err == nil {
			t.Error("the first item was judged")
		}
		reply, err := m.Complete(t.Context(), about("2"))
		var failed *deem.ModelError
		switch {
		case c.want == "" && (err != nil || !strings.Contains(reply.Text, "yes")):
			t.Errorf("after failed starts %s: %q, %v", c.fails, reply.Text, err)
		case c.want != "" && (!errors.As(err, &failed) || !failed.Fatal || !strings.Contains(err.Error(), c.want)):
			t.Errorf("after failed starts %s: %v, want a fatal error with %q", c.fails, err, c.want)
		}
	}
}
