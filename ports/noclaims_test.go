package ports_test

import (
	"errors"
	"testing"
	"time"

	"github.com/docket-go/docket/ports"
)

// TestNoClaims refuses every claim, and a bad request before that.
func TestNoClaims(t *testing.T) {
	t.Parallel()
	var none ports.NoClaims
	system := ports.System()
	ask := map[string][2]func() error{
		"claim": {
			func() error {
				_, err := none.ClaimRuns(t.Context(), ports.ClaimRuns{Scope: system, Limit: 1, TTL: time.Second, MaxAttempts: 1})
				return err
			},
			func() error { _, err := none.ClaimRuns(t.Context(), ports.ClaimRuns{}); return err },
		},
		"refresh": {
			func() error {
				_, err := none.RefreshClaim(t.Context(), ports.RefreshClaim{Scope: system, RunID: "r", Token: "t", TTL: time.Second})
				return err
			},
			func() error { _, err := none.RefreshClaim(t.Context(), ports.RefreshClaim{}); return err },
		},
		"release": {
			func() error {
				_, err := none.ReleaseClaim(t.Context(), ports.ReleaseClaim{Scope: system, RunID: "r", Token: "t"})
				return err
			},
			func() error { _, err := none.ReleaseClaim(t.Context(), ports.ReleaseClaim{}); return err },
		},
		"abandon": {
			func() error {
				_, err := none.AbandonClaim(t.Context(), ports.AbandonClaim{Scope: system, RunID: "r", Token: "t", ExpectedSeq: 1, BackoffBase: time.Second, BackoffCap: time.Second, MaxAbandons: 1})
				return err
			},
			func() error { _, err := none.AbandonClaim(t.Context(), ports.AbandonClaim{}); return err },
		},
	}
	for name, calls := range ask {
		if err := calls[0](); !errors.Is(err, ports.ErrUnsupported) {
			t.Errorf("%s: %v, want ErrUnsupported", name, err)
		}
		if err := calls[1](); !errors.Is(err, ports.ErrInvalid) {
			t.Errorf("a bad %s: %v, want ErrInvalid", name, err)
		}
	}
}
