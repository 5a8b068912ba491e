package mutants

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var valueMutants = []Mutant{
	{Name: "nul-stripped", Clause: "VAL-1", Off: "NUL bytes are taken out of documents.",
		rules: documents(func(data []byte) []byte { return bytes.ReplaceAll(data, []byte{0}, nil) })},
	{Name: "invalid-utf-8-replaced", Clause: "VAL-1", Off: "Bytes that are no UTF-8 are replaced.",
		rules: documents(func(data []byte) []byte { return bytes.ToValidUTF8(data, []byte("\ufffd")) })},
	{Name: "numbers-through-float64", Clause: "VAL-1", Off: "A document is decoded and encoded again.",
		rules: documents(func(data []byte) []byte {
			var v any
			if json.Unmarshal(data, &v) != nil {
				return data
			}
			again, err := json.Marshal(v)
			if err != nil {
				return data
			}
			return again
		})},
	{Name: "ids-lose-trailing-spaces", Clause: "VAL-1", Off: "A run id is compared without trailing spaces.",
		rules: rules{fetchRun: func(s *model.State, req ports.FetchRun) (ports.FetchedRun, error) {
			if trimmed := strings.TrimRight(req.RunID, " "); trimmed != "" {
				req.RunID = trimmed
			}
			return s.FetchRun(req)
		}}},
	{Name: "slices-kept", Clause: "VAL-1", Off: "The store keeps the document that a committer passed.",
		rules: mendedCommit(func(_ model.Row, r *model.Row, req ports.CommitClaimed) { r.Run.Document = req.Transition.Run.Document })},
	{Name: "inserted-slices-kept", Clause: "VAL-1", Off: "The store keeps the document that an inserter passed.",
		rules: mendedInsert(func(r *model.Row, req ports.InsertRun) { r.Run.Document = req.Transition.Run.Document })},
	{Name: "signalled-slices-kept", Clause: "VAL-1", Off: "The store keeps the document that a signaller passed.",
		rules: mendedSignal(func(_ model.Row, r *model.Row, req ports.CommitUnclaimed) {
			r.Run.Document = req.Transition.Run.Document
		})},
	{Name: "graph-slices-kept", Clause: "VAL-1", Off: "The store keeps the graph document that a publisher passed.",
		rules: rules{saveGraph: func(s *model.State, req ports.SaveGraph) (ports.SavedGraph, error) {
			got, err := s.SaveGraph(req)
			if v, ok := s.Graph(req.Owner, req.Version.Ref); ok && err == nil && got.Created {
				v.Document = req.Version.Document
				s.PutGraph(req.Owner, v)
			}
			return got, err
		}}},
	{Name: "event-slices-kept", Clause: "VAL-1", Off: "The store keeps the payloads that an inserter passed.",
		rules: mendedInsert(func(r *model.Row, req ports.InsertRun) {
			r.Events = slices.Clone(r.Events)
			for i := range r.Events {
				r.Events[i].Payload = req.Transition.Events[i].Payload
			}
		})},
	{Name: "live-document-out", Clause: "VAL-1", Off: "A fetch gives the stored document itself.",
		rules: rules{fetchRun: func(s *model.State, req ports.FetchRun) (ports.FetchedRun, error) {
			got, err := s.FetchRun(req)
			if err == nil {
				got.Run.Document = row(s, req.RunID).Run.Document
			}
			return got, err
		}}},
	{Name: "live-lease-out", Clause: "CLM-13", Off: "A lease gives the stored document itself.",
		rules: mendedLeases(func(r *model.Row, l *ports.Lease) { l.Run.Document = r.Run.Document })},
	{Name: "claims-in-locale-order", Clause: "VAL-2", Off: "Runs of one wake are claimed as a dictionary has them.",
		rules: claiming(claimInLocaleOrder)},
	{Name: "nanoseconds-kept", Clause: "VAL-3", Off: "The starting time keeps its nanoseconds.",
		rules: mendedInsert(func(r *model.Row, req ports.InsertRun) { r.Run.StartedAt = req.Transition.Run.StartedAt.UTC() })},
	{Name: "times-are-rounded", Clause: "VAL-3", Off: "The starting time is rounded to the next microsecond.",
		rules: mendedInsert(func(r *model.Row, req ports.InsertRun) {
			r.Run.StartedAt = req.Transition.Run.StartedAt.UTC().Round(time.Microsecond)
		})},
	{Name: "times-in-milliseconds", Clause: "VAL-3", Off: "A wake is stored in milliseconds.",
		rules: mendedCommit(func(_ model.Row, r *model.Row, _ ports.CommitClaimed) { r.Wake = r.Wake.Truncate(time.Millisecond) })},
	{Name: "times-in-a-zone", Clause: "VAL-3", Off: "The store's time comes in the zone of the process.",
		rules: inspected(func(i *ports.RunInfo) { i.Now = i.Now.In(time.FixedZone("elsewhere", 3600)) })},
	{Name: "document-limit-missing", Clause: "LIM-1", Off: "A document may be larger than 16 MiB.",
		rules: taking(func(s *model.State, req ports.CommitClaimed, _ error) bool {
			return len(req.Transition.Run.Document) == record.MaxRunBytes+1 && holds(s, req)
		})},
	{Name: "document-limit-too-low", Clause: "LIM-1", Off: "A document of exactly 16 MiB is refused.",
		rules: committing(func(s *model.State, req ports.CommitClaimed) (ports.Committed, error) {
			if len(req.Transition.Run.Document) >= record.MaxRunBytes {
				return ports.Committed{}, ports.Invalid("CommitClaimed", "Transition.Run.Document", "too large")
			}
			return s.CommitClaimed(req)
		})},
	{Name: "event-limit-missing", Clause: "LIM-1", Off: "A commit may have any number of events.",
		rules: taking(func(s *model.State, req ports.CommitClaimed, _ error) bool {
			return len(req.Transition.Events) == record.MaxCommitEvents+1 && holds(s, req)
		})},
	{Name: "limits-are-clamped", Clause: "LIM-1", Off: "A page of more than 1000 runs is cut instead of refused.",
		rules: rules{listRuns: func(s *model.State, req ports.ListRuns) (ports.RunPage, error) {
			req.Limit = min(req.Limit, ports.MaxPage)
			return s.ListRuns(req)
		}}},
}

// documents changes what a commit stores as its document.
func documents(f func([]byte) []byte) rules {
	return mendedCommit(func(_ model.Row, r *model.Row, _ ports.CommitClaimed) { r.Run.Document = f(r.Run.Document) })
}

// claimInLocaleOrder claims due runs one by one, the id that a dictionary has
// first before the others of its wake.
func claimInLocaleOrder(s *model.State, req ports.ClaimRuns, token model.TokenSource) (ports.Claimed, error) {
	if req.Limit != 1 || req.Check() != nil {
		return s.ClaimRuns(req, token)
	}
	ids := s.RunIDs()
	slices.SortStableFunc(ids, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	nanos := map[string]time.Duration{}
	for i, id := range ids {
		nanos[id] = time.Duration(i)
	}
	return disguised(s, func(r *model.Row) {
		if !r.Wake.IsZero() && r.Wake.Before(req.Now) {
			r.Wake = r.Wake.Add(nanos[r.Run.ID])
		}
	}, func() (ports.Claimed, error) { return s.ClaimRuns(req, token) })
}
