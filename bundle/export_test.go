package bundle

// Constants that tests compare with.
const (
	CheckVerdict = checkVerdict
	Format       = format
)

// Manifest returns the manifest after all records were read.
func (r *Reader) Manifest() *Manifest { return r.manifest }

// SignedBy returns the signature after all records were read.
func (r *Reader) SignedBy() []byte { return r.signature.Signature }
