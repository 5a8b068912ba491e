package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/docket-go/docket/core/node"
)

// registry names the implementations that graphs of this program may use.
func registry() (*node.Registry, error) {
	return node.NewRegistry(map[string]node.Node{
		"rates.convert": node.Func(convert),
		"text.screen":   node.Func(screen),
		"claim.decide":  node.Func(decide),
		"ledger.book":   node.Func(book),
	})
}

type convertIn struct {
	Amount   float64 `docket:"amount"`
	Currency string  `docket:"currency"`
}

type convertOut struct {
	Euros float64 `docket:"euros"`
}

var rates = map[string]float64{"EUR": 1, "USD": 0.92, "CHF": 1.05}

// convert asks a rate service that is down for its first two attempts. A
// currency without a rate would never work: that failure is permanent.
func convert(ctx context.Context, in convertIn) (convertOut, error) {
	rate, ok := rates[in.Currency]
	if !ok {
		return convertOut{}, node.Permanent(fmt.Errorf("no rate for %s", in.Currency))
	}
	if a, _ := node.Info(ctx); a.Attempt < 3 {
		return convertOut{}, errors.New("the rate service is down")
	}
	return convertOut{Euros: math.Round(in.Amount*rate*100) / 100}, nil
}

type screenIn struct {
	Purpose string `docket:"purpose"`
	Config  struct {
		Words []string `json:"words"`
	} `docket:",config"`
}

type screenOut struct {
	Remarks []string `docket:"remarks,omitzero"` // nothing found: no write
}

// screen remarks on words that reviewers want to see.
func screen(_ context.Context, in screenIn) (screenOut, error) {
	var out screenOut
	for _, word := range in.Config.Words {
		if strings.Contains(strings.ToLower(in.Purpose), word) {
			out.Remarks = append(out.Remarks, fmt.Sprintf("mentions %q", word))
		}
	}
	return out, nil
}

type decideIn struct {
	Euros    float64  `docket:"euros"`
	Remarks  []string `docket:"remarks"`
	Decision *string  `docket:"decision"` // nil until somebody decided
	Config   struct {
		Limit float64 `json:"limit" default:"250"`
	} `docket:",config"`
}

// decide approves small claims without remarks and asks a person about the
// others. It runs again when the answer is there.
func decide(_ context.Context, in decideIn) (node.Result, error) {
	switch {
	case in.Decision != nil:
		return node.Result{}, nil // the answer went to the field already
	case in.Euros <= in.Config.Limit && len(in.Remarks) == 0:
		return node.Write("decision", "approve"), nil
	}
	return node.Ask(node.Interrupt{Field: "decision", Metadata: map[string]any{
		"question": fmt.Sprintf("Approve %.2f EUR?", in.Euros), "remarks": in.Remarks,
	}}), nil
}

type bookIn struct {
	Euros float64 `docket:"euros"`
}

type bookOut struct {
	Booking string `docket:"booking"`
}

// book would post to a ledger; the idempotency key makes a repeated attempt
// harmless there.
func book(ctx context.Context, in bookIn) (bookOut, error) {
	a, ok := node.Info(ctx)
	if !ok {
		return bookOut{}, node.Permanent(errors.New("book runs only inside a run"))
	}
	return bookOut{Booking: fmt.Sprintf("%.2f EUR under %s", in.Euros, a.IdempotencyKey)}, nil
}
