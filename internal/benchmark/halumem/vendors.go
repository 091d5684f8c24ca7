package halumem

import (
	"embed"
	"sync"

	"deem"
	"deem/internal/benchmark"
	"deem/judge"
)

//go:embed judges/*.yaml prompts/omnimemeval*.txt
var vendorFiles embed.FS

// vendors are the judges that vendors published for the questions of the benchmark.
var vendors = sync.OnceValue(func() map[string]*judge.Declaration { return benchmark.Declared(vendorFiles) })

// Vendors returns the names of the judges published by vendors. They judge only the stage
// "qa", so their score is not comparable with that of the four stages.
func Vendors() []string { return benchmark.DeclaredNames(vendorFiles, Name) }

// Vendor returns the declaration of a vendor's judge, or nil.
func Vendor(name string) *judge.Declaration { return vendors()[name] }

// A Questions is a vendor's protocol for the items of the stage "qa".
type Questions struct{ judge.Readable }

// VendorProtocol returns the protocol of a vendor's judge under the named reading.
func VendorProtocol(name, reading string) (Questions, error) {
	p, err := vendors()[name].Protocol(reading)
	return Questions{p}, err
}

// Request renders the prompt for a question.
func (q Questions) Request(it deem.Item) (deem.Request, error) {
	switch {
	case it.Category != QA:
		return deem.Request{}, deem.Failf(deem.Input, "%s judges questions only, and this is of the stage %q", q.Name(), it.Category)
	case it.Fields[fieldMissing] != "":
		return deem.Request{}, deem.Failf(deem.Input, "the data have no %s here", it.Fields[fieldMissing])
	}
	return q.Readable.Request(it)
}

// Reread returns the protocol under its other reading.
func (q Questions) Reread() judge.Readable {
	other := q.Readable.Reread()
	if other == nil {
		return nil
	}
	return Questions{other}
}

// NewQuestionMetrics returns the metrics for a judge of the questions only.
func NewQuestionMetrics() *benchmark.Table {
	return &benchmark.Table{
		Benchmark: Name, By: []string{fieldKind},
		Group: func(it deem.Item, by string) string { return it.Fields[by] },
		Notes: []string{"questions only: not comparable with the numbers of HaluMem's four stages"},
	}
}
