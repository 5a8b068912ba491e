package ports

import (
	"errors"

	"github.com/docket-go/docket/core/run"
)

// CheckRow checks the shape that a stored run's row always has (RUN-11), and
// returns an ErrCorrupt that says what is wrong. Token is the claim's token,
// which InspectRun doesn't tell (FetchRun does, under the System scope).
//
//   - terminal exactly when there is a finishing time
//   - token, claiming time and claim end together or not at all
//   - poison time and reason together or not at all
//   - only a running row has a wake, a claim or poison
//   - a healthy running row has exactly one of wake and claim, a poisoned neither
func CheckRow(info RunInfo, token string) error {
	if wrong := rowFault(info, token); wrong != "" {
		return Corrupt("CheckRow", errors.New("run "+info.Run.ID+" "+wrong))
	}
	return nil
}

func rowFault(info RunInfo, token string) string {
	status := run.Status(info.Run.Status)
	wake, claimed := !info.WakeAt.IsZero(), token != ""
	poisoned := info.Poison != Poison{}
	switch {
	case !status.Durable():
		return "has no durable status"
	case status.Terminal() == info.Run.FinishedAt.IsZero():
		return "is terminal without a finishing time, or finished without being terminal"
	case claimed == info.ClaimedAt.IsZero() || claimed == info.ClaimEnd.IsZero():
		return "has a part of a claim"
	case poisoned && (info.Poison.At.IsZero() || info.Poison.Reason == ""):
		return "has a part of a poison"
	case status != run.Running && (wake || claimed || poisoned):
		return "has a wake, a claim or poison without running"
	case poisoned && (wake || claimed):
		return "is poisoned and has a wake or a claim"
	case status == run.Running && !poisoned && wake == claimed:
		return "is running and healthy without exactly one of wake and claim"
	}
	return ""
}
