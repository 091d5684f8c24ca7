package dataset

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"deem"
	"deem/internal/words"
)

// hubAddress is hf://datasets/OWNER/NAME[@REVISION][/PATH].
var hubAddress = regexp.MustCompile(`^hf://datasets/([\w.-]+/[\w.-]+)(?:@([^/]+))?(?:/(.*))?$`)

var isCommit = regexp.MustCompile(`^[0-9a-f]{40}$`)

// maxFiles limits the files of one address, and maxPages the pages of the list.
const (
	maxFiles = 1000
	maxPages = 1000
)

// A hub is a dataset on the Hugging Face Hub, at a commit.
type hub struct {
	o        fetchOptions
	endpoint *url.URL
	token    string
	name     string // OWNER/NAME
	commit   string
}

// An entry is a file or folder in the hub's list.
type hubEntry struct {
	Type string `json:"type"`
	Path string `json:"path"`
	Size int64  `json:"size"`
	LFS  struct {
		OID string `json:"oid"` // the SHA-256
	} `json:"lfs"`
}

func (h *hub) fetch(ctx context.Context, name string) ([]fetched, error) {
	if !isCommit.MatchString(h.commit) {
		var revision struct {
			SHA string `json:"sha"`
		}
		if _, err := h.ask(ctx, "/api/datasets/"+h.name+"/revision/"+url.PathEscape(cmp.Or(h.commit, "main")), &revision); err != nil {
			return nil, err
		}
		if !isCommit.MatchString(revision.SHA) {
			return nil, errors.New("the hub does not say which commit that is")
		}
		h.commit = revision.SHA
	}
	folder := name
	if i := strings.IndexAny(name, "*?["); i >= 0 {
		folder = path.Dir(name[:i] + "x")
	} else if path.Ext(name) != "" {
		folder = path.Dir(name)
	}
	if folder == "." {
		folder = ""
	}
	var entries []hubEntry
	next := strings.TrimSuffix("/api/datasets/"+h.name+"/tree/"+h.commit+"/"+folder, "/") + "?recursive=true"
	for pages := 0; next != ""; pages++ {
		var page []hubEntry
		var err error
		if pages == maxPages {
			return nil, fmt.Errorf("its list has more than %s pages", words.Comma(maxPages))
		}
		if next, err = h.ask(ctx, next, &page); err != nil {
			return nil, err
		}
		for _, e := range page {
			if e.Type == "file" && fits(e.Path, name, folder) {
				entries = append(entries, e)
			}
		}
		if len(entries) > maxFiles {
			return nil, fmt.Errorf("it names more than %s files", words.Comma(maxFiles))
		}
	}
	if len(entries) == 0 {
		return nil, deem.WithHint(fmt.Errorf("the dataset has no such file at commit %s", h.commit), "see its files at %s", h.endpoint.JoinPath("datasets", h.name, "tree", h.commit))
	}
	slices.SortFunc(entries, func(a, b hubEntry) int { return strings.Compare(a.Path, b.Path) })
	for i, e := range entries[1:] {
		if e.Path == entries[i].Path {
			return nil, deem.WithHint(fmt.Errorf("the hub lists %s twice, so the list changed between its pages", e.Path), "run the same command again")
		}
	}
	var files []fetched
	for _, e := range entries {
		d := download{
			o: h.o, url: h.endpoint.JoinPath("datasets", h.name, "resolve", h.commit, e.Path),
			size: e.Size, pinned: true, token: h.token,
		}
		if sum := strings.TrimPrefix(e.LFS.OID, "sha256:"); isSum.MatchString(sum) {
			d.sum = sum
		}
		at, err := d.fetch(ctx)
		if err != nil {
			return nil, fmt.Errorf("fetch %s: %w", e.Path, err)
		}
		files = append(files, fetched{Name: "hf://datasets/" + h.name + "@" + h.commit + "/" + e.Path, Path: at})
	}
	return files, nil
}

// fits reports whether a file was requested.
func fits(file, name, folder string) bool {
	if file == name {
		return true
	}
	if strings.ContainsAny(name, "*?[") {
		ok, err := path.Match(name, file)
		return err == nil && ok
	}
	return folder == name && (folder == "" || strings.HasPrefix(file, folder+"/")) && readable(file)
}

// ask calls the hub's API, and returns the address of the next page.
func (h *hub) ask(ctx context.Context, where string, into any) (next string, err error) {
	u, err := h.endpoint.Parse(strings.TrimSuffix(h.endpoint.Path, "/") + where)
	if err != nil {
		return "", errors.New("it is not an address")
	}
	if u.Host != h.endpoint.Host {
		return "", fmt.Errorf("the hub sends us to %s", u.Host)
	}
	d := download{o: h.o, url: u, token: h.token}
	resp, err := d.get(ctx, http.Header{"Accept": {"application/json"}})
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return "", d.refusal(resp)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 64<<20)).Decode(into); err != nil {
		return "", errors.New("the answer of the hub is not what its API gives")
	}
	for _, link := range strings.Split(resp.Header.Get("Link"), ",") {
		target, rel, ok := strings.Cut(link, ";")
		if !ok || !strings.Contains(rel, `rel="next"`) {
			continue
		}
		to, err := u.Parse(strings.Trim(strings.TrimSpace(target), "<>"))
		if err != nil || to.Host != u.Host {
			return "", errors.New("the hub names a next page that is not its own")
		}
		return strings.TrimPrefix(to.RequestURI(), strings.TrimSuffix(h.endpoint.Path, "/")), nil
	}
	return "", nil
}
