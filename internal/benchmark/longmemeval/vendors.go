package longmemeval

import (
	"embed"
	"sync"

	"deem/internal/benchmark"
	"deem/judge"
)

//go:embed judges/*.yaml prompts/mem0.txt
var vendorFiles embed.FS

// Vendors returns the judges that vendors published for the benchmark, by name.
var Vendors = sync.OnceValue(func() map[string]*judge.Declaration { return benchmark.Declared(vendorFiles) })
