package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"deem/internal/doc"
	"deem/internal/server"
)

//go:embed static
var staticFiles embed.FS

// assets are the styles, scripts and images of the pages. Their names contain a hash of
// their content, so that browsers may cache them forever and never use an old version.
type assets struct {
	names map[string]string // "app.css" to "app.1f0c9a3b7d24.css"
	files map[string][]byte // by the name with the hash
}

// mediaTypes are the media types of our files. Those of package mime depend on the machine.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

func newAssets() *assets {
	a := &assets{names: map[string]string{}, files: map[string][]byte{}}
	entries, _ := staticFiles.ReadDir("static") //nolint:errcheck // Embedded files can be read.
	for _, e := range entries {
		content, _ := staticFiles.ReadFile(path.Join("static", e.Name())) //nolint:errcheck // As above.
		a.add(e.Name(), content)
	}
	a.add("doc.css", []byte(doc.CSS))
	return a
}

func (a *assets) add(name string, content []byte) {
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	hashed := strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
	a.names[name], a.files[hashed] = hashed, content
}

// url returns the path of a file. It fails if the file does not exist, which is a bug in a
// template.
func (a *assets) url(name string) (string, error) {
	hashed, ok := a.names[name]
	if !ok {
		return "", fmt.Errorf("there is no file static/%s", name)
	}
	return "/static/" + hashed, nil
}

// serve answers with a file.
func (a *assets) serve(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	content, ok := a.files[name]
	if !ok {
		return server.NotFound("there is no file %s", name)
	}
	w.Header().Set("Content-Type", cmp.Or(mediaTypes[path.Ext(name)], mime.TypeByExtension(path.Ext(name))))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	return nil
}
