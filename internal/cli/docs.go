package cli

import (
	"context"
	"net"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"deem"
	"deem/docs"
	"deem/internal/manual"
	"deem/internal/server/api"
	"deem/internal/server/web"
	"deem/internal/usage"
	"deem/internal/words"
)

const docsHelp = `Read the documentation: in a browser, on the terminal, or as files.

Without a page, the documentation is served on this machine, with a menu and a search,
until Ctrl-C. "deem serve" shows the same pages under /docs/. Nothing is loaded from other
hosts. With the name of a page, the page is printed as Markdown. With -o, all pages are
written as a static site, which opens from a disk and can be put on any web server.

EXIT STATUS
  0 done   1 error   2 wrong usage`

const docsExample = `  deem docs
  deem docs first-steps
  deem docs benchmarks/longmemeval
  deem docs -o site
  deem docs --json`

// theManual renders the documentation once.
var theManual = sync.OnceValues(func() (*manual.Manual, error) {
	reference, err := manual.APIPage(api.OpenAPI())
	if err != nil {
		return nil, err
	}
	return manual.New(docs.Files, map[string][]byte{"api-reference": reference})
})

func (a *app) docsCommand() *cobra.Command {
	var dir, listen string
	cmd := &cobra.Command{
		Use: "docs [PAGE] [flags]", Short: "read the documentation", Long: docsHelp, Example: docsExample, Args: atMost(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			m, err := theManual()
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return m.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := theManual()
			switch {
			case err != nil:
				return err
			case len(args) == 1 && dir != "":
				return usage.Errorf("-o writes all pages: leave out %s", args[0])
			case len(args) == 1:
				return a.printDocs(m, args[0])
			case dir != "":
				n, err := web.WriteDocs(cmd.Context(), m, dir, version())
				if err == nil {
					a.say("wrote %s to %s; open %s/index.html", words.Plural(n, "file", "files"), dir, dir)
				}
				return err
			case a.json:
				return a.listDocs(m)
			}
			return a.serveDocs(cmd, m, listen)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&dir, "output", "o", "", "write a static site to this `folder`")
	f.StringVar(&listen, "listen", "127.0.0.1:0", "serve at this `address`; port 0 picks a free port")
	return cmd
}

// printDocs prints a page as Markdown.
func (a *app) printDocs(m *manual.Manual, name string) error {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md")
	page := m.Page(name)
	if page == nil {
		return usage.Mark(usage.Unknown("page", name, m.Names()))
	}
	if a.json {
		return writeJSON(a.out, docsEntry(page))
	}
	_, err := a.out.Write(page.Markdown)
	return err
}

// A docsPage is a page in JSON.
type docsPage struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	About    string `json:"about"`
	Markdown string `json:"markdown,omitempty"`
}

func docsEntry(p *manual.Page) docsPage {
	return docsPage{Name: p.Name, Title: p.Title, About: p.About, Markdown: string(p.Markdown)}
}

// listDocs lists the pages, without their text.
func (a *app) listDocs(m *manual.Manual) error {
	pages := []docsPage{}
	for _, name := range m.Names() {
		p := docsEntry(m.Page(name))
		p.Markdown = ""
		pages = append(pages, p)
	}
	return writeJSON(a.out, map[string]any{"pages": pages})
}

// serveDocs serves the documentation until the command is interrupted.
func (a *app) serveDocs(cmd *cobra.Command, m *manual.Manual, listen string) error {
	s, err := web.NewDocs(m, version())
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", listen)
	if err != nil {
		s.Close()
		return deem.WithHint(err, "listen at another address, or at any free port: --listen 127.0.0.1:0")
	}
	serving, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	defer onInterrupt(func(int) { cancel() })()
	a.say("the documentation is at http://%s/docs/; Ctrl-C stops", l.Addr())
	return usage.Mark(s.Serve(serving, l))
}
