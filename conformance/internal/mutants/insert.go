package mutants

import (
	"fmt"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var insertMutants = []Mutant{
	{Name: "first-events-lost", Clause: "RUN-1", Off: "Insert doesn't store the last of the first events.",
		rules: mendedInsert(func(r *model.Row, _ ports.InsertRun) { r.Events = r.Events[:max(len(r.Events)-1, 0)] })},
	{Name: "taken-id-tells-its-owner", Clause: "RUN-1", Off: "The answer to a taken id says whose it is.",
		rules: rules{insertRun: func(s *model.State, req ports.InsertRun) (ports.Inserted, error) {
			got, err := s.InsertRun(req)
			if r := row(s, req.Transition.Run.ID); ports.CodeOf(err) == ports.CodeExists && r.Owner != req.Owner {
				err = fmt.Errorf("another tenant has it: %w", err)
			}
			return got, err
		}}},
	{Name: "taken-id-is-overwritten", Clause: "RUN-1", Off: "An insert replaces the run that has its id.",
		rules: rules{insertRun: func(s *model.State, req ports.InsertRun) (ports.Inserted, error) {
			got, err := s.InsertRun(req)
			if ports.CodeOf(err) == ports.CodeExists {
				s.Drop(req.Transition.Run.ID)
				return s.InsertRun(req)
			}
			return got, err
		}}},
	{Name: "refused-insert-takes-the-id", Clause: "RUN-1", Off: "An insert that is refused for its shape stores the run.",
		rules: rules{insertRun: func(s *model.State, req ports.InsertRun) (ports.Inserted, error) {
			got, err := s.InsertRun(req)
			_, known := s.Graph(req.Owner, req.Transition.Run.Graph)
			if ports.CodeOf(err) == ports.CodeInvalid && known && req.Transition.Run.CheckpointSeq == 1 && req.Transition.Run.ID != "" {
				s.Put(model.Row{Owner: req.Owner, Run: req.Transition.Run.Clone()})
			}
			return got, err
		}}},
	{Name: "graph-isn't-looked-for", Clause: "RUN-1", Off: "A run may refer to a graph that its owner doesn't have.",
		rules: rules{insertRun: func(s *model.State, req ports.InsertRun) (ports.Inserted, error) {
			ref := req.Transition.Run.Graph
			if _, ok := s.Graph(req.Owner, ref); ok || req.Check() != nil {
				return s.InsertRun(req)
			}
			s.PutGraph(req.Owner, record.GraphVersion{Ref: ref})
			defer s.DropGraph(req.Owner, ref)
			return s.InsertRun(req)
		}}},
	{Name: "future-start-is-due", Clause: "RUN-1", Off: "A run that starts in the future is due at once.",
		rules: mendedInsert(func(r *model.Row, req ports.InsertRun) {
			if req.Transition.Schedule.Kind == record.ScheduleAt {
				r.Wake = req.Normal().Now
			}
		})},
	{Name: "born-claim-isn't-counted", Clause: "RUN-14", Off: "A run that is born claimed has no attempt yet.",
		rules: mendedInsert(func(r *model.Row, _ ports.InsertRun) { r.Attempts = 0 })},
	{Name: "born-claim-keeps-a-wake", Clause: "RUN-14", Off: "A run that is born claimed is due besides.",
		rules: mendedInsert(func(r *model.Row, req ports.InsertRun) {
			if r.Claimed() {
				r.Wake = req.Normal().Now
			}
		})},
}
