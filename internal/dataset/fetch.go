package dataset

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"deem"
	"deem/internal/flock"
	"deem/internal/words"
)

// A fetched file is in the cache, or was on this machine before.
type fetched struct {
	Name string // its address, with the commit for hub files
	Path string // its path on this machine
}

// fetchOptions configure how files are fetched.
type fetchOptions struct {
	Cache    string                   // the cache folder; "" means deem in the user's cache folder
	MaxBytes int64                    // of one file; 0 means 8 GiB
	Stall    time.Duration            // how long a body may send nothing; 0 means one minute
	Get      func(name string) string // reads environment variables; nil means [os.Getenv]
}

// IsRemote reports whether a name is an address that this package can fetch.
func IsRemote(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && (scheme == "https" || scheme == "http" || scheme == "hf")
}

// fetchFiles downloads the files of an address from a web server or from the Hugging Face
// Hub, and caches them.
//
// An address is https://HOST/PATH, which may end in #sha256=HEX, or
// hf://datasets/OWNER/NAME[@REVISION]/PATH, where the path is a file, a folder or a
// pattern. A hub revision that is not a commit is resolved to one first, so that the name
// of the dataset identifies the data.
//
// A file is downloaded once. If its address has a commit or a checksum, it is never
// requested again; otherwise the server is asked whether it has changed. The bytes in the
// cache are hashed before they are used.
func fetchFiles(ctx context.Context, address string, o fetchOptions) ([]fetched, error) {
	if o.Get == nil {
		o.Get = os.Getenv
	}
	o.MaxBytes, o.Stall = cmp.Or(o.MaxBytes, 8<<30), cmp.Or(o.Stall, time.Minute)
	if o.Cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, deem.WithHint(fmt.Errorf("fetch %s: no folder for the cache: %w", address, err), "set XDG_CACHE_HOME to a folder")
		}
		o.Cache = filepath.Join(dir, "deem", "data")
	}
	if strings.HasPrefix(address, "hf://") {
		m := hubAddress.FindStringSubmatch(address)
		if m == nil {
			return nil, deem.WithHint(fmt.Errorf("%s is not a dataset on the hub", address), "write hf://datasets/OWNER/NAME/PATH, or hf://datasets/OWNER/NAME@REVISION/PATH")
		}
		endpoint, err := url.Parse(cmp.Or(o.Get("HF_ENDPOINT"), "https://huggingface.co"))
		if err != nil || endpoint.Host == "" {
			return nil, errors.New("HF_ENDPOINT is not the address of a server")
		}
		h := &hub{o: o, endpoint: endpoint, token: o.Get("HF_TOKEN"), name: m[1], commit: m[2]}
		files, err := h.fetch(ctx, strings.Trim(m[3], "/"))
		if err != nil {
			return nil, fmt.Errorf("fetch %s: %w", address, err)
		}
		return files, nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: it is not an address", address)
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("fetch %s: %w", address, deem.WithHint(errors.New("data that anybody on the way can change is not fetched"), "write https:// instead of http://"))
	}
	d := download{url: u}
	if u.Fragment != "" {
		sum, ok := strings.CutPrefix(u.Fragment, "sha256=")
		if sum = strings.ToLower(sum); !ok || !isSum.MatchString(sum) {
			return nil, fmt.Errorf("fetch %s: %w", address, deem.WithHint(fmt.Errorf("%q is not a checksum", u.Fragment), "end the address in #sha256= and 64 hexadecimal digits, or leave it out"))
		}
		d.sum, d.pinned, u.Fragment = sum, true, ""
	}
	d.o = o
	file, err := d.fetch(ctx)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", address, err)
	}
	return []fetched{{Name: address, Path: file}}, nil
}

// A download is the download of one file.
type download struct {
	o      fetchOptions
	url    *url.URL
	sum    string // the required SHA-256; "" if unknown
	size   int64  // the required size; 0 if unknown
	pinned bool   // the address identifies the exact bytes
	token  string
}

