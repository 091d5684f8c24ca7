// Package docs embeds the documentation, so that the command and the server can show it
// without a network. Package manual renders it.
package docs

import "embed"

// Files are the pages, as Markdown, and the images that they show.
//
//go:embed *.md benchmarks/*.md design/*.md spec/*.md
//go:embed images/agreement.png images/item.png images/label.png images/trend.png
var Files embed.FS
