package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deem"
)

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// A site serves files, counts requests, and breaks off the first answer after cut bytes.
type site struct {
	mu       sync.Mutex
	files    map[string][]byte
	requests []string // path, range and status
	cut      int
	token    string // required for files
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.files[r.URL.Path]
	s.requests = append(s.requests, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Range")))
	switch {
	case s.token != "" && r.Header.Get("Authorization") != "Bearer "+s.token:
		w.WriteHeader(http.StatusUnauthorized)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case s.cut > 0:
		w.Header().Set("ETag", `"`+sum(data)[:8]+`"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:s.cut])
		w.(http.Flusher).Flush()
		s.cut = 0
		panic(http.ErrAbortHandler)
	default:
		w.Header().Set("ETag", `"`+sum(data)[:8]+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}
}

func (s *site) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.requests
	s.requests = nil
	return list
}

func start(t *testing.T, s *site) string {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return srv.URL
}

func read(t *testing.T, files []fetched, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, f := range files {
		data, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	return string(all)
}

// A file is downloaded once, then revalidated, and downloaded again if it has changed.
func TestFetchCache(t *testing.T) {
	t.Parallel()
	s := &site{files: map[string][]byte{"/a.jsonl": []byte("one\n")}}
	url := start(t, s)
	o := fetchOptions{Cache: t.TempDir()}
	for i, want := range []string{"one\n", "one\n", "two, longer\n"} {
		if i == 2 {
			s.files["/a.jsonl"] = []byte(want)
		}
		files, err := fetchFiles(t.Context(), url+"/a.jsonl", o)
		if got := read(t, files, err); got != want || !strings.HasSuffix(files[0].Path, "data-a.jsonl") {
			t.Errorf("the %d. time: %q in %v", i+1, got, files)
		}
	}
	if got := s.asked(); len(got) != 3 {
		t.Errorf("asked %v", got)
	}
	pinned := url + "/a.jsonl#sha256=" + sum([]byte("two, longer\n"))
	files, err := fetchFiles(t.Context(), pinned, o)
	if got := read(t, files, err); got != "two, longer\n" || len(s.asked()) != 0 {
		t.Errorf("with a checksum: %q", got)
	}
}

// A download that broke off is begun again from its first byte, whatever the server says.
func TestFetchBrokenOff(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("0123456789\n"), 20_000)
	s := &site{files: map[string][]byte{"/a.jsonl": data}, cut: 100_000}
	url := start(t, s)
	o := fetchOptions{Cache: t.TempDir()}
	_, err := fetchFiles(t.Context(), url+"/a.jsonl", o)
	if err == nil || !strings.Contains(err.Error(), "broke off after 100,000 bytes") {
		t.Fatalf("a download that breaks off: %v", err)
	}
	s.asked()
	files, err := fetchFiles(t.Context(), url+"/a.jsonl", o)
	if got := read(t, files, err); got != string(data) {
		t.Errorf("%d bytes, want %d", len(got), len(data))
	}
	if got := s.asked(); !slices.Equal(got, []string{"/a.jsonl"}) {
		t.Errorf("asked %v", got)
	}
}

// A part of a file, or the news that it has not changed, is no answer to the first request.
func TestFetchUnexpectedStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		http.StatusPartialContent: "the server answers HTTP 206 partial content",
		http.StatusNotModified:    "the server answers HTTP 304 not modified",
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 0-2/99999")
			w.WriteHeader(status)
			_, _ = w.Write([]byte("{}\n"))
		}))
		_, err := fetchFiles(t.Context(), srv.URL+"/a.jsonl", fetchOptions{Cache: t.TempDir()})
		srv.Close()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("HTTP %d: %v", status, err)
		}
	}
}