var isSum = regexp.MustCompile(`^[0-9a-f]{64}$`)

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// A meta is the metadata of a file in the cache.
type meta struct {
	URL      string `json:"url"`
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"last_modified,omitempty"`
	SHA256   string `json:"sha256"`
}

// fetch downloads the file if necessary and returns its path in the cache.
func (d download) fetch(ctx context.Context) (string, error) {
	key := sha256.Sum256([]byte(d.url.String()))
	dir := filepath.Join(d.o.Cache, hex.EncodeToString(key[:16]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	// Two processes that download the same file would write into the same one, so the second waits.
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	for err = flock.Try(f); errors.Is(err, flock.ErrLocked); err = flock.Try(f) {
		select {
		case <-ctx.Done():
			return "", errors.Join(ctx.Err(), f.Close())
		case <-time.After(50 * time.Millisecond):
		}
	}
	if err != nil {
		return "", errors.Join(err, f.Close())
	}
	defer func() { _ = f.Close() }()
	// The name is kept, since its extension tells the format.
	file := filepath.Join(dir, "data-"+strings.Map(plainPath, path.Base(d.url.Path)))
	known := readMeta(dir)
	// The bytes are hashed each time: a checksum is a promise about them, not about the metadata.
	sum, err := sumOf(file)
	whole := err == nil && sum == known.SHA256 && (d.sum == "" || d.sum == sum)
	if whole && d.pinned {
		return file, nil
	}
	if !whole {
		known = meta{}
	}
	if err := d.bring(ctx, dir, file, known); err != nil {
		return "", err
	}
	return file, nil
}

func plainPath(r rune) rune {
	if r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return r
	}
	return '_'
}

// bring downloads the whole file, unless the server says that the cached one has not changed.
func (d download) bring(ctx context.Context, dir, file string, known meta) error {
	header := http.Header{}
	for name, value := range map[string]string{"If-None-Match": known.ETag, "If-Modified-Since": known.Modified} {
		if value != "" {
			header.Set(name, value)
		}
	}
	resp, err := d.get(ctx, header)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusNotModified && len(header) > 0:
		return nil
	case resp.StatusCode != http.StatusOK:
		return d.refusal(resp)
	case d.size > 0 && resp.ContentLength >= 0 && resp.ContentLength != d.size:
		return fmt.Errorf("the server offers %s bytes, and %s were announced", words.Comma(int(resp.ContentLength)), words.Comma(int(d.size)))
	case resp.ContentLength > d.o.MaxBytes:
		return d.tooLarge()
	}
	part := filepath.Join(dir, "part")
	defer func() { _ = os.Remove(part) }()
	sum, err := d.save(part, resp.Body)
	if err != nil {
		return err
	}
	if d.sum != "" && sum != d.sum {
		err := fmt.Errorf("its SHA-256 is %s, and %s was asked for", sum, d.sum)
		return deem.WithHint(err, "the data is not what was named: compare both with their source")
	}
	if err := os.Rename(part, file); err != nil {
		return err
	}
	return writeMeta(dir, meta{URL: d.url.String(), ETag: resp.Header.Get("ETag"), Modified: resp.Header.Get("Last-Modified"), SHA256: sum})
}

func (d download) tooLarge() error {
	return deem.WithHint(fmt.Errorf("it has more than %s bytes", words.Comma(int(d.o.MaxBytes))), "download it yourself, and name the file")
}

// save writes the body to a file and returns its SHA-256.
func (d download) save(part string, body io.Reader) (sum string, err error) {
	f, err := os.Create(part) //nolint:gosec // The path is inside the cache.
	if err != nil {
		return "", err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, h), io.LimitReader(body, d.o.MaxBytes+1))
	err = errors.Join(err, f.Close())
	switch {
	case err != nil:
		return "", deem.WithHint(fmt.Errorf("it broke off after %s bytes: %w", words.Comma(int(n)), err), "run the same command again")
	case n > d.o.MaxBytes:
		return "", d.tooLarge()
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func sumOf(file string) (string, error) {
	f, err := os.Open(file) //nolint:gosec // The path is inside the cache.
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

const metaName = "meta.json"

func readMeta(dir string) (m meta) {
	text, err := os.ReadFile(filepath.Join(dir, metaName)) //nolint:gosec // The path is inside the cache.
	if err != nil || json.Unmarshal(text, &m) != nil {
		return meta{}
	}
	return m
}

func writeMeta(dir string, m meta) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	tmp := filepath.Join(dir, metaName+".new")
	if err := os.WriteFile(tmp, text, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(dir, metaName))
}

// maxRedirects is the maximum number of redirects.
const maxRedirects = 5

// get sends a request. A token is sent only to the host that it is for, and a body that
// stalls ends with an error.
func (d download) get(ctx context.Context, header http.Header) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url.String(), nil)
	if err != nil {
		cancel(nil)
		return nil, errors.New("it is not an address")
	}
	r.Header = header.Clone()
	r.Header.Set("User-Agent", "deem")
	if d.token != "" {
		r.Header.Set("Authorization", "Bearer "+d.token)
	}
	client := http.Client{CheckRedirect: checkRedirect, Transport: transport}
	resp, err := client.Do(r)
	if err != nil {
		cancel(nil)
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err // The outer error would repeat the address, with its secrets.
		}
		return nil, err
	}
	stalled := fmt.Errorf("no byte came for %s", d.o.Stall)
	timer := time.AfterFunc(d.o.Stall, func() { cancel(stalled) })
	resp.Body = &transfer{ReadCloser: resp.Body, ctx: ctx, cancel: cancel, timer: timer, limit: d.o.Stall}
	return resp, nil
}

// A transfer is the body of a response, which is cancelled if no byte comes for a while.
type transfer struct {
	io.ReadCloser
	ctx    context.Context //nolint:containedctx // It is the request's, which lasts as long as its body.
	cancel context.CancelCauseFunc
	timer  *time.Timer
	limit  time.Duration
}

func (b *transfer) Read(p []byte) (int, error) {
	b.timer.Reset(b.limit)
	n, err := b.ReadCloser.Read(p)
	b.timer.Stop() // Time that the caller takes does not count.
	if err != nil && !errors.Is(err, io.EOF) {
		err = cmp.Or(context.Cause(b.ctx), err)
	}
	return n, err
}

func (b *transfer) Close() error {
	b.timer.Stop()
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}

// checkRedirect follows a server to other servers like it. Nobody who answers a request may
// direct us to the metadata service of a cloud, or from the internet into a private network.
func checkRedirect(to *http.Request, via []*http.Request) error {
	from := via[len(via)-1]
	target := reach(to.Context(), to.URL.Hostname())
	switch {
	case len(via) > maxRedirects:
		return errors.New("the server sends us from one address to the next")
	case from.URL.Scheme == "https" && to.URL.Scheme != "https":
		return fmt.Errorf("the server sends us to %s, which is not encrypted", to.URL.Host)
	case target == linkLocal:
		return fmt.Errorf("the server sends us to %s, a link-local address", to.URL.Host)
	case target == private && reach(from.Context(), from.URL.Hostname()) == public:
		return fmt.Errorf("the server sends us to %s, in a private network", to.URL.Host)
	}
	return nil
}

// How far a host is from this machine.
const (
	public = iota
	private
	linkLocal
)

// reach says where a host is: the nearest place among its addresses. A name that this machine
// cannot resolve is public: only a proxy can find it.
func reach(ctx context.Context, host string) int {
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return public
	}
	nearest := public
	for _, a := range addresses {
		switch a = a.Unmap(); {
		case a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast():
			return linkLocal
		case a.IsLoopback() || a.IsPrivate() || a.IsUnspecified():
			nearest = private
		}
	}
	return nearest
}

var transport = func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = 60 * time.Second
	t.DisableCompression = true // Compressed files stay compressed.
	return t
}()

// refusal returns why a server did not send the file.
func (d download) refusal(resp *http.Response) error {
	err := fmt.Errorf("the server answers HTTP %d %s", resp.StatusCode, strings.ToLower(http.StatusText(resp.StatusCode)))
	switch {
	case slices.Contains([]int{401, 403}, resp.StatusCode) && d.token == "":
		return deem.WithHint(err, "for a dataset of the hub that is not public, set HF_TOKEN; otherwise download it yourself, and name the file")
	case resp.StatusCode == http.StatusNotFound:
		return deem.WithHint(err, "check the address in a browser")
	}
	return err
}
