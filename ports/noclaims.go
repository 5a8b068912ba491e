package ports

import "context"

// NoClaims refuses claims, as a transaction does (TX-1): embed it in a Tx. A bad
// request is still told as one first.
type NoClaims struct{}

var _ Claims = NoClaims{}

// ClaimRuns answers ErrUnsupported.
func (NoClaims) ClaimRuns(_ context.Context, req ClaimRuns) (Claimed, error) {
	return Claimed{}, noClaims("ClaimRuns", req.Check())
}

// RefreshClaim answers ErrUnsupported.
func (NoClaims) RefreshClaim(_ context.Context, req RefreshClaim) (Refreshed, error) {
	return Refreshed{}, noClaims("RefreshClaim", req.Check())
}

// ReleaseClaim answers ErrUnsupported.
func (NoClaims) ReleaseClaim(_ context.Context, req ReleaseClaim) (Released, error) {
	return Released{}, noClaims("ReleaseClaim", req.Check())
}

// AbandonClaim answers ErrUnsupported.
func (NoClaims) AbandonClaim(_ context.Context, req AbandonClaim) (Abandoned, error) {
	return Abandoned{}, noClaims("AbandonClaim", req.Check())
}

func noClaims(op string, shape error) error {
	if shape != nil {
		return shape
	}
	return Unsupported(op, "claims are no part of a transaction")
}