// A body that stops sending ends the download.
func TestFetchStalled(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("{}\n"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer srv.Close()
	_, err := fetchFiles(t.Context(), srv.URL+"/a.jsonl", fetchOptions{Cache: t.TempDir(), Stall: 100 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "it broke off after 3 bytes: no byte came for 100ms") {
		t.Errorf("error %v", err)
	}
}

// Redirects lead neither to link-local addresses nor from the internet into a private network.
func TestFetchRedirects(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ from, to, want string }{
		{"http://127.0.0.1/a", "http://127.0.0.1/b", ""},
		{"http://127.0.0.1/a", "http://169.254.169.254/latest", "169.254.169.254, a link-local address"},
		{"http://127.0.0.1/a", "http://[::ffff:169.254.169.254]/latest", "a link-local address"},
		{"http://127.0.0.1/a", "http://[fe80::1]/", "[fe80::1], a link-local address"},
		{"https://10.0.0.1/a", "https://10.0.0.2/b", ""},
		{"https://192.0.2.1/a", "https://192.0.2.2/b", ""},
		{"https://192.0.2.1/a", "http://192.0.2.2/b", "192.0.2.2, which is not encrypted"},
		{"https://192.0.2.1/a", "https://10.0.0.1/b", "10.0.0.1, in a private network"},
		{"https://192.0.2.1/a", "https://0.0.0.0/b", "0.0.0.0, in a private network"},
		{"https://192.0.2.1/a", "https://localhost/b", "localhost, in a private network"},
	} {
		var via [2]*http.Request
		for i, address := range []string{tt.from, tt.to} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
			if err != nil {
				t.Fatal(err)
			}
			via[i] = r
		}
		err := checkRedirect(via[1], via[:1])
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("from %s to %s: %v, want %q", tt.from, tt.to, err, tt.want)
		}
	}
	srv := httptest.NewServer(http.RedirectHandler("http://169.254.169.254/latest", http.StatusFound))
	defer srv.Close()
	_, err := fetchFiles(t.Context(), srv.URL+"/a.jsonl", fetchOptions{Cache: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "a link-local address") {
		t.Errorf("error %v", err)
	}
}

// Bytes in the cache that were changed are downloaded again.
func TestFetchChangedCache(t *testing.T) {
	t.Parallel()
	s := &site{files: map[string][]byte{"/a.jsonl": []byte("one\n")}}
	url := start(t, s)
	for _, address := range []string{url + "/a.jsonl", url + "/a.jsonl#sha256=" + sum([]byte("one\n"))} {
		o := fetchOptions{Cache: t.TempDir()}
		files, err := fetchFiles(t.Context(), address, o)
		read(t, files, err)
		if err := os.WriteFile(files[0].Path, []byte("two\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		files, err = fetchFiles(t.Context(), address, o)
		if got := read(t, files, err); got != "one\n" {
			t.Errorf("%s: read %q", address, got)
		}
	}
}

func TestFetchRefused(t *testing.T) {
	t.Parallel()
	s := &site{files: map[string][]byte{"/a.jsonl": []byte("one\n"), "/big.jsonl": make([]byte, 2000)}}
	url := start(t, s)
	away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
	}))
	t.Cleanup(away.Close)
	for _, tt := range []struct{ address, want, hint string }{
		{url + "/a.jsonl#sha256=" + sum([]byte("other")), "its SHA-256 is " + sum([]byte("one\n")), "compare both"},
		{url + "/a.jsonl#md5=0", `"md5=0" is not a checksum`, "#sha256="},
		{url + "/none.jsonl", "the server answers HTTP 404 not found", "browser"},
		{url + "/big.jsonl", "it has more than 1,000 bytes", "download it yourself"},
		{away.URL + "/a", "from one address to the next", ""},
		{"http://example.org/a.jsonl", "data that anybody on the way can change is not fetched", "https://"},
		{"hf://models/a/b", "is not a dataset on the hub", "hf://datasets/OWNER/NAME/PATH"},
	} {
		_, err := fetchFiles(t.Context(), tt.address, fetchOptions{Cache: t.TempDir(), MaxBytes: 1000})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(deem.HintOf(err), tt.hint) {
			t.Errorf("%s: %v, hint %q", tt.address, err, deem.HintOf(err))
		}
	}
}

const commit = "0123456789abcdef0123456789abcdef01234567"

