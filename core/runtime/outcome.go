package runtime

import (
	"errors"
	"fmt"
	"strings"

	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// Reason says in what way an attempt failed.
type Reason string

// The reasons.
const (
	ReasonError   Reason = "error"   // the node returned an error
	ReasonPanic   Reason = "panic"   // the node panicked
	ReasonExit    Reason = "exit"    // the node ended its goroutine
	ReasonTimeout Reason = "timeout" // the deadline passed first
	ReasonInvalid Reason = "invalid" // the node returned what it may not
	// ReasonTooLarge is a result that would outgrow what can be stored.
	ReasonTooLarge Reason = "too_large"
)

// Outcome is what one attempt came to. Succeeded and Failed make one.
type Outcome struct {
	TaskID string

	result  node.Result // normalised
	failure *failure
}

type failure struct {
	reason    Reason
	message   string
	permanent bool
}

// Succeeded returns the outcome of a node that returned a result. It copies and
// normalises what the node returned, so call it in the node's own goroutine, as
// soon as the node returns. A result that can't be normalised is a permanent
// failure that names the place.
func Succeeded(taskID string, r node.Result) Outcome {
	normal, err := normalize(r)
	if err != nil {
		return Outcome{TaskID: taskID, failure: &failure{reason: ReasonInvalid, message: err.Error(), permanent: true}}
	}
	return Outcome{TaskID: taskID, result: normal}
}

// Failed returns the outcome of an attempt that failed. A permanent failure isn't
// retried.
func Failed(taskID string, reason Reason, message string, permanent bool) Outcome {
	return Outcome{TaskID: taskID, failure: &failure{
		reason: reason, message: value.Cut(message, value.MaxText), permanent: permanent,
	}}
}

// Failure returns the reason and message of a failed attempt.
func (o Outcome) Failure() (reason Reason, message string, failed bool) {
	if o.failure == nil {
		return "", "", false
	}
	return o.failure.reason, o.failure.message, true
}

func normalize(r node.Result) (node.Result, error) {
	if len(r.Interrupts) > 0 && (len(r.Update) > 0 || len(r.Reset) > 0) {
		return node.Result{}, errors.New("the result both writes and interrupts: return one of them")
	}
	out := node.Result{Reset: append([]string(nil), r.Reset...)}
	if len(r.Update) > 0 {
		update, err := value.NormalizeMap(r.Update)
		if err != nil {
			return node.Result{}, fmt.Errorf("update: %w", err)
		}
		out.Update = update
	}
	for i, in := range r.Interrupts {
		metadata, err := value.NormalizeMap(in.Metadata)
		if err != nil {
			return node.Result{}, fmt.Errorf("interrupts[%d].metadata: %w", i, err)
		}
		in.Metadata = metadata
		if !in.Schema.IsZero() {
			// A copy by way of the interchange form: what the node keeps can't change it.
			if in.Schema, err = schema.FromMap(in.Schema.ToMap()); err != nil {
				return node.Result{}, fmt.Errorf("interrupts[%d].schema: %w", i, err)
			}
		}
		out.Interrupts = append(out.Interrupts, in)
	}
	return out, nil
}

// maxReasons bounds how many reasons a failure's text gives.
const maxReasons = 20

func reasonsText(reasons []schema.Reason) string {
	parts := make([]string, 0, min(len(reasons), maxReasons+1))
	for i, r := range reasons {
		if i == maxReasons {
			parts = append(parts, fmt.Sprintf("and %d more", len(reasons)-i))
			break
		}
		parts = append(parts, r.String())
	}
	return strings.Join(parts, "; ")
}
