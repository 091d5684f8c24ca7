package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"deem/internal/model"
	"deem/report"
)

// Values set by the linker when a release is built. The date is that of the commit, for
// example 2026-11-15T12:00:00Z: the date of the build would make builds irreproducible.
var (
	Version = ""
	Commit  = ""
	Date    = ""
)

func version() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version", Args: atMost(0), Hidden: true,
		Long: "Print the version of deem, of its reports and of its prices.\n\nEXIT STATUS\n  0 always",
		RunE: func(*cobra.Command, []string) error {
			prices := model.BuiltinPrices()
			if a.json {
				commit, date := Commit, Date
				if info, ok := debug.ReadBuildInfo(); ok && commit == "" {
					// The go command records them when it builds in a repository.
					for _, s := range info.Settings {
						switch s.Key {
						case "vcs.revision":
							commit = s.Value
						case "vcs.time":
							date = s.Value
						}
					}
				}
				return writeJSON(a.out, map[string]string{
					"version": version(), "commit": commit, "date": date, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
					"report": report.Version, "prices": prices.Date,
				})
			}
			_, err := fmt.Fprintf(a.out, "deem %s, %s, %s/%s, prices of %s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, prices.Date)
			return err
		},
	}
}
