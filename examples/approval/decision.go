package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/value"
	"github.com/docket-go/docket/engine"
)

// decision is a person's answer.
type decision struct {
	Verdict string `json:"verdict"`
	Comment string `json:"comment,omitempty"`
}

// decider gives the decision on an interrupt.
type decider func(run.Interrupt) (decision, error)

// script decides without a person: revise once, then approve.
func script() decider {
	script := []decision{
		{Verdict: "revise", Comment: "say what happens when a worker dies"},
		{Verdict: "approve"},
	}
	return func(run.Interrupt) (decision, error) {
		if len(script) == 0 {
			return decision{}, errors.New("the script has no decision for another draft")
		}
		next := script[0]
		script = script[1:]
		return next, nil
	}
}

// prompt asks the person at the terminal.
func prompt(stdin io.Reader, stdout io.Writer) decider {
	lines := bufio.NewScanner(stdin)
	ask := func(question string) (string, error) {
		fmt.Fprintf(stdout, "  %s > ", question)
		if !lines.Scan() {
			return "", errors.Join(errors.New("no decision was given"), lines.Err())
		}
		return strings.TrimSpace(lines.Text()), nil
	}
	return func(i run.Interrupt) (decision, error) {
		fmt.Fprintf(stdout, "\n%s\n", indent(fmt.Sprint(i.Metadata["draft"]), "  | "))
		for {
			verdict, err := ask(fmt.Sprintf("%v (approve, revise)", i.Metadata["question"]))
			if err != nil {
				return decision{}, err
			}
			switch verdict {
			case "approve":
				return decision{Verdict: verdict}, nil
			case "revise":
				comment, err := ask("What should the next draft say?")
				return decision{Verdict: verdict, Comment: comment}, err
			}
			fmt.Fprintf(stdout, "  %q is neither approve nor revise.\n", verdict)
		}
	}
}

// answer resolves the interrupt: the whole of the process that answers. It needs
// none of the nodes' implementations.
func (r role) answer(ctx context.Context) error {
	answer, err := value.Decode(r.Answer)
	if err != nil {
		return err
	}
	return withEngine(ctx, r.Store, newWorld("", nil), engine.Config{}, func(e *engine.Engine) error {
		_, err := e.ResolveInterrupt(ctx, engine.ResolveInterrupt{RunID: r.RunID, InterruptID: r.Interrupt, Value: answer})
		return err
	})
}

// encode writes the decision as the answer travels.
func (d decision) encode() (json.RawMessage, error) { return json.Marshal(d) }

// indent puts a prefix before each line.
func indent(text, prefix string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+prefix)
}
