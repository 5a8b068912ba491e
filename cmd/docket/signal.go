package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docket-go/docket/core/value"
	"github.com/docket-go/docket/engine"
)

func signalCommand() *cobra.Command {
	var store storeFlags
	cmd := &cobra.Command{
		Use:   "signal RUN INTERRUPT JSON",
		Short: "Answer a question of a run",
		Long: `Answers an open interrupt. JSON is the answer: "approve" is written '"approve"'.
The answer is checked against the interrupt's schema and its state field; a refused
one changes nothing. Exits 1 when the question was answered already, isn't there, or
the run has ended.`,
		Args: cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := value.Decode([]byte(args[2]))
			if err != nil {
				return usage("the answer isn't JSON: %w (a text needs its quotes: '\"approve\"')", err)
			}
			return store.with(cmd.Context(), func(e *engine.Engine) error {
				r, err := e.ResolveInterrupt(cmd.Context(), engine.ResolveInterrupt{
					Tenant: store.tenant, RunID: args[0], InterruptID: args[1], Value: answer,
				})
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: answered %s; the run is %s\n", r.ID, args[1], r.Status)
				return nil
			})
		},
	}
	store.required(cmd)
	return cmd
}

func cancelCommand() *cobra.Command {
	var store storeFlags
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "Cancel a run",
		Long: `Cancels a run that hasn't ended. A worker that is executing it loses its claim and
what it was doing. Cancelling a cancelled run changes nothing and succeeds.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return store.with(cmd.Context(), func(e *engine.Engine) error {
				r, err := e.CancelRun(cmd.Context(), engine.CancelRun{Tenant: store.tenant, RunID: args[0]})
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s since %s\n", r.ID, r.Status, stamp(r.FinishedAt))
				return nil
			})
		},
	}
	store.required(cmd)
	return cmd
}

func recoverCommand() *cobra.Command {
	var store storeFlags
	cmd := &cobra.Command{
		Use:   "recover RUN",
		Short: "Give a poisoned run back to delivery",
		Long: `A run that was claimed too often without a commit is poisoned: no worker takes it.
This gives it its full budget of claims and makes it due at once; its state stays.
A healthy run is left alone.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return store.with(cmd.Context(), func(e *engine.Engine) error {
				changed, err := e.RetryPoisonedRun(cmd.Context(), engine.RetryPoisonedRun{Tenant: store.tenant, RunID: args[0]})
				if err != nil {
					return err
				}
				says := "was not poisoned"
				if changed {
					says = "is due again"
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", args[0], says)
				return nil
			})
		},
	}
	store.required(cmd)
	return cmd
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_:./@%+=-]+$`)

// shellWord writes an argument so that a POSIX shell reads it back whole.
func shellWord(arg string) string {
	if plainWord.MatchString(arg) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
