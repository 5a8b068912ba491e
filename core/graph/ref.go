package graph

import "fmt"

// Ref pins one published graph version: the graph's id and the lower-case
// hexadecimal SHA-256 of its effective document's canonical bytes.
type Ref struct {
	ID   string
	Hash string
}

// String returns id@hash with the hash cut to twelve digits, for people.
func (r Ref) String() string { return fmt.Sprintf("%s@%.12s", r.ID, r.Hash) }