// A hub dataset is read at a commit, over several pages of its list, with its checksums and
// the user's token, which no other host gets.
func TestFetchHub(t *testing.T) {
	t.Parallel()
	data := map[string][]byte{"data/a.jsonl": []byte("a\n"), "data/b.jsonl": []byte("b\n"), "README.md": []byte("readme\n")}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("another host was given the token")
		}
		_, _ = w.Write(data[strings.TrimPrefix(r.URL.Path, "/lfs/")])
	}))
	t.Cleanup(elsewhere.Close)
	other := strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)
	var asked []string
	var base string
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		if r.Header.Get("Authorization") != "Bearer hf_secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		file := func(name string) map[string]any {
			return map[string]any{"type": "file", "path": name, "size": len(data[name]), "oid": "x", "lfs": map[string]any{"oid": sum(data[name]), "size": len(data[name])}}
		}
		switch r.URL.Path {
		case "/api/datasets/acme/answers/revision/main":
			_ = json.NewEncoder(w).Encode(map[string]string{"sha": commit})
		case "/api/datasets/acme/answers/tree/" + commit, "/api/datasets/acme/answers/tree/" + commit + "/data":
			if r.URL.Query().Get("cursor") == "" {
				w.Header().Set("Link", "<"+base+r.URL.Path+`?recursive=true&cursor=2>; rel="next"`)
				_ = json.NewEncoder(w).Encode([]any{map[string]any{"type": "directory", "path": "data"}, file("data/b.jsonl")})
				return
			}
			list := []any{file("data/a.jsonl")}
			if !strings.HasSuffix(r.URL.Path, "/data") {
				list = append(list, file("README.md"))
			}
			_ = json.NewEncoder(w).Encode(list)
		default:
			http.Redirect(w, r, other+"/lfs/"+strings.TrimPrefix(r.URL.Path, "/datasets/acme/answers/resolve/"+commit+"/"), http.StatusFound)
		}
	}))
	t.Cleanup(hub.Close)
	base = hub.URL
	env := map[string]string{"HF_ENDPOINT": hub.URL, "HF_TOKEN": "hf_secret"}
	o := fetchOptions{Cache: t.TempDir(), Get: func(name string) string { return env[name] }}
	for address, want := range map[string]string{
		"hf://datasets/acme/answers":                             "a\nb\n",
		"hf://datasets/acme/answers/data":                        "a\nb\n",
		"hf://datasets/acme/answers/data/*.jsonl":                "a\nb\n",
		"hf://datasets/acme/answers/data/b.jsonl":                "b\n",
		"hf://datasets/acme/answers@" + commit + "/data/b.jsonl": "b\n",
	} {
		files, err := fetchFiles(t.Context(), address, o)
		if got := read(t, files, err); got != want || !strings.HasPrefix(files[0].Name, "hf://datasets/acme/answers@"+commit+"/data/") {
			t.Errorf("%s: %q in %v", address, got, files)
		}
	}
	asked = nil
	if _, err := fetchFiles(t.Context(), "hf://datasets/acme/answers/none.jsonl", o); err == nil || !strings.Contains(err.Error(), "no such file at commit "+commit) {
		t.Errorf("a file that is not there: %v", err)
	}
	env["HF_TOKEN"] = ""
	if _, err := fetchFiles(t.Context(), "hf://datasets/acme/answers", o); err == nil || !strings.Contains(deem.HintOf(err), "HF_TOKEN") {
		t.Errorf("without a token: %v", err)
	}
}

// A checksum is also checked for a cached file if the server says that it has not changed.
func TestFetchChecksumOfCached(t *testing.T) {
	t.Parallel()
	url := start(t, &site{files: map[string][]byte{"/a.jsonl": []byte("one\n")}})
	o := fetchOptions{Cache: t.TempDir()}
	files, err := fetchFiles(t.Context(), url+"/a.jsonl", o)
	read(t, files, err)
	if _, err := fetchFiles(t.Context(), url+"/a.jsonl#sha256="+sum([]byte("other")), o); err == nil || !strings.Contains(err.Error(), "its SHA-256 is "+sum([]byte("one\n"))) {
		t.Errorf("error %v", err)
	}
	files, err = fetchFiles(t.Context(), url+"/a.jsonl#sha256="+sum([]byte("one\n")), o)
	if got := read(t, files, err); got != "one\n" {
		t.Errorf("after that it has %q", got)
	}
}

