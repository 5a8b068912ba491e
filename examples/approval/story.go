package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
)

// runID is the caller's own id of the run: starting it twice starts it once.
const runID = "article-1"

// patience bounds each wait of the story for the run.
const patience = time.Minute

// story tells what happens to one run, and collects what must be true.
type story struct {
	out    io.Writer
	stderr io.Writer
	dir    string // for the journal
	store  string // the SQLite file
	keeps  bool   // whether the file outlives the story
	decide decider

	client *engine.Engine // a client: it drives nothing
	graph  graph.Graph
	ref    graph.Ref
	found  findings
}

// tell tells the whole story.
func (s *story) tell(ctx context.Context) error {
	w := newWorld("", nil)
	registry, err := implementations(w)
	if err != nil {
		return err
	}
	var input map[string]any
	if s.graph, input, err = readDocuments(registry); err != nil {
		return err
	}
	return withEngine(ctx, s.store, w, engine.Config{}, func(e *engine.Engine) error {
		s.client = e
		if err := s.begin(ctx, input); err != nil {
			return err
		}
		if err := s.killWorker(ctx); err != nil {
			return err
		}
		if err := s.takeOver(ctx); err != nil {
			return err
		}
		return s.conclude(ctx)
	})
}

// begin publishes the graph and stores the run. Nothing drives it yet.
func (s *story) begin(ctx context.Context, input map[string]any) error {
	s.chapter("The run is stored; nobody works on it yet")
	saved, err := s.client.SaveGraph(ctx, engine.SaveGraph{Graph: s.graph})
	if err != nil {
		return err
	}
	s.ref = saved.Ref
	r, err := s.client.StartRun(ctx, engine.StartRun{Graph: saved.Ref, RunID: runID, Input: input})
	if err != nil {
		return err
	}
	s.say("graph %s: %d nodes, %d edges", saved.Ref, len(s.graph.Nodes), len(s.graph.Edges))
	s.say("run %s: %s", r.ID, oneLine(r.Input))
	s.say("committed: checkpoint %d", r.CheckpointSeq)
	return nil
}

// killWorker lets a worker commit the first superstep and kills it in the
// middle of the second.
func (s *story) killWorker(ctx context.Context) error {
	p, err := s.start(ctx, role{Name: "worker", Doomed: true})
	if err != nil {
		return err
	}
	defer p.end()
	s.chapter("Worker %d begins, and dies in the middle of a superstep", p.pid())
	if err := p.await(lineStuck); err != nil {
		return err
	}
	if s.found.before, err = s.fetch(ctx); err != nil {
		return err
	}
	if err := p.kill(); err != nil {
		return err
	}
	if s.found.after, err = s.fetch(ctx); err != nil {
		return err
	}
	s.found.dead = p.pid()
	s.say("committed: checkpoint %d, superstep %d (research)", s.found.after.CheckpointSeq, s.found.after.Step)
	s.say("superstep %d: facts has done its work, quotes is at it, nothing is committed", s.found.after.Step+1)
	s.say("kill -9 %d", p.pid())
	s.say("lost: what facts had collected. The store holds no half of a superstep.")
	return nil
}

// takeOver starts a second worker and answers what the run asks, each time from
// a process of its own, until the run has ended.
func (s *story) takeOver(ctx context.Context) error {
	began := time.Now()
	p, err := s.start(ctx, role{Name: "worker"})
	if err != nil {
		return err
	}
	defer p.end()
	s.found.second = p.pid()
	s.chapter("Worker %d takes the run over", p.pid())
	r, err := s.await(ctx)
	if err != nil {
		return err
	}
	s.say("the dead worker's claim ran out; after %.1f s superstep %d was done again, whole", time.Since(began).Seconds(), s.found.after.Step+1)
	s.committed(r)
	events, err := s.events(ctx)
	if err != nil {
		return err
	}
	printFlow(s.out, s.graph, run.Marks(events))
	for r.Status == run.Waiting {
		if r, err = s.answer(ctx, r); err != nil {
			return err
		}
	}
	return p.stop()
}

// answer lets a process of its own answer the run's question, and waits for what
// the run does then.
func (s *story) answer(ctx context.Context, r engine.Run) (engine.Run, error) {
	if len(r.Interrupts) != 1 {
		return r, fmt.Errorf("the run asks %d questions, want 1", len(r.Interrupts))
	}
	question := r.Interrupts[0]
	d, err := s.decide(question)
	if err != nil {
		return r, err
	}
	text, err := d.encode()
	if err != nil {
		return r, err
	}
	p, err := s.start(ctx, role{Name: "answer", RunID: r.ID, Interrupt: question.ID, Answer: text})
	if err != nil {
		return r, err
	}
	if err := p.wait(); err != nil {
		return r, err
	}
	s.found.answered++
	s.chapter("Process %d answers %s: %s", p.pid(), question.ID, oneLine(map[string]any{"verdict": d.Verdict, "comment": d.Comment}))
	if r, err = s.await(ctx); err == nil {
		s.committed(r)
	}
	return r, err
}

// conclude shows what is left: the log, the picture, the facts, the output.
func (s *story) conclude(ctx context.Context) error {
	r, err := s.fetch(ctx)
	if err != nil {
		return err
	}
	events, err := s.events(ctx)
	if err != nil {
		return err
	}
	if s.found.calls, err = calls(s.journal()); err != nil {
		return err
	}
	s.found.run, s.found.events = r, events
	s.chapter("The event log")
	printLog(s.out, events)
	s.chapter("The graph, with the run's state")
	printFlow(s.out, s.graph, run.Marks(events))
	fmt.Fprintf(s.out, "\n%s\n", indent(s.graph.Mermaid(run.Marks(events)), "  "))
	s.chapter("What must be true")
	if err := s.found.check(s.out); err != nil {
		return err
	}
	s.chapter("The run's output")
	fmt.Fprintln(s.out, indent(pretty(r.Output), "  "))
	if s.keeps {
		s.chapter("The store is kept: go run ./cmd/docket runs inspect --store %s %s", s.store, runID)
	}
	return nil
}

// start starts a child in a role, on the story's store and journal.
func (s *story) start(ctx context.Context, r role) (*process, error) {
	r.Store, r.Journal = s.store, s.journal()
	return start(ctx, r, s.stderr)
}

func (s *story) journal() string { return filepath.Join(s.dir, "journal") }

func (s *story) fetch(ctx context.Context) (engine.Run, error) {
	return s.client.FetchRun(ctx, engine.FetchRun{RunID: runID})
}

func (s *story) await(ctx context.Context) (engine.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.client.AwaitRun(ctx, engine.AwaitRun{RunID: runID})
}

// events returns the run's whole log.
func (s *story) events(ctx context.Context) ([]run.Event, error) {
	var all []run.Event
	query := engine.ListEvents{RunID: runID}
	for {
		page, err := s.client.ListEvents(ctx, query)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Events...)
		if !page.HasMore {
			return all, nil
		}
		query.AfterSeq = page.NextAfterSeq
	}
}

func (s *story) chapter(format string, args ...any) {
	fmt.Fprintf(s.out, "\n%s\n", fmt.Sprintf(format, args...))
}

func (s *story) say(format string, args ...any) {
	fmt.Fprintf(s.out, "  %s\n", fmt.Sprintf(format, args...))
}

// committed says where the run stands.
func (s *story) committed(r engine.Run) {
	s.say("committed: checkpoint %d, superstep %d; the run is %s", r.CheckpointSeq, r.Step, r.Status)
	for _, i := range r.Interrupts {
		s.say("%s asks: %v", i.NodeID, i.Metadata["question"])
	}
}
