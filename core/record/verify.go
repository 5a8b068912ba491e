package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Limits on what one transition stores, the same on every backend (LIM-1).
const (
	MaxRunBytes     = 16 << 20 // a run document
	MaxEventBytes   = 1 << 20  // an event payload
	MaxCommitEvents = 10_000   // events in one transition
)

// Checksum is the SHA-256 of a record's bytes.
type Checksum [sha256.Size]byte

// String returns the checksum in lower-case hexadecimal.
func (c Checksum) String() string { return hex.EncodeToString(c[:]) }

// Sum returns the checksum of data.
func Sum(data []byte) Checksum { return sha256.Sum256(data) }

// ErrDamaged says that a record's bytes are not those that were written.
var ErrDamaged = errors.New("record: damaged")

// ErrUnsupported says that a record carries an encoding this version can't
// read. It is incompatible, not damaged.
var ErrUnsupported = errors.New("record: unsupported encoding")

// Verify checks the run's encoding label and checksum. It returns an error that
// is ErrUnsupported or ErrDamaged.
func (r Run) Verify() error {
	return verify("run "+r.ID, r.Encoding, r.Document, r.Checksum)
}

// Verify checks the event's encoding label and checksum. It returns an error
// that is ErrUnsupported or ErrDamaged.
func (e Event) Verify() error {
	return verify(fmt.Sprintf("event %d of run %s", e.Seq, e.RunID), e.Encoding, e.Payload, e.Checksum)
}

// Verify checks the version's encoding label and that its document hashes to
// its ref. It returns an error that is ErrUnsupported or ErrDamaged.
func (g GraphVersion) Verify() error {
	if g.Encoding != EncodingJSON {
		return fmt.Errorf("%w: graph %s has encoding %q", ErrUnsupported, g.Ref, g.Encoding)
	}
	if sum := Sum(g.Document).String(); sum != g.Ref.Hash {
		return fmt.Errorf("%w: graph %s: its document hashes to %s", ErrDamaged, g.Ref, sum)
	}
	return nil
}

func verify(what string, enc Encoding, data []byte, want Checksum) error {
	if enc != EncodingJSON {
		return fmt.Errorf("%w: %s has encoding %q", ErrUnsupported, what, enc)
	}
	if Sum(data) != want {
		return fmt.Errorf("%w: %s: its checksum doesn't match", ErrDamaged, what)
	}
	return nil
}
