package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"deem/model"
	"deem/report"
)

// Version is set by the linker when a release is built.
var Version = ""

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
		Use: "version", Short: "say which deem this is", Args: atMost(0),
		Long: "Say which deem this is, and the versions of what it writes and knows.\n\nEXIT STATUS\n  0 always",
		RunE: func(*cobra.Command, []string) error {
			prices := model.BuiltinPrices()
			if a.json {
				writeJSON(a.out, map[string]string{
					"version": version(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
					"report": report.Version, "prices": prices.Date,
				})
				return nil
			}
			_, err := fmt.Fprintf(a.out, "deem %s, %s, %s/%s, prices of %s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, prices.Date)
			return err
		},
	}
}