// A hub whose list changes between pages, never ends or is wrong about a file is rejected.
func TestFetchHubTrouble(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{
		"twice":   "the hub lists data/a.jsonl twice",
		"endless": "its list has more than 1,000 pages",
		"away":    "the hub names a next page that is not its own",
		"larger":  "the server offers 3 bytes, and 2 were announced",
		"other":   "its SHA-256 is " + sum([]byte("b\n")) + ", and " + sum([]byte("a\n")) + " was asked for",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasPrefix(r.URL.Path, "/api/") {
					_, _ = w.Write([]byte(map[string]string{"larger": "a\nb", "other": "b\n"}[how]))
					return
				}
				cursor := r.URL.Query().Get("cursor")
				next := map[string]string{"endless": r.URL.Path + "?cursor=x" + cursor, "away": "https://example.org/", "twice": r.URL.Path + "?cursor=2"}[how]
				if next != "" && (how == "endless" && len(cursor) < 2000 || cursor == "") {
					w.Header().Set("Link", "<"+next+`>; rel="next"`)
				}
				list := []any{}
				if how != "endless" {
					list = append(list, map[string]any{"type": "file", "path": "data/a.jsonl", "size": 2 + len(cursor), "lfs": map[string]any{"oid": sum([]byte("a\n"))}})
				}
				_ = json.NewEncoder(w).Encode(list)
			}))
			defer hub.Close()
			_, err := fetchFiles(t.Context(), "hf://datasets/acme/answers@"+commit+"/data", fetchOptions{Cache: t.TempDir(), Get: func(name string) string {
				return map[string]string{"HF_ENDPOINT": hub.URL}[name]
			}})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
}

// Two commands that fetch the same address concurrently do not write into the same file:
// one waits for the other, and then finds the file cached.
func TestFetchAtOnce(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte(`{"id":"a"}`+"\n"), 20_000)
	var mu sync.Mutex
	sent := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"one"`)
		if r.Header.Get("If-None-Match") == "" {
			mu.Lock()
			sent++
			mu.Unlock()
		}
		http.ServeContent(slowly{w}, r, "", time.Time{}, bytes.NewReader(data))
	}))
	defer srv.Close()
	cache := t.TempDir()
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			time.Sleep(time.Duration(i) * 20 * time.Millisecond)
			files, err := fetchFiles(t.Context(), srv.URL+"/rows.jsonl", fetchOptions{Cache: cache})
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := os.ReadFile(files[0].Path); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes of %d (%v)", len(got), len(data), err)
			}
		})
	}
	group.Wait()
	if sent != 1 {
		t.Errorf("the file was sent %d times", sent)
	}
}

// Waiting for another command can be interrupted.
func TestFetchAtOnceInterrupted(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-release
		_, _ = w.Write([]byte("{}"))
	}))
	defer srv.Close()
	o := fetchOptions{Cache: t.TempDir()}
	var group sync.WaitGroup
	group.Go(func() {
		if _, err := fetchFiles(t.Context(), srv.URL+"/rows.jsonl", o); err != nil {
			t.Error(err)
		}
	})
	<-asked
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := fetchFiles(ctx, srv.URL+"/rows.jsonl", o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	close(release)
	group.Wait()
}

// A slowly writer is slow.
type slowly struct{ http.ResponseWriter }

func (s slowly) Write(b []byte) (int, error) {
	n := 0
	for part := range slices.Chunk(b, 8<<10) {
		time.Sleep(5 * time.Millisecond)
		m, err := s.ResponseWriter.Write(part)
		n += m
		if err != nil {
			return n, err
		}
		_ = http.NewResponseController(s.ResponseWriter).Flush()
	}
	return n, nil
}
