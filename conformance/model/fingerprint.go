package model

import (
	"fmt"
	"strings"
	"time"
)

// Fingerprint is equal for equal states, and differs for others. Graphs, which
// no operation on runs changes, count by their number.
func (s *State) Fingerprint() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d graphs", len(s.graphs))
	for _, id := range s.RunIDs() {
		r := s.runs[id]
		fmt.Fprintf(&b, "\n%q %+v %d %s %s wake %s token %q %s..%s %d %d %s %s events",
			id, r.Owner, r.Run.CheckpointSeq, r.Run.Status, r.Run.Checksum, instant(r.Wake), r.Token,
			instant(r.ClaimedAt), instant(r.ClaimEnd), r.Attempts, r.Abandons, instant(r.Poison.At), r.Poison.Reason)
		for _, e := range r.Events {
			fmt.Fprintf(&b, " %d", e.Seq)
		}
	}
	return b.String()
}

func instant(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return fmt.Sprint(t.UnixMicro())
}
