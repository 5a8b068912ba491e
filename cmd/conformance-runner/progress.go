package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/docket-go/docket/conformance"
)

// progress is one line on a terminal that shows how far the suite is. On
// anything else it writes nothing, so that logs hold reports only.
type progress struct {
	w      io.Writer
	name   string
	failed int
	shown  bool
}

func newProgress(w io.Writer, name string) *progress {
	if !isTerminal(w) {
		w = nil
	}
	return &progress{w: w, name: name}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// tell is a conformance.Options.Progress.
func (p *progress) tell(done, total int, r conformance.Result) {
	if r.Outcome == conformance.Fail || r.Outcome == conformance.Broke {
		p.failed++
	}
	if p.w == nil {
		return
	}
	p.shown = true
	failures := ""
	if p.failed > 0 {
		failures = fmt.Sprintf(", %d failed", p.failed)
	}
	fmt.Fprint(p.w, "\r\x1b[K"+oneLine(fmt.Sprintf("%s %d/%d%s  %s", p.name, done, total, failures, r.ID)))
}

// oneLine cuts what would not fit a terminal of 80 columns: a line that wraps
// can't be taken back.
func oneLine(text string) string {
	if runes := []rune(text); len(runes) > 79 {
		return string(runes[:78]) + "…"
	}
	return text
}

// clear leaves the terminal as it was.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// writeCases lists every case with its outcome.
func writeCases(w io.Writer, report conformance.Report) {
	for _, r := range report.Results {
		fmt.Fprintf(w, "%-7s %-48s %8s  %v", r.Outcome, r.ID, r.Elapsed.Round(time.Millisecond), r.Clauses)
		if r.Reason != "" {
			fmt.Fprintf(w, "  (%s)", r.Reason)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}
