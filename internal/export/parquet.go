package export

import (
	"io"

	"github.com/parquet-go/parquet-go"

	"deem"
)

// A row group is written when it has so many rows or about so many bytes of text.
// Readers want large groups; but a group is held in memory, and items may be long.
const (
	groupRows  = 16 << 10
	groupBytes = 16 << 20
)

// A Parquet writes a Parquet file, compressed with zstd, with the run in the file's
// metadata. Nothing is complete until Close.
type Parquet struct {
	run  Run
	w    *parquet.GenericWriter[Row]
	rows int
	size int
}

var _ Writer = (*Parquet)(nil)

// NewParquet returns a writer of Parquet.
func NewParquet(w io.Writer, run Run) *Parquet {
	meta := []parquet.WriterOption{parquet.Compression(&parquet.Zstd), parquet.CreatedBy("deem", run.Software, "")}
	for _, kv := range [][2]string{
		{"deem.run", run.ID},
		{"deem.judge", run.Judge},
		{"deem.judge_hash", run.JudgeHash},
		{"deem.dataset", run.Dataset},
		{"deem.dataset_hash", run.DatasetHash},
	} {
		meta = append(meta, parquet.KeyValueMetadata(kv[0], kv[1]))
	}
	return &Parquet{run: run, w: parquet.NewGenericWriter[Row](w, meta...)}
}

// Add adds one row.
func (p *Parquet) Add(rec deem.Record) error {
	row := p.run.Of(rec)
	if _, err := p.w.Write([]Row{row}); err != nil {
		return err
	}
	p.rows++
	p.size += row.size()
	if p.rows < groupRows && p.size < groupBytes {
		return nil
	}
	p.rows, p.size = 0, 0
	return p.w.Flush()
}

// Close writes the last group and the index.
func (p *Parquet) Close() error { return p.w.Close() }
